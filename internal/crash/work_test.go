package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// long is a deadline that no exchange comes to, however slow the machine is.
const long = 24 * time.Hour

// workers ask at once, each for every workers-th order.
const workers = 4

// work lets the planner ask for order after order until finish is closed. The
// other role does nothing by itself.
func (c *child) work(ctx context.Context, finish <-chan struct{}) error {
	if c.agents["planner"] == nil {
		return nil
	}
	var group sync.WaitGroup
	failed := make([]error, workers)
	for w := range workers {
		group.Go(func() { failed[w] = c.orders(ctx, w+1, finish) })
	}
	group.Wait()
	return errors.Join(failed...)
}

// orders asks for every workers-th order. What has ended is noted in a file of
// the planner's own, so that the next life begins behind it; a note that is
// missing costs a look.
func (c *child) orders(ctx context.Context, first int, finish <-chan struct{}) error {
	path := filepath.Join(c.Folder, fmt.Sprint("ended.", first))
	notes, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer notes.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n := first + workers*strings.Count(string(data), "\n"); ; n += workers {
		if more, err := c.order(ctx, n, finish); err != nil || !more {
			return err
		}
		if _, err := fmt.Fprintln(notes, n); err != nil {
			return err
		}
	}
}

// order asks for an order, or waits for it if an earlier life has asked. It asks
// for nothing new when finish is closed: there are no more orders then.
func (c *child) order(ctx context.Context, n int, finish <-chan struct{}) (more bool, err error) {
	planner, k := c.agents["planner"], kindOf(n)
	known, err := c.host.Store().Correlated(ctx, planner.URI(), business(n))
	if err != nil {
		return false, err
	}
	if len(known) > 0 {
		x, failed := agent.Resume(ctx, planner, "clerk", known[0].Conversation, k.contract)
		if failed != nil {
			return false, failed
		}
		_, err = x.Wait(ctx)
	} else {
		select {
		case <-finish:
			return false, nil
		default:
		}
		_, err = agent.Ask(ctx, planner, "clerk", k.contract, Order{n}, agent.Key(fmt.Sprint("order ", n)), agent.Correlation(business(n)),
			agent.Within(long), agent.Opened(func(id string) { c.say("opened %d %s", n, id) }))
	}
	if f, ok := errors.AsType[*protocol.FailedError](err); ok && f.Reason == unclear && k.atMostOnce {
		c.say("ended %d unclear", n)
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("order %d: %w", n, err)
	}
	c.say("ended %d ok", n)
	return true, nil
}

// business is the correlation id of an order: what the planner's application
// keeps of its own.
func business(order int) string { return fmt.Sprintf("0195d4f0-0000-7000-8000-%012d", order) }

// rest returns when nothing is left to be done.
func (c *child) rest(ctx context.Context) error {
	for range time.Tick(10 * time.Millisecond) {
		left, err := c.left(ctx)
		if err != nil || len(left.Timers) == 0 && len(left.Outbox) == 0 {
			return err
		}
	}
	return nil
}

// left are the timers that run and the messages that wait.
func (c *child) left(ctx context.Context) (store.Due, error) {
	var owners []string
	for _, a := range c.agents {
		owners = append(owners, a.URI())
	}
	return c.host.Store().Due(ctx, owners, c.clock.Now().Add(1000*time.Hour), 100)
}
