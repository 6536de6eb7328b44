package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestWhatAHandlerDoesAboutACancelDecidesHowTheExchangeEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		handler func(context.Context, Seat) (Booking, error)
		state   protocol.State
		code    envelope.Code
		reason  string
	}{
		"it stops": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		}, "done:cancelled", "", ""},
		"it stops with an error of its own": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, errors.New("stopped half-way")
		}, "done:cancelled", "", ""},
		"it had finished": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{Reference: "R1"}, nil
		}, "done:ok", "", ""},
		"it could not undo": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, agent.Fail(envelope.CodePermanent, "half-done")
		}, "done:failed", envelope.CodePermanent, "half-done"},
		"it panics": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			panic("lost my head")
		}, "done:failed", envelope.CodePermanent, "handler-panic"},
		"it notices just in time": {func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			<-time.After(4 * time.Second)
			return Booking{}, ctx.Err()
		}, "done:cancelled", "", ""},
	} {
		for _, contract := range []protocol.Contract[Seat, Booking]{book, look} {
			t.Run(name+" "+contract.Protocol(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					flights := answers(tt.handler)
					planner, a, b := pair(t, nil, flights)
					ctx, cancel := context.WithCancelCause(t.Context())
					q := askIn(ctx, t, planner, "flights", contract, seat)
					at(time.Second)
					enough := errors.New("enough")
					cancel(enough)
					if _, err := q.wait(); !errors.Is(err, enough) {
						t.Errorf("Ask = %v, want the cause of the cancel", err)
					}
					at(10 * time.Second)
					for _, x := range []store.Exchange{exchangeOf(t, a, planner, q.id), exchangeOf(t, b, flights, q.id)} {
						if x.State.State != tt.state {
							t.Errorf("%s is in %q, want %q", x.Owner, x.State.State, tt.state)
						}
						if e := x.State.Error; tt.code != "" && (e == nil || e.Code != tt.code || e.Reason != tt.reason) {
							t.Errorf("%s ended with %+v, want %s (%s)", x.Owner, e, tt.code, tt.reason)
						}
					}
				})
			})
		}
	}
}

func TestAHandlerThatDoesNotNoticeACancelWithinFiveSecondsIsEndedAsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returned := make(chan struct{})
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			defer close(returned)
			<-ctx.Done()
			<-time.After(5*time.Second + time.Millisecond)
			return Booking{Reference: "R1"}, nil
		})
		planner, _, b := pair(t, nil, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat)
		at(time.Second)
		cancel()
		at(5*time.Second - time.Millisecond)
		if got := state(t, b, flights, q.id); got != "cancelling" {
			t.Fatalf("the participant is in %q, want cancelling", got)
		}
		at(time.Millisecond)
		x := exchangeOf(t, b, flights, q.id).State
		if x.State != "done:failed" || x.Error.Code != envelope.CodeCancelled {
			t.Fatalf("the participant is in %q with %+v, want done:failed (cancelled)", x.State, x.Error)
		}
		before := len(logOf(t, b, flights, q.id))
		<-returned
		at(time.Second)
		if after := logOf(t, b, flights, q.id); len(after) != before && after[len(after)-1].Kind == store.Sent {
			t.Errorf("the handler's result was sent after the end: %s", after[len(after)-1].Event)
		}
	})
}

func TestACancelThatCrossesTheResultIsAbsorbedAndTheResultCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		var holding atomic.Bool
		holding.Store(true)
		back := func(e *envelope.Envelope) loss {
			if e.Act() == envelope.Inform && holding.Load() {
				return theMessage
			}
			return nothing
		}
		planner, _, a, b := lossyPair(t, none, back, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat)
		at(10 * time.Millisecond)
		if got := state(t, b, flights, q.id); got != "done:ok" {
			t.Fatalf("the participant is in %q, want done:ok", got)
		}
		cancel()
		at(0)
		if got := state(t, a, planner, q.id); got != "cancelling" {
			t.Fatalf("the initiator is in %q, want cancelling", got)
		}
		holding.Store(false)
		at(4 * time.Second)
		if got := state(t, a, planner, q.id); got != "done:ok" {
			t.Errorf("the initiator is in %q, want done:ok", got)
		}
		if got := b.Counts()["absorbed"]; got != 1 {
			t.Errorf("the participant absorbed %d messages, want the cancel", got)
		}
	})
}

func TestACancelThatOvertakesItsRequestKeepsTheRequestFromRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		planner, link, a, b := lossyPair(t, only(envelope.Request, theMessage), none, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat)
		at(10 * time.Millisecond) // not so often that the receiver is left alone
		if len(link.seen) == 0 {
			t.Fatal("the request was never tried")
		}
		cancel()
		at(0)
		for _, x := range []store.Exchange{exchangeOf(t, a, planner, q.id), exchangeOf(t, b, flights, q.id)} {
			if x.State.State != "done:cancelled" {
				t.Errorf("%s is in %q, want done:cancelled", x.Owner, x.State.State)
			}
		}
		before := semantics(t, b, flights, q.id)
		request := sentOf(t, a, planner, q.id)[0]
		for range 2 {
			wantNack(t, hand(t, b, request, token(t, a, planner.URI(), flights.URI())), envelope.CodeCancelled, guard.ReasonPostTerminal)
		}
		at(time.Minute)
		if after := semantics(t, b, flights, q.id); after != before {
			t.Errorf("the late request changed the exchange from %s to %s", before, after)
		}
	})
}

// holding is a store from which nothing leaves in turn while it is held; what
// overtakes leaves.
type holding struct {
	store.Store
	held atomic.Bool
}

func (h *holding) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	due, err := h.Store.Due(ctx, owners, now, limit)
	if h.held.Load() {
		var kept []store.Outbox
		for _, row := range due.Outbox {
			if row.Overtakes {
				kept = append(kept, row)
			}
		}
		due.Outbox = kept
	}
	return due, err
}

func TestARequestThatWasNeverSentIsDroppedByItsCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, flights := agent.New("planner"), answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		disk := &holding{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}
		disk.held.Store(true)
		a, b := begin(t, nil, disk, planner), begin(t, nil, nil, flights)
		agent.Introduce(a, b)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat)
		at(time.Second)
		cancel()
		at(0)
		disk.held.Store(false)
		at(time.Minute)
		sent := sentOf(t, a, planner, q.id)
		if len(sent) != 2 || sent[1].Act() != envelope.Cancel {
			t.Fatalf("sent %v, want request and cancel", sent)
		}
		if row := outboxRow(t, a, planner, sent[0]); row.Status != store.Dropped || row.Attempt != 0 {
			t.Errorf("the request's row is %s after %d attempts, want dropped after none", row.Status, row.Attempt)
		}
		if row := outboxRow(t, a, planner, sent[1]); row.Status != store.Delivered {
			t.Errorf("the cancel's row is %s, want delivered", row.Status)
		}
		if got := state(t, a, planner, q.id); got != "done:cancelled" {
			t.Errorf("the initiator is in %q, want done:cancelled", got)
		}
		if log := logOf(t, b, flights, q.id); log[0].Event != "?cancel" {
			t.Errorf("the participant saw %s first, want ?cancel", log[0].Event)
		}
	})
}

// meanwhile is a store that lets something happen just before a first attempt is
// written.
type meanwhile struct {
	store.Store
	over   atomic.Bool
	happen func()
}

func (m *meanwhile) Commit(ctx context.Context, w store.WriteSet) error {
	first := slices.ContainsFunc(w.Deliveries, func(d store.Delivery) bool { return d.Attempt == 1 && d.Status == store.Pending })
	if first && m.over.CompareAndSwap(false, true) {
		m.happen()
	}
	return m.Store.Commit(ctx, w)
}

func TestARequestThatItsCancelDropsAsItIsAboutToLeaveDoesNotLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, flights := agent.New("planner"), answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		ctx, cancel := context.WithCancel(t.Context())
		disk := &meanwhile{Store: open(t, filepath.Join(t.TempDir(), "a.db")), happen: func() { cancel(); at(time.Second) }}
		a, b := begin(t, nil, disk, planner), begin(t, nil, nil, flights)
		agent.Introduce(a, b)
		q := askIn(ctx, t, planner, "flights", book, seat)
		at(time.Minute)
		if row := outboxRow(t, a, planner, sentOf(t, a, planner, q.id)[0]); row.Status != store.Dropped || row.Attempt != 0 {
			t.Errorf("the request's row is %s after %d attempts, want dropped after none", row.Status, row.Attempt)
		}
		if got := state(t, a, planner, q.id); got != "done:cancelled" {
			t.Errorf("the initiator is in %q, want done:cancelled", got)
		}
		for _, entry := range logOf(t, b, flights, q.id) {
			if entry.Event == "?request" {
				t.Error("the participant was sent the request")
			}
		}
	})
}

func TestCancellingReachesTheConversationsThatTheWorkOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan error, 1)
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			over <- ctx.Err()
			return Booking{}, ctx.Err()
		})
		child := make(chan string, 1)
		var middle *agent.Agent
		middle = agent.New("middle", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
			return agent.Ask(ctx, middle, "flights", book, s, agent.Opened(func(id string) { child <- id }))
		}))
		planner, a, b := pair(t, nil, middle, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "middle", book, seat)
		nested := <-child
		at(time.Second)
		cancel()
		at(time.Second)
		<-over
		for what, got := range map[string]protocol.State{
			"the planner": state(t, a, planner, q.id), "the middle as participant": state(t, b, middle, q.id),
			"the middle as initiator": state(t, b, middle, nested), "the flights": state(t, b, flights, nested),
		} {
			if got != "done:cancelled" {
				t.Errorf("%s is in %q, want done:cancelled", what, got)
			}
		}
	})
}

func TestWorkThatWasCancelledBeforeACrashRunsAgainOnlyUnderAnEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "flights.db")
		var runs atomic.Int32
		began := make(chan error, 2)
		flights := func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				runs.Add(1)
				began <- ctx.Err()
				<-ctx.Done()
				if runs.Load() == 1 {
					<-time.After(time.Second) // the crash comes first
				}
				return Booking{}, ctx.Err()
			})
		}
		planner := agent.New("planner")
		a, b := begin(t, nil, nil, planner), begin(t, nil, open(t, path), flights())
		agent.Introduce(a, b)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat)
		if err := <-began; err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		cancel()
		at(0)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		second := flights()
		c := begin(t, nil, open(t, path), second)
		agent.Introduce(a, c)
		if err := <-began; err == nil {
			t.Error("the second run began under a live context")
		}
		at(time.Second)
		if got := state(t, a, planner, q.id); got != "done:cancelled" {
			t.Errorf("the initiator is in %q, want done:cancelled", got)
		}
		at(time.Second)
	})
}

// slow is a store that finds an inbox row for the first time only when it is
// let.
type slow struct {
	store.Store
	once sync.Once
	let  chan struct{}
}

func (s *slow) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	row, err := s.Store.Inbox(ctx, k)
	if err != nil {
		return row, err
	}
	s.once.Do(func() { <-s.let })
	return row, ctx.Err()
}

func TestACancelThatComesBeforeTheHandlerHasBegunReachesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		})
		planner := agent.New("planner")
		disk := &slow{Store: open(t, filepath.Join(t.TempDir(), "b.db")), let: make(chan struct{})}
		a, b := begin(t, nil, nil, planner), begin(t, nil, disk, flights)
		agent.Introduce(a, b)
		pass := token(t, a, planner.URI(), flights.URI())
		h := opening(planner, flights, book.Name(), book.Protocol())
		request := seal(t, h, seatJSON)
		wantAck(t, hand(t, b, request, pass))
		synctest.Wait() // the work has been taken up, but its inbox row is not yet read
		h.MessageID, h.InReplyTo, h.Seq, h.Performative, h.Schema = fresh(), request.ID(), 2, envelope.Cancel, protocol.CancelSchema
		h.IdempotencyKey, h.ContentDigest, h.ReplyBy = "", "", time.Time{}
		wantAck(t, hand(t, b, seal(t, h, "{}"), pass))
		close(disk.let)
		at(time.Second)
		if got := state(t, b, flights, request.Conversation()); got != "done:cancelled" {
			t.Errorf("the participant is in %q, want done:cancelled", got)
		}
	})
}

func TestACancelThatComesRightAfterItsRequestReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		})
		planner, a, b := pair(t, nil, flights)
		pass := token(t, a, planner.URI(), flights.URI())
		var conversations []string
		for range 20 { // whichever comes first: the handler or the cancel
			h := opening(planner, flights, book.Name(), book.Protocol())
			request := seal(t, h, seatJSON)
			h.MessageID, h.InReplyTo, h.Seq, h.Performative, h.Schema = fresh(), request.ID(), 2, envelope.Cancel, protocol.CancelSchema
			h.IdempotencyKey, h.ContentDigest, h.ReplyBy = "", "", time.Time{}
			wantAck(t, hand(t, b, request, pass))
			wantAck(t, hand(t, b, seal(t, h, "{}"), pass))
			conversations = append(conversations, request.Conversation())
		}
		at(time.Second)
		for _, id := range conversations {
			if got := state(t, b, flights, id); got != "done:cancelled" {
				t.Errorf("the participant is in %q, want done:cancelled", got)
			}
		}
	})
}
