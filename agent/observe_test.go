package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// sightings are what an observer was told.
type sightings struct {
	mu   sync.Mutex
	list []agent.Observation
}

func (s *sightings) Observe(_ context.Context, o agent.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, o)
}

func (s *sightings) of(name string) (list []agent.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.list {
		if o.Name == name {
			list = append(list, o)
		}
	}
	return list
}

// faulty is a store that fails to commit what fails picks.
type faulty struct {
	store.Store
	fails func(store.WriteSet) bool
}

func (f faulty) Commit(ctx context.Context, w store.WriteSet) error {
	if f.fails != nil && f.fails(w) {
		return errors.New("the disk is full")
	}
	return f.Store.Commit(ctx, w)
}

// scene is a planner and another agent, each on a host that is observed. The
// stores fail at what fails picks.
type scene struct {
	answers []agent.Option
	model   llm.Model
	fails   func(store.WriteSet) bool
	through func(agent.Transport) agent.Transport
	leave   bool // Ask's context ends after a second
	after   func(t *testing.T, planner, other *agent.Agent, a, b *agent.Host, opening *envelope.Envelope)
}

func (s scene) play(t *testing.T, seen agent.Observer) {
	t.Helper()
	opts := s.answers
	if s.model != nil {
		opts = append(opts, agent.Model(s.model), agent.Answer(remark, prompt))
	}
	planner, other := agent.New("planner"), agent.New("other", opts...)
	host := func(who *agent.Agent) *agent.Host {
		h := agent.NewHost(agent.Config{Store: faulty{open(t, filepath.Join(t.TempDir(), "x.db")), s.fails},
			Log: slog.New(slog.DiscardHandler), Observer: seen}, who)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWell(t, h)
		return h
	}
	a, b := host(planner), host(other)
	link := agent.PeerHost(b)
	if s.through != nil {
		link = link.Through(s.through)
	}
	a.Connect(link)
	b.Connect(agent.PeerHost(a))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := askIn(ctx, t, planner, "other", remark, Note{secret}, agent.Within(time.Minute))
	at(time.Second)
	if s.after != nil {
		s.after(t, planner, other, a, b, sentOf(t, a, planner, q.id)[0])
	}
	if s.leave {
		cancel()
	}
	_, _ = q.wait()
	at(2 * time.Minute)
}

// cut is a wire that nothing ever passes.
type cut struct{}

func (cut) Send(context.Context, []byte) ([][]byte, error) { return nil, errors.New("cut") }
func (cut) Capabilities() agent.Capabilities               { return agent.Capabilities{} }

// remarks answers in Go.
func remarks(f func(context.Context) (Note, error)) []agent.Option {
	return []agent.Option{agent.Handle(remark, func(ctx context.Context, _ Note) (Note, error) { return f(ctx) })}
}

func fine(context.Context) (Note, error) { return Note{secret}, nil }

func patient(ctx context.Context) (Note, error) { <-ctx.Done(); return Note{}, ctx.Err() }

func replies(text string) agenttest.Reply {
	return agenttest.Calls(agenttest.Call("inform", map[string]string{"text": text}))
}

type Topic struct {
	About string `json:"about"`
}

// once makes a condition true at its first yes only.
func once(f func(store.WriteSet) bool) func(store.WriteSet) bool {
	var done atomic.Bool
	return func(w store.WriteSet) bool { return f(w) && done.CompareAndSwap(false, true) }
}

// unplugged fails its first send.
type unplugged struct {
	agent.Transport
	plugged *atomic.Bool
}

func (u unplugged) Send(ctx context.Context, data []byte) ([][]byte, error) {
	if u.plugged.CompareAndSwap(false, true) {
		return nil, errors.New(secret)
	}
	return u.Transport.Send(ctx, data)
}

func scenes() map[string]scene {
	tool := func(f func() (string, error)) []agent.Option {
		return []agent.Option{agent.Tool("find", "Finds.", func(context.Context, Topic) (string, error) { return f() })}
	}
	useTool := func() llm.Model {
		return agenttest.NewScript(agenttest.Calls(agenttest.Call("find", Topic{secret})), replies(secret))
	}
	return map[string]scene{
		agent.Stepped: {answers: remarks(fine)},
		agent.ContractDeprecated: {answers: append(remarks(fine),
			agent.Deprecate(remark, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), ""))},
		agent.HandlerFailed:   {answers: remarks(func(context.Context) (Note, error) { return Note{}, errors.New(secret) })},
		agent.HandlerPanicked: {answers: remarks(func(context.Context) (Note, error) { panic(secret) })},
		agent.ToolFailed:      {model: useTool(), answers: tool(func() (string, error) { return "", errors.New(secret) })},
		agent.ToolPanicked:    {model: useTool(), answers: tool(func() (string, error) { panic(secret) })},
		agent.ModelFailed:     {model: agenttest.NewScript(agenttest.Fails(&llm.Error{Kind: llm.ErrorBadRequest, Text: secret}))},
		agent.Repaired:        {model: agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", `{"text": "`+secret+`",}`)))},
		agent.SendFailed:      {answers: remarks(fine), through: func(next agent.Transport) agent.Transport { return unplugged{next, new(atomic.Bool)} }},
		agent.CircuitOpened:   {answers: remarks(fine), through: func(agent.Transport) agent.Transport { return cut{} }},
		agent.CircuitClosed:   {answers: remarks(fine), through: func(next agent.Transport) agent.Transport { return &down{Transport: next, left: 5} }},
		agent.LeaseLost: {answers: remarks(patient), after: func(t *testing.T, _, other *agent.Agent, _, b *agent.Host, _ *envelope.Envelope) {
			if _, err := b.Store().TakeOver(t.Context(), other.URI()); err != nil {
				t.Error(err)
			}
		}},
		agent.MessageDead: {answers: remarks(fine), through: func(agent.Transport) agent.Transport { return cut{} }},
		agent.StoreFailed: {answers: remarks(fine), fails: once(func(w store.WriteSet) bool { return len(w.Exchanges) == 0 && len(w.Deliveries) > 0 })},
		agent.WorkFailed:  {answers: remarks(fine), fails: once(completes)},
		agent.TimerFailed: {answers: remarks(patient), fails: once(func(w store.WriteSet) bool {
			return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Fired })
		})},
		agent.CancelFailed: {answers: remarks(patient), leave: true, fails: once(func(w store.WriteSet) bool { return len(w.DropUnsent) > 0 })},
		agent.AuthRefused: {answers: remarks(patient), after: func(t *testing.T, _, _ *agent.Agent, _, b *agent.Host, opening *envelope.Envelope) {
			_, _ = b.Deliver(t.Context(), opening.Resend(2, secret).Bytes())
		}},
		agent.CommandObeyed: {answers: remarks(patient), after: func(t *testing.T, planner, other *agent.Agent, a, _ *agent.Host, opening *envelope.Envelope) {
			command(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI(), Conversation: opening.Conversation(), Peer: other.URI()})
		}},
		agent.GuardRefused: {answers: remarks(patient), after: func(t *testing.T, planner, other *agent.Agent, a, b *agent.Host, opening *envelope.Envelope) {
			inform := seal(t, answering(b, t, opening, envelope.Inform, 9), `{"text":"`+secret+`"}`)
			hand(t, a, inform, token(t, b, other.URI(), planner.URI()))
		}},
	}
}

func TestEachNameIsReportedWithItsExchangeAndWithoutContent(t *testing.T) {
	played := scenes()
	source, err := os.ReadFile("observe.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"(parley\.[a-z.]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(names) != len(played) {
		t.Errorf("%d names in observe.go, %d scenes", len(names), len(played))
	}
	for _, m := range names {
		name := m[1]
		t.Run(name, func(t *testing.T) {
			s, ok := played[name]
			if !ok {
				t.Fatal("no scene")
			}
			synctest.Test(t, func(t *testing.T) {
				var seen sightings
				s.play(t, &seen)
				if len(seen.of(name)) == 0 {
					t.Error("it was not reported")
				}
				for _, o := range seen.list {
					if o.Owner == "" || o.Conversation == "" || o.Peer == "" {
						t.Errorf("%s of %q in %q with %q", o.Name, o.Owner, o.Conversation, o.Peer)
					}
					for _, attr := range o.Attrs {
						if strings.Contains(attr.String(), secret) {
							t.Errorf("%s carries content in %s", o.Name, attr.Key)
						}
					}
				}
			})
		})
	}
}

// panicking is an observer that is broken.
type panicking struct{ seen atomic.Int32 }

func (p *panicking) Observe(context.Context, agent.Observation) {
	p.seen.Add(1)
	panic("lost")
}

func TestAnObserverThatPanicsStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen panicking
		scene{answers: remarks(func(context.Context) (Note, error) { panic(secret) })}.play(t, &seen)
		if seen.seen.Load() < 2 {
			t.Errorf("it was told %d times", seen.seen.Load())
		}
	})
}

func TestAPanicOfTheAgentsOwnFunctionsEndsTheExchangeAndNotTheHost(t *testing.T) {
	for name, opt := range map[string]agent.Option{
		"instructions": agent.Instructions(func(context.Context) string { panic(secret) }),
		"offer when":   agent.OfferWhen(func(context.Context, string) bool { panic(secret) }),
		"check":        agent.Check(look, func(context.Context, Booking) error { panic(secret) }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clerk(agenttest.NewScript(says("R1"), says("R2")), opt, weather(new(atomic.Int32)))
				planner, _, _ := pair(t, nil, c)
				for range 2 {
					_, err := agent.Ask(t.Context(), planner, "clerk", look, seat)
					if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "handler-panic" {
						t.Errorf("Ask = %v, want failed (permanent, handler-panic)", err)
					}
				}
			})
		})
	}
}

func TestAPanicOfOpenedIsItsCallersAndTheExchangeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, _ := pair(t, nil, answers(reference))
		var id string
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = agent.Ask(t.Context(), planner, "flights", look, seat, agent.Opened(func(conversation string) { id = conversation; panic("lost") }))
		}()
		x, err := agent.Resume(t.Context(), planner, "flights", id, look)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
			t.Errorf("Wait = %v, %v", out, err)
		}
	})
}
