package agent_test

import (
	"context"
	"encoding/json"
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
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

type emitTick func(Tick) error

// source is an agent that publishes ticks.
func source(fn func(ctx context.Context, emit emitTick) error) *agent.Agent {
	return agent.New("source", agent.Publish(ticks, func(ctx context.Context, _ Job, emit func(Tick) error) error { return fn(ctx, emit) }))
}

// counting tells the numbers up to n, one after each pause.
func counting(n int, pause time.Duration) func(context.Context, emitTick) error {
	return func(ctx context.Context, emit emitTick) error {
		for i := range n {
			if _, err := after(pause, euros(0))(ctx); err != nil {
				return err
			}
			if err := emit(Tick{i + 1}); err != nil {
				return err
			}
		}
		return nil
	}
}

// quietly tells one item and then waits until its context ends, whose cause it
// hands on.
func quietly(ended chan<- error) func(context.Context, emitTick) error {
	return func(ctx context.Context, emit emitTick) error {
		if err := emit(Tick{1}); err != nil {
			return err
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return context.Cause(ctx)
	}
}

// upTo are the numbers from 1 to n.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// listening is a subscription that runs in a goroutine.
type listening struct {
	id   string
	done chan struct{}
	err  error
	mu   sync.Mutex
	got  []int
}

// subscribe listens until the sequence ends, or until enough says so.
func subscribe(ctx context.Context, t *testing.T, from *agent.Agent, enough func(n int) bool, opts ...agent.AskOption) *listening {
	t.Helper()
	l := &listening{done: make(chan struct{})}
	opened := make(chan string, 1)
	opts = append(opts, agent.Opened(func(id string) { opened <- id }))
	go func() {
		defer close(l.done)
		defer close(opened)
		for tick, err := range agent.Subscribe(ctx, from, "source", ticks, piano, opts...) {
			if err != nil {
				l.err = err
				continue
			}
			l.mu.Lock()
			l.got = append(l.got, tick.N)
			n := len(l.got)
			l.mu.Unlock()
			if enough != nil && enough(n) {
				break
			}
		}
	}()
	if l.id = <-opened; l.id == "" {
		<-l.done
		t.Fatalf("the subscription ended before it was opened: %v", l.err)
	}
	return l
}

func (l *listening) told() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.got)
}

func (l *listening) wait() ([]int, error) {
	<-l.done
	return l.told(), l.err
}

// bad is a transport that sends some messages twice, loses some and loses some
// answers.
type bad struct {
	agent.Transport
	n atomic.Int32
}

func (b *bad) Send(ctx context.Context, data []byte) ([][]byte, error) {
	n := b.n.Add(1)
	if n%3 == 0 {
		return nil, errors.New("lost")
	}
	replies, err := b.Transport.Send(ctx, data)
	if n%4 == 0 {
		replies, err = b.Transport.Send(ctx, data)
	}
	if n%5 == 0 {
		return nil, errors.New("lost the answer")
	}
	return replies, err
}

func TestEveryItemIsToldOnceAndInOrderThoughTheCarrierLosesAndRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a, b := begin(t, nil, nil, planner), begin(t, nil, nil, source(counting(60, 10*time.Millisecond)))
		for _, ends := range [][2]*agent.Host{{a, b}, {b, a}} {
			ends[0].Connect(agent.PeerHost(ends[1]).Through(func(next agent.Transport) agent.Transport { return &bad{Transport: next} }))
		}
		l := subscribe(t.Context(), t, planner, nil)
		if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(60)) {
			t.Errorf("told %v, %v", got, err)
		}
		if a.Counts()["duplicate"] == 0 {
			t.Error("the carrier repeated nothing")
		}
	})
}

// tells picks the commit of the n-th item.
func tells(n int) func(store.WriteSet) bool {
	var seen atomic.Int32
	return func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Event == "!inform~" }) && seen.Add(1) == int32(n)
	}
}

func TestAPublisherThatDiesMidStreamGoesOnWhereItWas(t *testing.T) {
	for name, after := range map[string]bool{"before an item is durable": false, "after an item is durable": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "source.db")
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var b, c *agent.Host
				disk := &crashing{Store: open(t, path), when: tells(7), after: after}
				reopened := make(chan struct{})
				disk.crash = func() {
					if err := b.Kill(); err != nil {
						t.Error(err)
					}
					go func() {
						defer close(reopened)
						c = beginWith(t, nil, open(t, path), []*agent.Host{a}, source(counting(20, time.Millisecond)))
						agent.Introduce(a, c)
					}()
				}
				b = begin(t, nil, disk, source(counting(20, time.Millisecond)))
				agent.Introduce(a, b)
				disk.armed.Store(true)
				l := subscribe(t.Context(), t, planner, nil)
				if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(20)) {
					t.Errorf("told %v, %v", got, err)
				}
				<-reopened
				if sent := logged(t, c, uri("source"), l.id, "!inform~"); len(sent) != 20 {
					t.Errorf("the publisher's log has %d items", len(sent))
				}
			})
		})
	}
}

// crossing is a store that tells a handler that its item was sent before only
// once it was delivered too: what another goroutine does comes in between.
type crossing struct{ store.Store }

func (c crossing) Message(ctx context.Context, k store.Key, kind store.EntryKind, id string) (store.Entry, error) {
	e, err := c.Store.Message(ctx, k, kind, id)
	if _, handler := agent.Current(ctx); err == nil && handler && e.Event == "!inform~" {
		for range 100 {
			if row, failed := c.OutboxRow(ctx, k.Owner, id); failed != nil || row.Status != store.Pending {
				break
			}
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(time.Millisecond)
	}
	return e, err
}

func TestAPublisherThatRunsAgainWhileItsEarlierItemsAreStillBeingSentGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "source.db")
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		fn := func(ctx context.Context, emit emitTick) error {
			if err := counting(5, 0)(ctx, emit); err != nil {
				return err
			}
			<-time.After(time.Second)
			return emit(Tick{6})
		}
		b := begin(t, nil, open(t, path), source(fn))
		a.Connect(agent.PeerHost(b))
		b.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport {
			return &lossy{Transport: next, lose: only(envelope.Inform, theMessage)}
		}))
		l := subscribe(t.Context(), t, planner, nil)
		at(100 * time.Millisecond)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		c := begin(t, nil, crossing{open(t, path)}, source(fn))
		agent.Introduce(a, c)
		at(time.Minute)
		if got := l.told(); !slices.Equal(got, upTo(6)) {
			t.Errorf("told %v, want six", got)
		}
	})
}

func TestAHandlerThatRunsAgainIsToldTheItemsOfItsSubscriptionFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		publisher := source(func(ctx context.Context, emit emitTick) error {
			runs.Add(1)
			return counting(10, time.Second)(ctx, emit)
		})
		var second []int
		middle := func(crash func()) *agent.Agent {
			var m *agent.Agent
			m = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
				var got []int
				for tick, err := range agent.Subscribe(ctx, m, "source", ticks, piano) {
					if err != nil {
						return Booking{}, err
					}
					if got = append(got, tick.N); len(got) == 4 && crash != nil {
						crash()
					}
				}
				second = got
				return Booking{"R1"}, nil
			}))
			return m
		}
		out, err := lives{first: middle, second: middle(nil), others: []*agent.Agent{publisher}}.ask(t)
		if err != nil || out.Reference != "R1" || !slices.Equal(second, upTo(10)) || runs.Load() != 1 {
			t.Errorf("Ask = %v, %v; the second run was told %v, the publisher ran %d times", out, err, second, runs.Load())
		}
	})
}

func TestWhoLeavesASubscriptionCancelsIt(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, planner *agent.Agent) *listening{
		"by leaving the loop": func(t *testing.T, planner *agent.Agent) *listening {
			return subscribe(t.Context(), t, planner, func(n int) bool { return n == 1 })
		},
		"by the end of the context": func(t *testing.T, planner *agent.Agent) *listening {
			enough := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			l := subscribe(ctx, t, planner, nil)
			at(time.Second)
			cancel(enough)
			if _, err := l.wait(); !errors.Is(err, enough) {
				t.Errorf("the sequence ends with %v, want the cause", err)
			}
			l.err = nil
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				publisher := source(quietly(ended))
				planner, a, b := meet(t, publisher)
				l := leave(t, planner)
				if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(1)) {
					t.Errorf("told %v, %v", got, err)
				}
				if err := <-ended; err == nil {
					t.Error("the publisher's context ended without a cause")
				}
				at(time.Second)
				for who, got := range map[string]protocol.State{"subscriber": state(t, a, planner, l.id), "publisher": state(t, b, publisher, l.id)} {
					if got != "done:cancelled" {
						t.Errorf("the %s is in %q", who, got)
					}
				}
				if got := concludes(t, a, planner, l.id); got != protocol.TerminalCancelled {
					t.Errorf("the conversation ended %s", got)
				}
			})
		})
	}
}

func TestWhoRangesTwiceSubscribesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		planner, _, _ := meet(t, source(func(ctx context.Context, emit emitTick) error {
			runs.Add(1)
			return counting(3, 0)(ctx, emit)
		}))
		seq := agent.Subscribe(t.Context(), planner, "source", ticks, piano)
		for range 2 {
			var got []int
			for tick, err := range seq {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tick.N)
			}
			if !slices.Equal(got, upTo(3)) {
				t.Errorf("told %v", got)
			}
		}
		if runs.Load() != 2 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// concludes is the terminal that a conversation of two ended with.
func concludes(t *testing.T, h *agent.Host, owner *agent.Agent, id string) protocol.Terminal {
	t.Helper()
	log := conversation(t, h, owner, id)
	if last := log[len(log)-1]; last.Kind == store.Concluded {
		return terminalOf(t, last)
	}
	t.Fatalf("the log of %s does not end with its conclusion", id)
	return ""
}

func TestWhoTellsFasterThanItIsHeardWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		publisher := source(func(ctx context.Context, emit emitTick) error {
			for n := range 100 {
				if err := emit(Tick{n + 1}); err != nil {
					return err
				}
				told.Add(1)
			}
			return nil
		})
		var holding atomic.Bool
		holding.Store(true)
		back := func(e *envelope.Envelope) loss {
			if e.Act() == envelope.Inform && holding.Load() {
				return theMessage
			}
			return nothing
		}
		planner, _, _, _ := lossyPair(t, none, back, publisher)
		l := subscribe(t.Context(), t, planner, nil, agent.Within(5*time.Minute))
		at(5 * time.Second)
		if n := told.Load(); n < 32 || n > 33 { // the receipt of agree may count once
			t.Errorf("%d items were told while none was heard, want 32", n)
		}
		holding.Store(false)
		if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(100)) {
			t.Errorf("told %v, %v", got, err)
		}
	})
}

// terminalOf reads a conclusion.
func terminalOf(t *testing.T, e store.Entry) protocol.Terminal {
	t.Helper()
	var c protocol.Closing
	if err := json.Unmarshal(e.Note, &c); err != nil {
		t.Fatal(err)
	}
	return c.Terminal
}

// meet is pair on stores in memory, for tests in which no host dies.
func meet(t *testing.T, others ...*agent.Agent) (*agent.Agent, *agent.Host, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	a, b := begin(t, nil, memory.New(), planner), begin(t, nil, memory.New(), others...)
	agent.Introduce(a, b)
	return planner, a, b
}
