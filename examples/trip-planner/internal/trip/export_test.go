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

// KillSupplier drops a supplier where it stands, and returns when it has ended.
func (w *World) KillSupplier(name string) error {
	for _, d := range w.desks {
		if d.part.Name != name {
			continue
		}
		d.mu.Lock()
		l := d.now
		d.mu.Unlock()
		if err := l.Kill(); err != nil {
			return err
		}
		<-l.gone
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
