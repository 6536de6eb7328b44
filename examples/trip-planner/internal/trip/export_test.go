package trip

import (
	"errors"

	"github.com/parley-agents/parley/agent"
)

// Kill drops every host where it stands, as the death of all processes would.
func (w *World) Kill() error {
	errs := []error{w.planner.Kill()}
	for _, d := range w.desks {
		d.mu.Lock()
		d.leave = true
		l := d.now
		d.mu.Unlock()
		errs = append(errs, l.Kill())
		<-d.ended
	}
	return errors.Join(errs...)
}

// Ordered is how many orders the planner's model has placed.
func (w *World) Ordered() int {
	w.orders.mu.Lock()
	defer w.orders.mu.Unlock()
	return len(w.orders.made)
}

// Planner is the host of the planner.
func (w *World) Planner() *agent.Host { return w.planner }
