package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

// waits sends a message and waits for what comes of it.
func (c caller) waits(m wire.Message) (*wire.SendMessageResponse, error) {
	return c.SendMessage(context.WithoutCancel(c.t.Context()), c.call(false), &wire.SendMessageRequest{Message: m})
}

func TestWhoSendsAMessageWaitsUntilTheTaskHasEndedOrAsks(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
				time.Sleep(10 * time.Minute)
				a, err := agent.AskBack(ctx, which)
				time.Sleep(10 * time.Second)
				return protocol.Said{Text: protocol.Text(a.Choice)}, err
			}))
			c := d.as(stranger, binding)
			before := time.Now()
			r, err := c.waits(uttering("m-1", "hello"))
			if err != nil || r.Task.Status.State != wire.InputRequired || time.Since(before) < 10*time.Minute {
				t.Fatalf("after %s it is %+v, %v", time.Since(before), r, err)
			}
			before = time.Now()
			r, err = c.waits(on(uttering("m-2", "aisle"), r.Task.ID))
			if err != nil || r.Task.Status.State != wire.Completed || time.Since(before) < 10*time.Second {
				t.Errorf("after %s it is %+v, %v", time.Since(before), r, err)
			}
		})
	})
}

func TestWhoDoesNotWantToWaitIsAnsweredAtOnce(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := newDesk(t, agent.Config{}, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			before := time.Now()
			task := c.sends(uttering("m-1", "hello"))
			if task.Status.State.Terminal() || time.Since(before) != 0 {
				t.Errorf("after %s it is %s", time.Since(before), task.Status.State)
			}
			close(gate)
		})
	})
}

func TestAHistoryOfAnAnswerIsAsLongAsWanted(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, asks(which))
			c := d.as(stranger, binding)
			for want, m := range map[int]wire.Message{0: uttering("m-0", "hello"), 1: uttering("m-1", "hello"), 2: uttering("m-2", "hello"), 9: uttering("m-9", "hello")} {
				r, err := c.SendMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: m, Configuration: wire.SendConfiguration{HistoryLength: &want}})
				if err != nil || len(r.Task.History) != min(want, 2) {
					t.Errorf("%d: %+v, %v", want, r, err)
				}
			}
			wrong := -1
			_, err := c.SendMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: uttering("m", "hello"), Configuration: wire.SendConfiguration{HistoryLength: &wrong}})
			if kindOf(err) != wire.InvalidParams || len(c.exchanges()) != 4 {
				t.Errorf("a negative length: %v, and there are %d tasks", err, len(c.exchanges()))
			}
		})
	})
}

func TestASubscriptionIsStreamedOrAnsweredAtOnceButNeverWaitedFor(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, agent.Publish(ticks, func(_ context.Context, _ Seat, emit func(Tick) error) error {
				time.Sleep(time.Second)
				return errors.Join(emit(Tick{0}), emit(Tick{1}), emit(Tick{2}))
			}))
			c := d.as(stranger, binding)
			_, err := c.waits(giving("m-1", seat))
			if e := is(t, err, wire.UnsupportedOperation, ""); len(c.exchanges()) != 0 || e.Message == "" {
				t.Errorf("it left %+v", c.exchanges())
			}
			task := c.sends(giving("m-2", seat))
			time.Sleep(2 * time.Second)
			if got := c.reads(task.ID); got.Status.State != wire.Completed || len(got.Artifacts) < 3 {
				t.Errorf("it came to %s", wire.Encode(got))
			}
			stream, err := c.SendStreamingMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: giving("m-3", seat)})
			if err != nil {
				t.Fatal(err)
			}
			f := &follower{done: make(chan struct{})}
			go f.read(stream)
			list, told := states(f.wait(t)), 0
			for _, e := range f.events {
				if first := e.Response.Task; first != nil { // which has what was told before the stream began
					told += strings.Count(string(wire.Encode(first)), `{"n":`)
				}
			}
			if !strings.HasSuffix(list[len(list)-1], "TASK_STATE_COMPLETED") || told+len(numbers(t, f.events)) != 3 {
				t.Errorf("streamed are %v, and %d ticks with the task", list, told)
			}
		})
	})
}

func TestAStreamOfAMessageGoesUntilTheTaskAsksAndAnotherFromTheAnswer(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, asks(which))
			c := d.as(stranger, binding)
			streamed := func(m wire.Message) []string {
				stream, err := c.SendStreamingMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: m})
				if err != nil {
					t.Fatal(err)
				}
				f := &follower{done: make(chan struct{})}
				go f.read(stream)
				return states(f.wait(t))
			}
			list := streamed(uttering("m-1", "hello"))
			if !strings.HasPrefix(list[0], "task ") || !strings.HasSuffix(list[len(list)-1], "TASK_STATE_INPUT_REQUIRED") {
				t.Errorf("told are %v", list)
			}
			list = streamed(on(uttering("m-2", "aisle"), c.exchanges()[0].Task))
			if !strings.HasSuffix(list[len(list)-1], "TASK_STATE_COMPLETED") {
				t.Errorf("after the answer are told %v", list)
			}
			_, err := c.SendStreamingMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: on(uttering("m-3", "more"), c.exchanges()[0].Task)})
			is(t, err, wire.UnsupportedOperation, "")
		})
	})
}

func TestWhoWaitsIsToldWhenTheHostStops(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := onDisk(t, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			told := make(chan error, 1)
			go func() {
				_, err := c.waits(uttering("m-1", "hello"))
				told <- err
			}()
			synctest.Wait()
			before := time.Now()
			d.restart()
			is(t, <-told, wire.Unavailable, "")
			if time.Since(before) > time.Second {
				t.Errorf("it was told after %s", time.Since(before))
			}
			close(gate)
			r, err := c.waits(uttering("m-1", "hello"))
			if err != nil || r.Task.Status.State != wire.Completed || len(c.exchanges()) != 1 {
				t.Errorf("again it is %+v, %v", r, err)
			}
		})
	})
}

func TestAClientThatGoesAwayLeavesItsTaskAtWork(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := newDesk(t, agent.Config{}, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() {
				_, err := c.SendMessage(ctx, wire.Call{}, &wire.SendMessageRequest{Message: uttering("m-1", "hello")})
				left <- err
			}()
			synctest.Wait()
			leave()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("it left with %v", err)
			}
			close(gate)
			synctest.Wait()
			if got := c.sends(uttering("m-1", "hello")); got.Status.State != wire.Completed || runs.Load() != 1 {
				t.Errorf("then it is %s after %d runs", got.Status.State, runs.Load())
			}
		})
	})
}

func TestTheHooksSayWhatIsReadAndWhatIsShown(t *testing.T) {
	cfg := Config{
		Read: func(_ string, m *wire.Message) (string, json.RawMessage, bool) {
			switch *m.Parts[0].Text {
			case "book":
				return book.Name().String(), json.RawMessage(seat), true
			case "wrong":
				return book.Name().String(), json.RawMessage(`{}`), true
			case "unknown":
				return "acme.no/v1", nil, true
			}
			return "", nil, false
		},
		Show: func(contract string, content json.RawMessage) []wire.Part {
			if contract == book.Name().String() {
				return []wire.Part{text("Booked: " + string(content))}
			}
			return nil
		},
		Direct: func(contract string) bool { return contract == book.Name().String() },
	}
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, cfg, echoes(), answers(func(ctx context.Context) (Booking, error) { return Booking{"R1"}, agent.Agree(ctx) }))
			c := d.as(stranger, binding)
			r, err := c.waits(uttering("m-1", "book"))
			if err != nil || r.Task != nil || *r.Message.Parts[0].Text != `Booked: {"reference":"R1"}` || r.Message.TaskID != "" {
				t.Errorf("told is %+v, %v", r, err)
			}
			if again, err := c.waits(uttering("m-1", "book")); err != nil || again.Message.MessageID != r.Message.MessageID || len(c.exchanges()) != 1 {
				t.Errorf("again it is %+v, %v", again, err)
			}
			if task := c.sends(uttering("m-1", "book")); *task.Artifacts[0].Parts[0].Text != `Booked: {"reference":"R1"}` {
				t.Errorf("the task is %s", wire.Encode(task))
			}
			if r, err := c.waits(uttering("m-2", "hello")); err != nil || *r.Task.Artifacts[0].Parts[0].Text != "You said hello" {
				t.Errorf("what the hooks do not know is %+v, %v", r, err)
			}
			for _, bad := range []string{"wrong", "unknown"} {
				_, err := c.waits(uttering(bad, bad))
				is(t, err, wire.Internal, "")
			}
		})
	})
}

func TestWhatAParleyClientSendsIsNeverADirectMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{}, Config{Direct: func(string) bool { return true }}, answers(booked))
		c := d.as(planner, wire.JSONRPC)
		r, err := c.SendMessage(t.Context(), c.call(true), &wire.SendMessageRequest{Message: carrying(t, c.opens(book, envelope.Request), seat)})
		if err != nil || r.Task == nil || r.Task.Status.State != wire.Completed {
			t.Errorf("it is %+v, %v", r, err)
		}
	})
}
