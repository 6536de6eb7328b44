package a2a

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
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

// ticking publishes n ticks, after the gate is opened if there is one.
func ticking(n int, gate <-chan struct{}) []agent.Option {
	return []agent.Option{agent.Spend(agent.Budget{Messages: n + 10}), agent.Publish(ticks, func(_ context.Context, _ Seat, emit func(Tick) error) error {
		if gate != nil {
			<-gate
		}
		for i := range n {
			if err := emit(Tick{i}); err != nil {
				return err
			}
		}
		return nil
	})}
}

// numbers are the ticks that a stream told, in its order.
func numbers(t *testing.T, events []wire.Event) []int {
	t.Helper()
	var list []int
	for _, e := range events {
		if u := e.Response.ArtifactUpdate; u != nil {
			data := string(u.Artifact.Parts[0].Data)
			var n int
			if _, err := fmt.Sscanf(data, `{"n":%d}`, &n); err == nil {
				list = append(list, n)
			} else if data != `{}` {
				t.Fatalf("told %s", data)
			}
		}
	}
	return list
}

func upTo(from, n int) []int {
	var list []int
	for i := from; i < n; i++ {
		list = append(list, i)
	}
	return list
}

func TestAStreamTellsEverythingInOrderAndEndsWithTheTask(t *testing.T) {
	for _, parley := range []bool{true, false} {
		t.Run(fmt.Sprint("parley ", parley), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
					<-gate
					for n := range 2 {
						if err := agent.Progress(ctx, Tick{n}); err != nil {
							return Booking{}, err
						}
					}
					return booked(ctx)
				})), planner}
				x := c.open(book, envelope.Request)
				f := c.follow(t.Context(), x, "", parley)
				synctest.Wait()
				time.Sleep(time.Second)
				close(gate)
				events := f.wait(t)
				equal(t, "told", states(events), []string{"task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "artifact", "artifact", "artifact", "TASK_STATE_COMPLETED"})
				for _, e := range events {
					if u := e.Response.ArtifactUpdate; u != nil && (u.Append || !u.LastChunk || u.TaskID != x.Task || u.ContextID != x.Correlation || carriesEnvelope(u.Artifact.Metadata) != parley) {
						t.Errorf("told %+v", u)
					}
					if u := e.Response.StatusUpdate; u != nil && (u.Status.Timestamp.IsZero() || u.TaskID != x.Task) {
						t.Errorf("told %+v", u)
					}
				}
			})
		})
	}
}

func TestACancelReachesEveryStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) { <-ctx.Done(); return Booking{}, context.Cause(ctx) })), planner}
		x := c.open(book, envelope.Request)
		f, g := c.follow(t.Context(), x, "", true), c.follow(t.Context(), x, "", false)
		synctest.Wait()
		time.Sleep(time.Second)
		c.cancel(x, 2)
		for _, events := range [][]wire.Event{f.wait(t), g.wait(t)} {
			equal(t, "told", states(events), []string{"task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_CANCELED"})
		}
	})
}

func TestACancelThatComesBeforeItsTaskLeavesACancelledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		h := c.opens(book, envelope.Request)
		opening := must(envelope.Seal(h, []byte(seat)))
		cancel := c.opens(book, envelope.Cancel)
		cancel.Schema, cancel.ConversationID, cancel.InReplyTo, cancel.Seq = protocol.CancelSchema, h.ConversationID, opening.ID(), 2
		cancel.IdempotencyKey, cancel.ReplyBy = "", time.Time{}
		x := c.take(cancel, `{}`, "")
		synctest.Wait()
		if task := c.task(x, true); task.Status.State != wire.Canceled || c.acts(task)[0].Status() != envelope.Cancelled {
			t.Errorf("%s, which reads %s", task.Status.State, wire.Encode(task))
		}
	})
}

func TestAPanickingHandlerReachesTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := client{t, begin(t, nil, answers(func(context.Context) (Booking, error) { <-gate; panic("oh") })), planner}
		x := c.open(book, envelope.Request)
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		close(gate)
		events := f.wait(t)
		equal(t, "told", states(events), []string{"task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_FAILED"})
		last := events[len(events)-1].Response.StatusUpdate.Status.Message
		if e := must(envelope.Decode(must(envelopeOf(last)))); e.Act() != envelope.Failure || e.Header().Error.Reason != "handler-panic" {
			t.Errorf("the last word is %s", wire.Encode(last))
		}
	})
}

func TestOneStalledReaderHoldsNobodyUp(t *testing.T) {
	const n = 5000
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := client{t, begin(t, nil, ticking(n, gate)...), planner}
		x := c.open(ticks, envelope.Request)
		stalled, leave := make(chan struct{}), make(chan struct{})
		var after []wire.Event
		var wg sync.WaitGroup
		wg.Go(func() {
			for e, err := range c.s.events(t.Context(), x, "", true) {
				if err != nil {
					t.Error(err)
					return
				}
				if after = append(after, e); len(after) == 2 {
					close(stalled)
					<-leave
				}
			}
		})
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		close(gate)
		<-stalled
		equal(t, "told to the fast one", numbers(t, f.wait(t)), upTo(0, n))
		if task := c.task(x, true); len(task.Artifacts) != maxArtifacts || string(task.Artifacts[98].Parts[0].Data) != `{"n":4999}` {
			t.Errorf("the snapshot has %d artifacts", len(task.Artifacts))
		}
		close(leave)
		wg.Wait()
		equal(t, "told to the slow one", numbers(t, after), upTo(0, n))
	})
}

func TestAStreamGoesOnWhereItsReaderLeft(t *testing.T) {
	const n = 250
	for _, parley := range []bool{true, false} {
		t.Run(fmt.Sprint("parley ", parley), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				c := client{t, begin(t, nil, ticking(n, gate)...), planner}
				x := c.open(ticks, envelope.Request)
				var first []wire.Event
				for e, err := range c.s.events(t.Context(), x, "", true) {
					if err != nil {
						t.Fatal(err)
					}
					if first = append(first, e); len(first) == 1 {
						close(gate)
					}
					if len(first) == 20 {
						break
					}
				}
				synctest.Wait() // meanwhile the task has ended
				missed := upTo(len(numbers(t, first)), n)
				place := first[len(first)-1].ID
				events := []wire.Event{}
				for e, err := range c.s.events(t.Context(), x, place, parley) {
					if err != nil {
						t.Fatal(err)
					}
					events = append(events, e)
				}
				equal(t, "told", numbers(t, events), missed)
				task := events[0].Response.Task
				if task == nil || events[0].ID != place || parley != (task.Artifacts == nil) || parley != (task.History == nil) {
					t.Errorf("the stream goes on with %+v", events[0])
				}
				if last := states(events); last[len(last)-1] != "TASK_STATE_COMPLETED" {
					t.Errorf("the stream ends with %s", last[len(last)-1])
				}
				end := events[len(events)-1].ID
				var rest []wire.Event
				for e := range c.s.events(t.Context(), x, end, true) {
					rest = append(rest, e)
				}
				equal(t, "told at the end", states(rest), []string{"task TASK_STATE_COMPLETED"})
			})
		})
	}
}

func TestAStreamReadsTheLogOnce(t *testing.T) {
	const n = 2000
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		disk := &counter{Store: memory.New()}
		c := client{t, begin(t, disk, ticking(n, gate)...), planner}
		x := c.open(ticks, envelope.Request)
		synctest.Wait()
		disk.clear()
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		close(gate)
		events := f.wait(t)
		if len(numbers(t, events)) != n {
			t.Fatalf("%d ticks were told", len(numbers(t, events)))
		}
		pages, entries, tasks := disk.read()
		if entries > n+20 {
			t.Errorf("%d entries were read for %d events", entries, len(events))
		}
		// At most one look at the task for each step, and one page for each look
		// or full page.
		if tasks > n+20 || pages > tasks+n/logPage+20 {
			t.Errorf("%d pages and %d looks for %d events", pages, tasks, len(events))
		}
		disk.clear()
		c.task(x, true)
		if pages, entries, _ := disk.read(); entries > n+20 || pages > n/logPage+2 {
			t.Errorf("a snapshot reads %d entries in %d pages", entries, pages)
		}
	})
}

func TestASubscriptionToATaskThatHasEndedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		for _, parley := range []bool{true, false} {
			if _, err := c.s.SubscribeToTask(t.Context(), c.call(parley), &wire.SubscribeRequest{ID: x.Task}); kindOf(err) != wire.UnsupportedOperation {
				t.Errorf("parley %v: %v", parley, err)
			}
		}
		back := c.call(false)
		back.LastEventID = "1"
		if _, err := c.s.SubscribeToTask(t.Context(), back, &wire.SubscribeRequest{ID: x.Task}); kindOf(err) != wire.UnsupportedOperation {
			t.Errorf("one that comes back without the extension: %v", err)
		}
		for _, id := range []string{"-1", "x", "9999999999999999999999"} {
			back := c.call(true)
			back.LastEventID = id
			if _, err := c.s.SubscribeToTask(t.Context(), back, &wire.SubscribeRequest{ID: x.Task}); kindOf(err) != wire.InvalidParams {
				t.Errorf("Last-Event-ID %s: %v", id, err)
			}
		}
		equal(t, "told to a reader of Parley that comes back", states(c.follow(t.Context(), x, "0", true).wait(t)),
			[]string{"task TASK_STATE_COMPLETED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"})
	})
}

// asking is a book whose handler asks twice before it answers.
func asking() agent.Option {
	return answers(func(ctx context.Context) (Booking, error) {
		for _, q := range []protocol.QuestionAsked{which, {Text: "Why?"}} {
			if _, err := agent.AskBack(ctx, q); err != nil {
				return Booking{}, err
			}
		}
		return booked(ctx)
	})
}

// reply answers the open question of a task.
func (c client) reply(x store.Exchange, content string) {
	c.t.Helper()
	question := must(envelope.Decode(must(envelopeOf(c.task(x, true).Status.Message))))
	answer := c.answering(question, envelope.Inform, 1)
	answer.Status, answer.Schema = envelope.Final, protocol.Question.Name().Result()
	c.take(answer, content, x.Task)
}

func TestTheStreamOfAnotherClientEndsWhenTheTaskWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, asking()), planner}
		x := c.open(book, envelope.Request)
		var sent, later []wire.Event
		read := func(into *[]wire.Event) {
			for e, err := range c.s.events(t.Context(), x, "", false) {
				if err != nil {
					t.Fatal(err)
				}
				*into = append(*into, e)
			}
		}
		read(&sent)
		if list := states(sent); list[len(list)-1] != "TASK_STATE_INPUT_REQUIRED" && list[len(list)-1] != "task TASK_STATE_INPUT_REQUIRED" {
			t.Errorf("the stream ends with %v", list)
		}
		read(&later) // a message that finds the task waiting
		equal(t, "told then", states(later), []string{"task TASK_STATE_INPUT_REQUIRED"})
		// A subscription goes on, whoever reads it.
		f, g := c.follow(t.Context(), x, "", false), c.follow(t.Context(), x, "", true)
		for _, answer := range []string{`{"choice":"aisle"}`, `{"text":"Because."}`} {
			synctest.Wait()
			c.reply(x, answer)
		}
		for _, events := range [][]wire.Event{f.wait(t), g.wait(t)} {
			equal(t, "told", states(events), []string{"task TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED",
				"TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"})
		}
	})
}

func TestAReaderThatComesBackIsToldTheQuestionsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, asking()), planner}
		x := c.open(book, envelope.Request)
		for _, answer := range []string{`{"choice":"aisle"}`, `{"text":"Because."}`} {
			synctest.Wait()
			c.reply(x, answer)
		}
		synctest.Wait()
		last := must(c.s.host.Store().Log(t.Context(), x.Owner, x.Conversation, 0))
		end := last[len(last)-1].Index
		events := c.follow(t.Context(), x, strconv.FormatInt(end-1, 10), true).wait(t)
		var said []string
		for _, e := range events {
			if u := e.Response.StatusUpdate; u != nil && u.Status.Message != nil {
				q := must(envelope.Decode(must(envelopeOf(u.Status.Message))))
				said = append(said, string(q.Content()))
			}
			if u := e.Response.ArtifactUpdate; u != nil && e.ID != strconv.FormatInt(end, 10) {
				t.Errorf("the result has the place %s, want %d", e.ID, end)
			}
		}
		equal(t, "asked", said, []string{`{"choices":["window","aisle"],"text":"Which seat?"}`, `{"text":"Why?"}`})
		for _, e := range c.follow(t.Context(), x, strconv.FormatInt(end, 10), true).wait(t) {
			if u := e.Response.StatusUpdate; u != nil && u.Status.Message != nil {
				said = append(said, "again")
			}
		}
		equal(t, "asked, to one that has the end", said[2:], []string{"again", "again"})
		if list := states(events); list[0] != "task TASK_STATE_COMPLETED" || list[len(list)-2] != "artifact" || list[len(list)-1] != "TASK_STATE_COMPLETED" {
			t.Errorf("told %v", list)
		}
	})
}

func TestACancelThatRacesWithWhatIsToldEndsTheTaskForGood(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			underway := make(chan struct{})
			c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
				for n := 0; ; n++ {
					if n == 10 {
						close(underway)
					}
					if err := agent.Progress(ctx, Tick{n}); err != nil {
						return Booking{}, err
					}
				}
			}), agent.Spend(agent.Budget{Messages: 10_000})), planner}
			x := c.open(book, envelope.Request)
			streams := []*follower{c.follow(t.Context(), x, "", true), c.follow(t.Context(), x, "", false)}
			<-underway
			c.cancel(x, 2)
			for _, f := range streams {
				list := states(f.wait(t))
				if last := list[len(list)-1]; !strings.HasSuffix(last, "TASK_STATE_CANCELED") {
					t.Fatalf("the stream ends with %s after %d events", last, len(list))
				}
			}
			if got := c.task(x, true).Status.State; got != wire.Canceled {
				t.Errorf("the task is %s", got)
			}
		})
	}
}

func TestATaskIsTheSameAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := memory.New()
		gate := make(chan struct{})
		waits := answers(func(ctx context.Context) (Booking, error) {
			select {
			case <-gate:
				return booked(ctx)
			case <-ctx.Done():
				return Booking{}, context.Cause(ctx)
			}
		})
		c := client{t, begin(t, disk, waits), planner}
		x := c.open(book, envelope.Request)
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		time.Sleep(time.Second)
		before := c.task(x, false)
		if err := c.s.host.Kill(); err != nil {
			t.Fatal(err)
		}
		<-f.done
		if kindOf(f.err) != wire.Unavailable {
			t.Errorf("the stream of the host that died ended with %v", f.err)
		}
		again := must(disk.Reopen())
		c = client{t, begin(t, again, waits), planner}
		if got := c.task(x, false); string(wire.Encode(got)) != string(wire.Encode(before)) {
			t.Errorf("the task was\n%s\nand is\n%s", wire.Encode(before), wire.Encode(got))
		}
		g := c.follow(t.Context(), x, f.events[len(f.events)-1].ID, true)
		synctest.Wait()
		close(gate)
		equal(t, "told", states(g.wait(t)), []string{"task TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"})
	})
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() })), planner}
		ctx, cancel := context.WithCancelCause(t.Context())
		f := c.follow(ctx, c.open(book, envelope.Request), "", true)
		synctest.Wait()
		cancel(gone)
		<-f.done
		if !errors.Is(f.err, gone) {
			t.Errorf("ended with %v", f.err)
		}
	})
}
