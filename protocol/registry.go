package protocol

import (
	"fmt"
	"slices"
	"sync"

	"github.com/parley-agents/parley/envelope"
)

// The names of the shipped protocols, as an envelope carries them.
const (
	RequestV1     = "request/v1"
	QueryV1       = "query/v1"
	ContractNetV1 = "contract-net/v1"
	SubscribeV1   = "subscribe/v1"
	ProposeV1     = "propose/v1"
	GatherV1      = "gather/v1"
)

// AdvertiseV1 names announcements: each is a single inform that belongs to no
// exchange. Nothing is awaited and nothing can be refused, so there is no
// state to keep: it has no table, and Lookup does not know it.
const AdvertiseV1 = "advertise/v1"

// Protocol is one interaction protocol: its name and a table per role. It is
// immutable and safe for concurrent use.
type Protocol struct {
	Name        string
	initiator   *Table
	participant *Table
	// runtimeAgrees says that agree belongs to the runtime: it is sent when
	// work is shown to have started, never chosen by a handler or a model.
	runtimeAgrees bool
}

// Table is the transition table of the role.
func (p *Protocol) Table(r Role) *Table {
	if r == Initiator {
		return p.initiator
	}
	return p.participant
}

// RuntimeAgrees reports whether agree is sent by the runtime in this protocol.
func (p *Protocol) RuntimeAgrees() bool { return p.runtimeAgrees }

// Opens reports whether the performative may open an exchange of the protocol.
func (p *Protocol) Opens(a envelope.Performative) bool {
	_, ok := p.initiator.Next(Start, eventsOf(string(a)).sent)
	return ok
}

var shipped = sync.OnceValue(func() []*Protocol {
	make := func(name, initiator, participant string, runtimeAgrees bool) *Protocol {
		i, err := parseTable(initiator)
		if err != nil {
			panic(fmt.Sprintf("protocol %s, initiator: %v", name, err))
		}
		p, err := parseTable(participant)
		if err != nil {
			panic(fmt.Sprintf("protocol %s, participant: %v", name, err))
		}
		i.decide(runtimeAgrees)
		p.decide(runtimeAgrees)
		return &Protocol{Name: name, initiator: i, participant: p, runtimeAgrees: runtimeAgrees}
	}
	return []*Protocol{
		make(RequestV1, requestInitiator, requestParticipant, true),
		make(QueryV1, queryInitiator, queryParticipant, true),
		make(ContractNetV1, contractNetInitiator, contractNetParticipant, false),
		make(SubscribeV1, subscribeInitiator, subscribeParticipant, true),
		make(ProposeV1, proposeInitiator, proposeParticipant, false),
		make(GatherV1, gatherInitiator, gatherParticipant, false),
	}
})

// All lists the shipped protocols.
func All() []*Protocol { return append([]*Protocol(nil), shipped()...) }

// Lookup finds a shipped protocol by the name that envelopes carry. An unknown
// name gives an *UnsupportedError, which a receiver answers at once with
// not-understood.
func Lookup(name string) (*Protocol, error) {
	for _, p := range shipped() {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, &UnsupportedError{Protocol: name}
}

// UnsupportedError says that no shipped protocol has the name.
type UnsupportedError struct{ Protocol string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("protocol %q is not supported", e.Protocol)
}

// Moves lists the acts that a role may decide on in a state: what the table
// lets it send now, plus what it may send after the runtime's own agree,
// minus agree itself where it is the runtime's. Receipts and the fence are
// always the runtime's. In a contract net a further cfp is listed wherever the
// table has one; Exchange.Moves knows whether a round is left.
func (p *Protocol) Moves(r Role, s State) []Utterance { return slices.Clone(p.Table(r).moves[s]) }
