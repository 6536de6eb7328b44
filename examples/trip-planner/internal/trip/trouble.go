package trip

import (
	"context"
	"sync"

	"github.com/parley-agents/parley/agent"
)

// trouble remembers why the planner's model could not be used: the planner
// tells its peers only that it could not, the person at the terminal needs to
// know more.
type trouble struct {
	mu   sync.Mutex
	last error
}

// Observe implements agent.Observer.
func (t *trouble) Observe(_ context.Context, o agent.Observation) {
	if o.Name != agent.ModelFailed {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = o.Err
}

func (t *trouble) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.last
	t.last = nil
	return err
}
