package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// lossy is a transport that loses what it is told to lose.
type lossy struct {
	agent.Transport
	mu   sync.Mutex
	lose func(e *envelope.Envelope) loss
	seen []int // attempts of the requests that passed
}

type loss int

const (
	nothing loss = iota
	theMessage
	theAnswer
	silence // the carrier never answers
)

func (l *lossy) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	if e.Act() == envelope.Request {
		l.seen = append(l.seen, e.Attempt())
	}
	what := l.lose(e)
	l.mu.Unlock()
	switch what {
	case theMessage:
		return nil, errors.New("lost")
	case silence:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	replies, err := l.Transport.Send(ctx, data)
	if what == theAnswer {
		return nil, errors.New("lost the answer")
	}
	return replies, err
}

// first loses what happens to the first message of the act.
func first(act envelope.Performative, what loss) func(*envelope.Envelope) loss {
	done := false
	return func(e *envelope.Envelope) loss {
		if done || e.Act() != act {
			return nothing
		}
		done = true
		return what
	}
}

// lossyPair is a planner and the flights whose links lose things.
func lossyPair(t *testing.T, there, back func(*envelope.Envelope) loss, flights *agent.Agent) (*agent.Agent, *lossy, *agent.Host, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	out, a, b := losing(t, there, back, planner, flights)
	return planner, out, a, b
}

// losing is two agents whose links lose things.
func losing(t *testing.T, there, back func(*envelope.Envelope) loss, x, y *agent.Agent) (*lossy, *agent.Host, *agent.Host) {
	t.Helper()
	a, b := begin(t, nil, nil, x), begin(t, nil, nil, y)
	out := &lossy{lose: there}
	a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { out.Transport = next; return out }))
	b.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport { return &lossy{Transport: next, lose: back} }))
	return out, a, b
}

func none(*envelope.Envelope) loss { return nothing }

func TestALostMessageOrAnswerIsResentUnderTheSameIDAndHandledOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		there, back func() func(*envelope.Envelope) loss
		attempts    int
	}{
		"request lost":            {func() func(*envelope.Envelope) loss { return first(envelope.Request, theMessage) }, nil, 2},
		"receipt of request lost": {func() func(*envelope.Envelope) loss { return first(envelope.Request, theAnswer) }, nil, 1},
		"receipt and every act back lost": {func() func(*envelope.Envelope) loss { return first(envelope.Request, theAnswer) },
			func() func(*envelope.Envelope) loss { return func(*envelope.Envelope) loss { return theMessage } }, 2},
		"result lost":            {nil, func() func(*envelope.Envelope) loss { return first(envelope.Inform, theMessage) }, 1},
		"receipt of result lost": {nil, func() func(*envelope.Envelope) loss { return first(envelope.Inform, theAnswer) }, 1},
		"receipt of agree lost":  {nil, func() func(*envelope.Envelope) loss { return first(envelope.Agree, theAnswer) }, 1},
		"all of the first minute": {func() func(*envelope.Envelope) loss {
			n := 0
			return func(*envelope.Envelope) loss { n++; return map[bool]loss{true: theMessage, false: nothing}[n <= 4] }
		}, nil, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				there, back := none, none
				if tt.there != nil {
					there = tt.there()
				}
				if tt.back != nil {
					back = tt.back()
				}
				var runs atomic.Int32
				flights := agent.New("flights", agent.Handle(book, func(context.Context, Seat) (Booking, error) {
					runs.Add(1)
					return Booking{Reference: "R1"}, nil
				}))
				planner, link, _, _ := lossyPair(t, there, back, flights)
				b, err := agent.Ask(t.Context(), planner, "flights", book, Seat{Flight: "AY121"}, agent.Key("k"), agent.Within(10*time.Minute))
				if err != nil || b.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", b, err)
				}
				at(2 * time.Minute)
				if runs.Load() != 1 {
					t.Errorf("the handler ran %d times", runs.Load())
				}
				if got := link.seen[len(link.seen)-1]; got != tt.attempts || len(link.seen) != tt.attempts {
					t.Errorf("attempts on the wire %v, want up to %d", link.seen, tt.attempts)
				}
			})
		})
	}
}

func TestASendThatIsNeverAnsweredIsRepeatedAfterTheCarrierTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		flights := agent.New("flights", agent.Handle(look, func(context.Context, Seat) (Booking, error) {
			return Booking{Reference: "R1"}, nil
		}))
		planner, link, _, _ := lossyPair(t, first(envelope.Request, silence), none, flights)
		if _, err := agent.Ask(t.Context(), planner, "flights", look, Seat{Flight: "AY121"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("the answer came after %v, want just after the carrier timeout of 5 s", took)
		}
		if len(link.seen) != 2 || link.seen[1] != 2 {
			t.Errorf("attempts on the wire %v, want 1 and 2", link.seen)
		}
	})
}

// crashing is a store whose host dies at a chosen commit.
type crashing struct {
	store.Store
	armed atomic.Bool
	when  func(store.WriteSet) bool
	after bool // the commit is durable, then the host dies
	crash func()
}

func (c *crashing) Commit(ctx context.Context, w store.WriteSet) error {
	if !c.when(w) || !c.armed.CompareAndSwap(true, false) {
		return c.Store.Commit(ctx, w)
	}
	if c.after {
		if err := c.Store.Commit(ctx, w); err != nil {
			return err
		}
	}
	c.crash()
	return store.ErrClosed
}

func accepts(w store.WriteSet) bool {
	return len(w.Accept) > 0 && w.Accept[0].Status == store.InProgress
}
func completes(w store.WriteSet) bool { return len(w.Settle) > 0 }

func TestAHostThatDiesAtAnyPointOfAnExchangeAnswersOnceAfterReopening(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		runs  int32
	}{
		"before accept commits":   {accepts, false, 1},
		"after accept commits":    {accepts, true, 1},
		"before complete commits": {completes, false, 2},
		"after complete commits":  {completes, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "flights.db")
				var runs atomic.Int32
				effects := map[string]int{}
				var mu sync.Mutex
				flights := func() *agent.Agent {
					return agent.New("flights", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
						runs.Add(1)
						mu.Lock()
						defer mu.Unlock()
						effects[agent.EffectKey(ctx)]++
						return Booking{Reference: "R-" + agent.EffectKey(ctx)[:8]}, nil
					}))
				}
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var b *agent.Host
				disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
				reopened := make(chan struct{})
				disk.crash = func() {
					dying := b
					go func() {
						defer close(reopened)
						if err := dying.Kill(); err != nil {
							t.Error(err)
						}
						b = begin(t, nil, open(t, path), flights())
						agent.Introduce(a, b)
					}()
				}
				b = begin(t, nil, disk, flights())
				agent.Introduce(a, b)
				disk.armed.Store(true)
				got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{Flight: "AY121"}, agent.Key("k"), agent.Within(5*time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				<-reopened
				if runs.Load() != tt.runs {
					t.Errorf("the handler ran %d times, want %d", runs.Load(), tt.runs)
				}
				if len(effects) != 1 {
					t.Errorf("effects under %d keys, want one: %v", len(effects), effects)
				}
				for key := range effects {
					if got.Reference != "R-"+key[:8] {
						t.Errorf("reference %s does not belong to key %s", got.Reference, key)
					}
				}
			})
		})
	}
}
