package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// lettersOf are the dead letters of an agent, newest first.
func lettersOf(t *testing.T, h *agent.Host, owner *agent.Agent) []store.DeadLetter {
	t.Helper()
	list, err := h.Store().DeadLetters(context.WithoutCancel(t.Context()), owner.URI(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// onlyLetter is the one dead letter of an agent.
func onlyLetter(t *testing.T, h *agent.Host, owner *agent.Agent) store.DeadLetter {
	t.Helper()
	list := lettersOf(t, h, owner)
	if len(list) != 1 {
		t.Fatalf("%s has %d dead letters, want one", owner.URI(), len(list))
	}
	return list[0]
}

// brief is a dead letter without its bytes.
func brief(l store.DeadLetter) string {
	l.Envelope = nil
	return fmt.Sprintf("%+v", l)
}

// clocked loses every message and notes when it came, from the start of the
// bubble.
func clocked(began time.Time, came *[]time.Duration) func(*envelope.Envelope) loss {
	return func(e *envelope.Envelope) loss {
		if e.Act() == envelope.Request {
			*came = append(*came, time.Since(began))
		}
		return theMessage
	}
}

var threeTimes = envelope.RetryPolicy{MaxAttempts: 3, Backoff: 200 * time.Millisecond, Jitter: "none"}

func TestAMessageIsSentAsOftenAndAfterSuchWaitsAsItsAuthorSays(t *testing.T) {
	for name, tt := range map[string]struct {
		policy envelope.RetryPolicy
		want   []time.Duration
	}{
		"three times": {threeTimes, []time.Duration{0, 200 * time.Millisecond, 600 * time.Millisecond}},
		"once":        {envelope.RetryPolicy{MaxAttempts: 1, Backoff: time.Second, Jitter: "none"}, []time.Duration{0}},
		"at the default pace": {envelope.RetryPolicy{MaxAttempts: 4, Jitter: "none"},
			[]time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var came []time.Duration
				planner, _, a, _ := lossyPair(t, clocked(time.Now(), &came), none, answers(reference))
				q := ask(t, planner, "flights", book, seat, agent.Resend(tt.policy), agent.Within(20*time.Second))
				at(15 * time.Second)
				if !slices.Equal(came, tt.want) {
					t.Errorf("it was sent after %v, want %v", came, tt.want)
				}
				l := onlyLetter(t, a, planner)
				request := sentOf(t, a, planner, q.id)[0]
				if l.Reason != "exhausted" || l.Attempts != len(tt.want) || l.LastError != "lost" || l.Source != store.DeadOutbox ||
					l.Peer != uri("flights") || l.MessageID != request.ID() || l.Conversation != q.id || !bytes.Equal(l.Envelope, request.Bytes()) {
					t.Errorf("the dead letter is %s", brief(l))
				}
				if got := state(t, a, planner, q.id); got != "requested" {
					t.Errorf("the exchange is in %q before its deadline", got)
				}
				if _, err := q.wait(); !isUnknown(err) {
					t.Errorf("Ask = %v, want unknown", err)
				}
				at(time.Minute)
				if row := outboxRow(t, a, planner, request); row.Status != store.Dead || row.Attempt != len(tt.want) {
					t.Errorf("its row is %s after %d attempts", row.Status, row.Attempt)
				}
				if n := len(ofMessage(lettersOf(t, a, planner), request.ID())); n != 1 {
					t.Errorf("it is %d dead letters", n)
				}
			})
		})
	}
}

func isUnknown(err error) bool {
	kind, _ := ending(err)
	return kind == "unknown"
}

func ofMessage(list []store.DeadLetter, id string) []store.DeadLetter {
	return slices.DeleteFunc(slices.Clone(list), func(l store.DeadLetter) bool { return l.MessageID != id })
}

func TestARetryPolicyThatIsNoneIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, a, _ := lossyPair(t, none, none, answers(reference))
		for name, opt := range map[string]agent.AskOption{
			"/retry_policy/max_attempts": agent.Resend(envelope.RetryPolicy{Jitter: "full"}),
			"/retry_policy/jitter":       agent.Resend(envelope.RetryPolicy{MaxAttempts: 1, Jitter: "some"}),
			"/priority":                  agent.Priority("urgent"),
		} {
			_, err := agent.Ask(t.Context(), planner, "flights", book, seat, opt)
			if shape, ok := errors.AsType[*envelope.ShapeError](err); !ok || shape.Pointer != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if live := unfinished(t, a, planner.URI()); len(live) > 0 {
			t.Errorf("%d exchanges were opened", len(live))
		}
	})
}

func TestWhatTheAuthorSaysAboutUrgencyIsInTheRowAndInTheEnvelope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := meet(t, answers(reference))
		q := ask(t, planner, "flights", book, seat, agent.Priority("high"), agent.Resend(threeTimes))
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		e := sentOf(t, a, planner, q.id)[0]
		if h := e.Header(); h.Priority != "high" || h.RetryPolicy == nil || *h.RetryPolicy != threeTimes {
			t.Errorf("the envelope says %q and %v", h.Priority, h.RetryPolicy)
		}
		row := outboxRow(t, a, planner, e)
		if row.Priority != "high" || row.MaxAttempts != 3 || row.Backoff != 200*time.Millisecond || row.Jitter != "none" {
			t.Errorf("the row says %+v", row)
		}
	})
}

func TestMessagesWhoseTimeIsOverAreDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, a, _ := lossyPair(t, lost, none, answers(reference))
		q := ask(t, planner, "flights", book, seat, agent.Within(20*time.Second))
		_, _ = q.wait()
		at(5 * time.Minute)
		letters := lettersOf(t, a, planner)
		if len(letters) != 2 {
			t.Fatalf("%d dead letters, want those of the request and the cancel", len(letters))
		}
		for _, e := range sentOf(t, a, planner, q.id) {
			l := ofMessage(letters, e.ID())
			if len(l) != 1 || l[0].Reason != "expired" || l[0].LastError != "lost" || l[0].Attempts < 1 || !bytes.Equal(l[0].Envelope, e.Bytes()) {
				t.Errorf("the %s is %d dead letters, the first %s", e.Act(), len(l), brief(append(l, store.DeadLetter{})[0]))
			}
		}
	})
}

// spying notes the write sets that were committed.
type spying struct {
	store.Store
	mu   sync.Mutex
	sets []store.WriteSet
}

func (s *spying) Commit(ctx context.Context, w store.WriteSet) error {
	err := s.Store.Commit(ctx, w)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.sets = append(s.sets, w)
	}
	return err
}

func TestAMessageThatIsRefusedForGoodIsADeadLetterInTheStepThatEndsItsExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		disk := &spying{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}
		a, b := begin(t, nil, disk, planner), begin(t, nil, nil, agent.New("flights"))
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", book, seat)
		_, err := q.wait()
		if kind, _ := ending(err); kind != "not-understood" {
			t.Fatalf("Ask = %v", err)
		}
		at(time.Second)
		request := sentOf(t, a, planner, q.id)[0]
		l := onlyLetter(t, a, planner)
		if l.Reason != "returned" || l.MessageID != request.ID() || l.Attempts != 1 || l.LastError != "validation unsupported-version" || !bytes.Equal(l.Envelope, request.Bytes()) {
			t.Errorf("the dead letter is %s", brief(l))
		}
		if row := outboxRow(t, a, planner, request); row.Status != store.Returned {
			t.Errorf("its row is %s", row.Status)
		}
		i := slices.IndexFunc(disk.sets, func(w store.WriteSet) bool { return len(w.Bury) > 0 })
		if w := disk.sets[i]; len(w.Exchanges) != 1 || !w.Exchanges[0].State.Done() || len(w.Deliveries) != 1 {
			t.Errorf("it was buried with %d exchanges and %d deliveries", len(w.Exchanges), len(w.Deliveries))
		}
	})
}

func TestWorkThatEndedItsHostFiveTimesIsNotBegunAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		max  int
		runs int
	}{"by default": {0, 5}, "as the host is told": {2, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "b.db")
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var runs atomic.Int32
				var b *agent.Host
				life := func() (*agent.Agent, *agent.Host) {
					flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
						runs.Add(1)
						<-ctx.Done() // the host dies of it
						return Booking{}, context.Cause(ctx)
					})
					cfg := quiet(open(t, path))
					cfg.MaxRuns = tt.max
					h := agent.NewHost(cfg, flights)
					h.Connect(agent.PeerHost(a))
					if err := h.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					a.Connect(agent.PeerHost(h))
					return flights, h
				}
				_, b = life()
				q := ask(t, planner, "flights", book, seat, agent.Within(time.Hour))
				var flights *agent.Agent
				for range tt.runs {
					at(time.Second)
					if q.ended() {
						t.Fatalf("it ended with %v after %d runs", q.err, runs.Load())
					}
					if err := b.Kill(); err != nil {
						t.Fatal(err)
					}
					flights, b = life()
				}
				at(time.Second)
				if runs.Load() != int32(tt.runs) {
					t.Errorf("it was begun %d times, want %d", runs.Load(), tt.runs)
				}
				_, err := q.wait()
				if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "poison" {
					t.Errorf("Ask = %v, want failed (permanent, poison)", err)
				}
				request := sentOf(t, a, planner, q.id)[0]
				l := onlyLetter(t, b, flights)
				if l.Source != store.DeadInbox || l.Reason != "poison" || l.Attempts != tt.runs || l.MessageID != request.ID() ||
					l.Peer != planner.URI() || l.Conversation != q.id || !bytes.Equal(l.Envelope, request.Bytes()) {
					t.Errorf("the dead letter is %s", brief(l))
				}
				if err := b.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// quarantined are the contradictory messages that an agent keeps.
func quarantined(t *testing.T, h *agent.Host, owner *agent.Agent) []store.DeadLetter {
	t.Helper()
	return slices.DeleteFunc(lettersOf(t, h, owner), func(l store.DeadLetter) bool { return l.Source != store.DeadQuarantine })
}

func TestContradictoryMessagesAreQuarantinedAndTheOldestGiveWay(t *testing.T) {
	const kept = 100
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		planner, flights := agent.New("planner"), answers(reference)
		a, b := begin(t, nil, nil, planner), begin(t, nil, open(t, path), flights)
		agent.Introduce(a, b)
		pass := token(t, a, planner.URI(), flights.URI())
		h := opening(planner, flights, book.Name(), book.Protocol())
		wantAck(t, hand(t, b, seal(t, h, seatJSON), pass))
		forge := func(n int) *envelope.Envelope {
			h.Timestamp = h.Timestamp.Add(time.Millisecond)
			e := seal(t, h, fmt.Sprintf(`{"flight":"AY%d"}`, n))
			wantNack(t, hand(t, b, e, pass), envelope.CodePermanent, guard.ReasonEquivocation)
			return e
		}
		first := forge(1)
		l := quarantined(t, b, flights)[0]
		if l.Source != store.DeadQuarantine || l.Reason != "equivocation" || l.MessageID != h.MessageID || l.Digest != first.Digest() ||
			l.Peer != planner.URI() || !bytes.Equal(l.Envelope, first.Bytes()) {
			t.Errorf("the dead letter is %s", brief(l))
		}
		wantNack(t, hand(t, b, first.Resend(2, ""), pass), envelope.CodePermanent, guard.ReasonEquivocation)
		if n := len(quarantined(t, b, flights)); n != 1 {
			t.Errorf("the same one again makes %d", n)
		}
		var all []*envelope.Envelope
		for n := range kept + 20 {
			all = append(all, forge(n+2))
			at(time.Millisecond)
		}
		wantKept := func(h *agent.Host, flights *agent.Agent) {
			t.Helper()
			list := quarantined(t, h, flights)
			if len(list) != kept {
				t.Fatalf("%d are kept, want %d", len(list), kept)
			}
			for i, l := range list {
				if want := all[len(all)-1-i]; l.Digest != want.Digest() {
					t.Errorf("number %d of the newest is another one", i)
				}
			}
		}
		wantKept(b, flights)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		again := answers(reference)
		b = beginWith(t, nil, open(t, path), []*agent.Host{a}, again)
		for n := range 20 {
			all = append(all, forge(n+500))
			at(time.Millisecond)
		}
		wantKept(b, again)
		if got := state(t, b, again, h.ConversationID); got != protocol.State("done:ok") {
			t.Errorf("the exchange is in %q", got)
		}
	})
}
