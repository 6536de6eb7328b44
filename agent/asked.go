package agent

import (
	"sync"

	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

// asked are the contracts that the host's agents ask others for. What comes
// back is judged by them.
type asked struct {
	mu      sync.Mutex
	byOwner map[[2]string]*guard.Contract // by the asking agent and the capability
	byValue map[Contract]*guard.Contract
}

// bind is the contract with its schemas, made once: compiling
// schemas costs more than a message. The typed contract itself is the key, so
// two contracts of one name with different Go types stay apart.
func (a *asked) bind(contract Contract) (*guard.Contract, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.byValue[contract]; c != nil {
		return c, nil
	}
	c, err := guard.Bind(contract)
	if err != nil {
		return nil, err
	}
	if a.byValue == nil {
		a.byValue = map[Contract]*guard.Contract{}
	}
	a.byValue[contract] = c
	return c, nil
}

// put makes c what the answers to the owner's questions are judged by.
func (a *asked) put(owner string, c *guard.Contract) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byOwner == nil {
		a.byOwner = map[[2]string]*guard.Contract{}
	}
	a.byOwner[[2]string{owner, c.Name.Capability()}] = c
}

// get is what the answers to what the owner asked are judged by, nil if it has
// not asked since the host's start. Questions are the runtime's own: theirs is
// always known.
func (a *asked) get(owner, capability string) *guard.Contract {
	a.mu.Lock()
	c := a.byOwner[[2]string{owner, capability}]
	a.mu.Unlock()
	if c == nil && asksBack(capability) {
		c, _ = a.bind(protocol.Question) // which is sound
	}
	return c
}
