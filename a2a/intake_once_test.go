package a2a

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// yielding lets others go on after it has read what decides, so that whoever is
// not held back comes between.
type yielding struct{ store.Store }

func (s yielding) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	row, err := s.Store.Inbox(ctx, k)
	yield()
	return row, err
}

func (s yielding) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	list, err := s.Store.Tasks(ctx, owner, task)
	yield()
	return list, err
}

func yield() {
	for range 500 {
		runtime.Gosched()
	}
}

// gated is a chat that waits for the gate, and counts its runs.
func gated(gate <-chan struct{}, runs *atomic.Int64) agent.Option {
	return agent.Handle(protocol.Chat(), func(ctx context.Context, said protocol.Said) (protocol.Said, error) {
		runs.Add(1)
		select {
		case <-gate:
			return protocol.Said{Text: "You said " + said.Text}, nil
		case <-ctx.Done():
			return protocol.Said{}, ctx.Err()
		}
	})
}

func TestAForeignMessageThatIsSentAgainIsTheSameTaskAcrossRestarts(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := onDisk(t, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			m := uttering("m-1", "hello")
			first := c.sends(m)
			synctest.Wait() // the work has begun
			if again := c.sends(m); again.ID != first.ID || again.ContextID != first.ContextID || again.Status.State.Terminal() {
				t.Errorf("in progress it is %s", wire.Encode(again))
			}
			d.restart()
			if again := c.sends(m); again.ID != first.ID {
				t.Errorf("after a restart it is under %s, not %s", again.ID, first.ID)
			}
			close(gate)
			synctest.Wait()
			again := c.sends(m)
			if again.ID != first.ID || again.Status.State != wire.Completed || result(again) != `{"text":"You said hello"}` || len(again.History) != 1 {
				t.Errorf("after the end it is %s", wire.Encode(again))
			}
			for name, other := range map[string]wire.Message{
				"another text":      uttering("m-1", "good-bye"),
				"another context":   inContext("elsewhere", m),
				"data":              giving("m-1", `{"text":"hello"}`),
				"on the task":       on(m, first.ID),
				"metadata about it": {MessageID: "m-1", Role: wire.User, Parts: m.Parts, Metadata: wire.Metadata{"a": raw(1)}},
			} {
				if _, err := c.tries(other); kindOf(err) != wire.InvalidParams {
					t.Errorf("%s under its id: %v", name, err)
				}
			}
			if n := len(c.exchanges()); n != 1 || runs.Load() != 2 || d.quarantined() != 0 {
				t.Errorf("%d exchanges, %d runs, %d in quarantine", n, runs.Load(), d.quarantined())
			}
		})
	})
}

func TestAForeignMessageThatIsSentAgainIsItsTaskThoughThereIsNoRoomForAnother(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := newDesk(t, agent.Config{Workers: 1, Backlog: 1}, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			first := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			c.sends(uttering("m-2", "hello"))
			_, err := c.tries(uttering("m-3", "hello"))
			is(t, err, wire.Overloaded, "")
			if again := c.sends(uttering("m-1", "hello")); again.ID != first.ID {
				t.Errorf("it is under %s, not %s", again.ID, first.ID)
			}
			close(gate)
			synctest.Wait()
			if n := len(c.exchanges()); n != 2 || runs.Load() != 2 {
				t.Errorf("%d exchanges, %d runs", n, runs.Load())
			}
		})
	})
}

func TestAForeignMessageThatComesManyTimesAtOnceIsOneTask(t *testing.T) {
	for name, from := range map[string]func(d *desk, i int) caller{
		"one binding": func(d *desk, _ int) caller { return d.as(stranger, wire.JSONRPC) },
		"both": func(d *desk, i int) caller {
			return d.as(stranger, []string{wire.JSONRPC, wire.HTTPJSON}[i%2])
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := onDisk(t, Config{}, echoes())
				var wg sync.WaitGroup
				ids := make([]string, 32)
				for i := range ids {
					c := from(d, i)
					wg.Go(func() {
						r, err := c.SendMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: uttering("m-1", "hello")})
						if err != nil {
							t.Error(err)
							return
						}
						ids[i] = r.Task.ID
					})
				}
				wg.Wait()
				for _, id := range ids {
					if id != ids[0] {
						t.Errorf("it is under %s and under %s", ids[0], id)
					}
				}
				if n := len(from(d, 0).exchanges()); n != 1 || d.quarantined() != 0 {
					t.Errorf("%d exchanges, %d in quarantine", n, d.quarantined())
				}
			})
		})
	}
}

func TestOneIDUsedForTwoMessagesAtOnceOpensOneTaskAndQuarantinesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{Store: yielding{memory.New()}}, Config{}, asks(protocol.QuestionAsked{Text: "Why?"}, protocol.QuestionAsked{Text: "Really?"}))
		c := d.as(stranger, wire.JSONRPC)
		open := c.sends(uttering("m-0", "hello"))
		synctest.Wait()
		var wg sync.WaitGroup
		var taken atomic.Int64
		for _, m := range []wire.Message{uttering("m-1", "one"), uttering("m-1", "two"), on(uttering("m-1", "three"), open.ID), on(uttering("m-1", "four"), open.ID)} {
			wg.Go(func() {
				if _, err := c.tries(m); err == nil {
					taken.Add(1)
				} else {
					is(t, err, wire.InvalidParams, "message.messageId")
				}
			})
		}
		wg.Wait()
		if taken.Load() != 1 || d.quarantined() != 0 {
			t.Errorf("%d were taken, %d are in quarantine", taken.Load(), d.quarantined())
		}
	})
}

func TestForeignCallersNeverMeetUnderTheSameIDs(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, asks(which))
			ann, bob := d.as("agent://local/x-aaaaaaaaaaaaaaaa", binding), d.as("agent://local/x-bbbbbbbbbbbbbbbb", binding)
			m := inContext("trip", uttering("m-1", "hello"))
			mine, yours := ann.sends(m), bob.sends(m)
			if mine.ID == yours.ID {
				t.Fatal("two callers have one task")
			}
			synctest.Wait()
			_, err := bob.GetTask(t.Context(), wire.Call{}, &wire.GetTaskRequest{ID: mine.ID})
			is(t, err, wire.TaskNotFound, "")
			_, err = bob.CancelTask(t.Context(), wire.Call{}, &wire.CancelTaskRequest{ID: mine.ID})
			is(t, err, wire.TaskNotFound, "")
			_, err = bob.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: mine.ID})
			is(t, err, wire.TaskNotFound, "")
			_, err = bob.tries(on(uttering("m-2", "aisle"), mine.ID))
			is(t, err, wire.TaskNotFound, "")
			list := must(bob.ListTasks(t.Context(), wire.Call{}, &wire.ListTasksRequest{ContextID: "trip"}))
			if len(list.Tasks) != 1 || list.Tasks[0].ID != yours.ID {
				t.Errorf("listed are %+v", list.Tasks)
			}
			if got := ann.reads(mine.ID).Status.State; got != wire.InputRequired {
				t.Errorf("the task of the other is %s", got)
			}
		})
	})
}

func TestAForeignMessageIsTheSameTaskForAsLongAsTheTaskIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := agenttest.NewClock(time.Now())
		runs := atomic.Int64{}
		gate := make(chan struct{})
		close(gate)
		d := newDesk(t, agent.Config{Clock: clock, Retention: 30 * 24 * time.Hour}, Config{}, gated(gate, &runs))
		c := d.as(stranger, wire.JSONRPC)
		m := uttering("m-1", "hello")
		first := c.sends(m)
		synctest.Wait()
		for range 10 { // longer than the inbox remembers
			clock.Advance(24 * time.Hour)
			synctest.Wait()
			time.Sleep(time.Minute)
		}
		again, err := c.tries(m)
		if err != nil || again.ID != first.ID || again.Status.State != wire.Completed {
			t.Errorf("days later it is %v, %v", again, err)
		}
		if _, err := c.tries(uttering("m-1", "another")); kindOf(err) != wire.InvalidParams {
			t.Errorf("another message under its id: %v", err)
		}
		if n := len(c.exchanges()); n != 1 || runs.Load() != 1 || d.quarantined() != 0 {
			t.Errorf("%d exchanges, %d runs, %d in quarantine", n, runs.Load(), d.quarantined())
		}
	})
}

func TestAForeignMessageIsTheSameTaskForADayThoughConversationsAreKeptForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := agenttest.NewClock(time.Now())
		runs := atomic.Int64{}
		weighing := agent.Handle(weigh, func(context.Context, Weight) (Booking, error) {
			runs.Add(1)
			return Booking{"R1"}, nil
		})
		d := newDesk(t, agent.Config{Clock: clock, Retention: time.Hour}, Config{}, weighing)
		c := d.as(stranger, wire.JSONRPC)
		m := giving("m-1", `{"kilograms":400}`)
		first := c.sends(m)
		synctest.Wait() // the answer may come before the handler begins
		pass := func(hours int) {
			for range hours {
				clock.Advance(time.Hour)
				synctest.Wait()
				time.Sleep(time.Minute)
			}
		}
		pass(23)
		if again, err := c.tries(m); err != nil || again.ID != first.ID {
			t.Errorf("within a day it is %v, %v", again, err)
		}
		pass(3)
		if n := len(c.exchanges()); n != 0 || runs.Load() != 1 {
			t.Errorf("%d exchanges are kept, after %d runs", n, runs.Load())
		}
		if again, err := c.tries(m); err != nil || again.ID == first.ID {
			t.Errorf("when it is forgotten it is %v, %v", again, err)
		}
	})
}
