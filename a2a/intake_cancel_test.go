package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func (c caller) cancels(task string) (*wire.Task, error) {
	return c.CancelTask(context.WithoutCancel(c.t.Context()), c.call(false), &wire.CancelTaskRequest{ID: task})
}

// follows reads a stream of the task to its end.
func (c caller) follows(task string) *follower {
	c.t.Helper()
	stream, err := c.SubscribeToTask(c.t.Context(), c.call(false), &wire.SubscribeRequest{ID: task})
	if err != nil {
		c.t.Fatal(err)
	}
	f := &follower{done: make(chan struct{})}
	go f.read(stream)
	return f
}

func TestACancelEndsTheWorkAndEveryStreamOfIt(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			d := newDesk(t, agent.Config{}, Config{}, agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return protocol.Said{}, cause
			}))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			streams := []*follower{c.follows(task.ID), c.follows(task.ID)}
			synctest.Wait()
			got, err := c.cancels(task.ID)
			if err != nil || got.Status.State != wire.Canceled {
				t.Errorf("CancelTask = %+v, %v", got, err)
			}
			for _, f := range streams {
				list := states(f.wait(t))
				if list[len(list)-1] != string(wire.Canceled) {
					t.Errorf("a stream was told %v", list)
				}
			}
			if cause == nil {
				t.Error("the work was not told")
			}
			if again, err := c.cancels(task.ID); err != nil || again.Status.State != wire.Canceled {
				t.Errorf("again CancelTask = %+v, %v", again, err)
			}
			_, err = c.tries(on(uttering("m-2", "more"), task.ID))
			is(t, err, wire.UnsupportedOperation, "")
			audited(t, d.Host, task.ID)
		})
	})
}

func TestACancelOfWhatHasEndedIsRefused(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, echoes(), agent.Handle(look, func(context.Context, Seat) (Booking, error) {
				return Booking{}, agent.Refuse(envelope.CodePermanent, "no")
			}))
			c := d.as(stranger, binding)
			for _, m := range []wire.Message{uttering("m-1", "hello"), giving("m-2", seat)} {
				r, err := c.waits(m)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					_, err = c.cancels(r.Task.ID)
					is(t, err, wire.TaskNotCancelable, "")
				}
				if got := c.reads(r.Task.ID).Status.State; got != r.Task.Status.State {
					t.Errorf("it went from %s to %s", r.Task.Status.State, got)
				}
			}
			_, err := c.cancels("nobody")
			is(t, err, wire.TaskNotFound, "")
			_, err = c.CancelTask(t.Context(), wire.Call{}, &wire.CancelTaskRequest{ID: "nobody", Metadata: wire.Metadata{"other": json.RawMessage("1")}})
			is(t, err, wire.TaskNotFound, "")
		})
	})
}

func TestWhatWaitsForItsClientOrForAWorkerIsCancelledAtOnce(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			begun := atomic.Int64{}
			d := newDesk(t, agent.Config{Workers: 1}, Config{}, asks(which), agent.Handle(look, func(context.Context, Seat) (Booking, error) {
				begun.Add(1)
				<-gate
				return Booking{"R1"}, nil
			}))
			c := d.as(stranger, binding)
			asking := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			c.sends(giving("m-2", seat)) // takes the worker
			synctest.Wait()
			waiting := c.sends(giving("m-3", seat))
			before := time.Now()
			for _, task := range []string{asking.ID, waiting.ID} {
				if got, err := c.cancels(task); err != nil || got.Status.State != wire.Canceled {
					t.Errorf("CancelTask = %+v, %v", got, err)
				}
			}
			if took := time.Since(before); took > time.Second || begun.Load() != 1 {
				t.Errorf("it took %s, and %d have begun", took, begun.Load())
			}
			close(gate)
			synctest.Wait()
			if begun.Load() != 1 {
				t.Error("what was cancelled has begun")
			}
		})
	})
}

func TestACancelThatTheWorkIgnoresIsAnsweredAfterItsTime(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			d := newDesk(t, agent.Config{}, Config{}, agent.Handle(protocol.Chat(), func(context.Context, protocol.Said) (protocol.Said, error) {
				<-gate
				return protocol.Said{Text: "done"}, nil
			}))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			time.Sleep(time.Second)
			before := time.Now()
			got, err := c.cancels(task.ID)
			if took := time.Since(before); err != nil || took < 5*time.Second || took > 7*time.Second || !got.Status.State.Terminal() || got.Status.State == wire.Completed {
				t.Errorf("after %s CancelTask = %s, %v", took, got.Status.State, err)
			}
			close(gate)
			synctest.Wait()
			if after := c.reads(task.ID); after.Status.State != got.Status.State || len(after.Artifacts) != 0 {
				t.Errorf("what it came to in the end is %s", wire.Encode(after))
			}
		})
	})
}

// interposing does something between the second reading of a task and what
// follows.
type interposing struct {
	store.Store
	then  atomic.Pointer[func()]
	reads atomic.Int64
}

func (s *interposing) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	list, err := s.Store.Tasks(ctx, owner, task)
	if f := s.then.Load(); f != nil && s.reads.Add(1) == 2 { // the one behind which a cancel is sealed
		(*f)()
	}
	return list, err
}

func TestACancelThatComesAMomentTooLateIsRefusedAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, runs := make(chan struct{}), atomic.Int64{}
		st := &interposing{Store: memory.New()}
		d := newDesk(t, agent.Config{Store: st}, Config{}, gated(gate, &runs))
		c := d.as(stranger, wire.JSONRPC)
		task := c.sends(uttering("m-1", "hello"))
		synctest.Wait()
		end := func() {
			close(gate)
			time.Sleep(time.Second)
		}
		st.then.Store(&end)
		_, err := c.cancels(task.ID)
		is(t, err, wire.TaskNotCancelable, "")
		if got := c.reads(task.ID).Status.State; got != wire.Completed {
			t.Errorf("it is %s", got)
		}
	})
}

func TestACancelThatRacesWithResultsEndsTheTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{}, Config{}, answers(func(ctx context.Context) (Booking, error) {
			for i := range 30 {
				if err := agent.Progress(ctx, Tick{i}); err != nil {
					return Booking{}, err
				}
			}
			return Booking{"R1"}, nil
		}))
		c := d.as(stranger, wire.JSONRPC)
		for i := range 20 {
			task := c.sends(giving("m-"+strings.Repeat("i", i), seat))
			var wg sync.WaitGroup
			var last []string
			wg.Go(func() {
				if stream, err := c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: task.ID}); err == nil {
					f := &follower{done: make(chan struct{})}
					f.read(stream)
					last = states(f.events)
				}
			})
			for range 3 {
				wg.Go(func() {
					got, err := c.cancels(task.ID)
					if err == nil && !got.Status.State.Terminal() || err != nil && kindOf(err) != wire.TaskNotCancelable {
						t.Errorf("CancelTask = %+v, %v", got, err)
					}
				})
			}
			wg.Wait()
			got := c.reads(task.ID).Status.State
			if !got.Terminal() || len(last) > 0 && !strings.HasSuffix(last[len(last)-1], string(got)) {
				t.Errorf("it is %s, and the stream ended with %v", got, last)
			}
			audited(t, d.Host, task.ID)
		}
		if d.quarantined() != 0 {
			t.Errorf("%d are in quarantine", d.quarantined())
		}
	})
}

// cancelling is the header of a cancel of what the opening act opens.
func cancelling(opening envelope.Header) json.RawMessage {
	h := opening
	h.Performative, h.Schema, h.InReplyTo = envelope.Cancel, protocol.CancelSchema, opening.MessageID
	h.IdempotencyKey, h.ReplyBy, h.MessageID, h.Seq = "", time.Time{}, fresh(), opening.Seq+1
	return must(messageOf(must(envelope.Seal(h, []byte("{}"))).Bytes(), "", wire.User)).Metadata[ExtensionURI]
}

func TestACancelOfAParleyClientIsAnEnvelopeToo(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, answers(func(ctx context.Context) (Booking, error) {
				<-ctx.Done()
				return Booking{}, ctx.Err()
			}))
			c, other := d.as(planner, binding), d.as(stranger, binding)
			cancel := func(c caller, task string, header json.RawMessage) (*wire.Task, error) {
				return c.CancelTask(t.Context(), c.call(true), &wire.CancelTaskRequest{ID: task, Metadata: wire.Metadata{ExtensionURI: header}})
			}
			early := c.opens(book, envelope.Request)
			id := taskID(early.ConversationID, flights)
			for name, tt := range map[string]struct {
				header json.RawMessage
				task   string
				field  string
			}{
				"a header that is no object": {json.RawMessage(`7`), id, "metadata"},
				"a header of null":           {json.RawMessage(`null`), id, "metadata"},
				"an empty header":            {json.RawMessage(`{}`), id, "metadata"},
				"an act that is no cancel":   {carryingHeader(t, early), id, "metadata"},
				"a task of another":          {cancelling(early), taskID("other", flights), "id"},
			} {
				if _, err := cancel(c, tt.task, tt.header); kindOf(err) != wire.InvalidParams {
					t.Errorf("%s: %v", name, err)
				} else if e, _ := errors.AsType[*wire.Error](err); e.Field != tt.field {
					t.Errorf("%s: at %q", name, e.Field)
				}
			}
			if len(c.exchanges()) != 0 {
				t.Fatalf("they left %+v", c.exchanges())
			}
			_, err := cancel(other, id, cancelling(early))
			is(t, err, wire.Unauthenticated, "")
			_, err = other.cancels(id)
			is(t, err, wire.TaskNotFound, "")

			header := cancelling(early)
			for range 2 {
				if got, err := cancel(c, id, header); err != nil || got.Status.State != wire.Canceled || got.ID != id {
					t.Errorf("before its task it is %+v, %v", got, err)
				}
			}
			got, err := c.tries(carrying(t, early, seat))
			if err == nil && got.Status.State != wire.Canceled || err != nil && kindOf(err) != wire.InvalidParams {
				t.Errorf("the opening after its cancel: %+v, %v", got, err)
			}

			h := c.opens(book, envelope.Request)
			running := c.sends(carrying(t, h, seat))
			synctest.Wait()
			header = cancelling(h)
			if got, err := cancel(c, running.ID, header); err != nil || got.ID != running.ID {
				t.Errorf("CancelTask = %+v, %v", got, err)
			}
			synctest.Wait()
			if got := c.reads(running.ID).Status.State; got != wire.Canceled {
				t.Errorf("it is %s", got)
			}
			if _, err := cancel(c, running.ID, header); err != nil {
				t.Errorf("the cancel again: %v", err)
			}
			if got, err := cancel(c, running.ID, cancelling(h)); err != nil || got.Status.State != wire.Canceled {
				t.Errorf("another cancel: %+v, %v", got, err)
			}
			audited(t, d.Host, running.ID)
		})
	})
}

// carryingHeader is the header of an act alone.
func carryingHeader(t *testing.T, h envelope.Header) json.RawMessage {
	t.Helper()
	h.ContentDigest = ""
	return must(messageOf(must(envelope.Seal(h, []byte("{}"))).Bytes(), "", wire.User)).Metadata[ExtensionURI]
}
