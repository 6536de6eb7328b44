package trip

import "github.com/parley-agents/parley/agent"

// Kill drops every host where it stands, as the death of the process would.
func (w *World) Kill() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, kill := range []func() error{w.planner.Kill, w.flights.Kill, w.hotels.Kill} {
		if err := kill(); err != nil {
			return err
		}
	}
	return nil
}

// Ordered is how many orders the planner's model has placed.
func (w *World) Ordered() int {
	w.orders.mu.Lock()
	defer w.orders.mu.Unlock()
	return len(w.orders.made)
}

// Planner is the host of the planner.
func (w *World) Planner() *agent.Host { return w.planner }
