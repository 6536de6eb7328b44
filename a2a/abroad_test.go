package a2a

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// many is how many items are streamed.
const many = 1000

// skilled is what ann, bob and cid can do, all of it taking its time.
func skilled(name string) []agent.Option {
	n := len(name) * int(name[0]-'a'+1)
	return []agent.Option{
		agent.Spend(agent.Budget{Messages: many + 100}),
		answers(func(ctx context.Context) (Booking, error) {
			if err := pause(ctx); err != nil {
				return Booking{}, err
			}
			a, err := agent.AskBack(ctx, which)
			if _, ok := errors.AsType[*protocol.NotUnderstoodError](err); ok {
				return Booking{name + " decides"}, nil
			}
			return Booking{name + " " + a.Choice}, err
		}),
		agent.Handle(weigh, func(ctx context.Context, w Weight) (Booking, error) {
			err := pause(ctx)
			return Booking{fmt.Sprint(name, " weighs ", w.Kilograms)}, err
		}),
		agent.Handle(protocol.Chat(), func(ctx context.Context, said protocol.Said) (protocol.Said, error) {
			err := pause(ctx)
			return protocol.Said{Text: protocol.Text(name) + " heard " + said.Text}, err
		}),
		agent.Consider(deal, func(ctx context.Context, s Seat) error {
			select {
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if s.Flight == "none" {
				return agent.Refuse("permanent", "no-need")
			}
			return nil
		}),
		agent.Publish(ticks, func(ctx context.Context, _ Seat, emit func(Tick) error) error {
			for i := range many {
				if i == many/2 {
					if err := pause(ctx); err != nil {
						return err
					}
				}
				if err := emit(Tick{i}); err != nil {
					return err
				}
			}
			return nil
		}),
		agent.Contribute(poll, func(ctx context.Context, _ Seat) (Tick, error) {
			select {
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
			}
			return Tick{n}, ctx.Err()
		}),
		agent.Bid(haul, func(context.Context, Seat) (Tick, error) { return Tick{n}, nil },
			func(ctx context.Context, _ Seat, _ Tick) (Booking, error) {
				err := pause(ctx)
				return Booking{name}, err
			}),
	}
}

func TestEveryProtocolComesToTheSameWhicheverHostIsRestarted(t *testing.T) {
	in := Seat{"AY121"}
	for name, tt := range map[string]struct {
		mine []agent.Option
		work func(ctx context.Context, p *agent.Agent) (string, error)
		want string
		// long: one way to read it is enough.
		long bool
	}{
		"a request that is asked back": {mine: []agent.Option{answering("aisle")}, work: func(ctx context.Context, p *agent.Agent) (string, error) {
			got, err := agent.Ask(ctx, p, "ann", book, in)
			return got.Reference, err
		}, want: "ann aisle"},
		"a request that is asked back by who gets no answer": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			got, err := agent.Ask(ctx, p, "ann", book, in)
			return got.Reference, err
		}, want: "ann decides"},
		"a query": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			got, err := agent.Ask(ctx, p, "bob", weigh, Weight{400})
			return got.Reference, err
		}, want: "bob weighs 400"},
		"a chat": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			got, err := agent.Ask(ctx, p, "cid", protocol.Chat(), protocol.Said{Text: "hello"})
			return string(got.Text), err
		}, want: "cid heard hello"},
		"an offer that is taken": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			return ending(agent.Propose(ctx, p, "ann", deal, in))
		}, want: "ok"},
		"an offer that is not": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			return ending(agent.Propose(ctx, p, "ann", deal, Seat{"none"}))
		}, want: "rejected no-need"},
		"a subscription": {mine: []agent.Option{agent.Spend(agent.Budget{Messages: many + 100})}, work: func(ctx context.Context, p *agent.Agent) (string, error) {
			next := 0
			for tick, err := range agent.Subscribe(ctx, p, "bob", ticks, in) {
				if err != nil {
					return "", err
				}
				if tick.N != next {
					return fmt.Sprintf("%d came after %d", tick.N, next-1), nil
				}
				next++
			}
			return fmt.Sprint(next), nil
		}, want: fmt.Sprint(many), long: true},
		"an auction": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			out, err := agent.CallForProposals(ctx, p, bidders, haul, in, agent.AuctionTerms[Seat, Tick]{Pick: cheapest}, agent.Within(time.Minute))
			if err != nil || len(out.Delivered) != 1 {
				return "", fmt.Errorf("%+v: %w", out, err)
			}
			return out.Delivered[0].Result.Reference, nil
		}, want: "ann"},
		"a gather": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			out, err := agent.Gather(ctx, p, bidders, poll, in, agent.GatherTerms{}, agent.Within(5*time.Minute))
			return string(out.Terminal) + " " + string(out.Value), err
		}, want: `COMPLETED [{"n":3},{"n":6},{"n":9}]`},
		"a cancel": {work: func(ctx context.Context, p *agent.Agent) (string, error) {
			q, err := agent.Start(ctx, p, "bob", weigh, Weight{400}, agent.Within(10*time.Minute))
			if err != nil {
				return "", err
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			if err := q.Cancel(ctx); err != nil {
				return "", err
			}
			_, err = q.Wait(ctx)
			return ending(err)
		}, want: "cancelled "},
	} {
		for how, cfg := range reads() {
			for _, restarted := range []string{"none", "home", "away"} {
				if how == "few streams" || tt.long && how != "stream" {
					continue
				}
				t.Run(fmt.Sprintf("%s, by %s, restarted %s", name, how, restarted), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a := &abroad{t: t, w: newWires(), dir: t.TempDir(), work: tt.work, mine: tt.mine, there: skilled, cfg: cfg}
						got, err := a.run(restarted)
						if err != nil || got != tt.want {
							t.Errorf("it came to %q, %v, want %q", got, err, tt.want)
						}
						a.audit()
					})
				})
			}
		}
	}
}

func TestTheOutcomeOfWhatWasLostFromSightIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &abroad{t: t, w: newWires(), dir: t.TempDir(), there: skilled, cfg: reads()["poll"]}
		a.work = func(ctx context.Context, p *agent.Agent) (string, error) {
			_, err := agent.Ask(ctx, p, "bob", weigh, Weight{400}, within(5*time.Second))
			lost, ok := errors.AsType[*protocol.UnknownError](err)
			if !ok {
				return "", fmt.Errorf("want that nothing is known, got %w", err)
			}
			got, err := agent.Outcome(ctx, p, weigh, lost.Conversation, within(10*time.Minute))
			return "after all, " + got.Reference, err
		}
		a.startAway()
		a.startHome()
		q, err := agent.Start(t.Context(), a.boss, "planner", look, Seat{"AY121"}, within(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		a.w.serve("away.example", nil) // which works on, and nobody hears of it
		time.Sleep(time.Minute)
		a.home.end(t)
		a.w.serve("away.example", a.away.server.Handler())
		a.startHome()
		if q, err = agent.Resume(t.Context(), a.boss, "planner", q.ID(), look); err != nil {
			t.Fatal(err)
		}
		if got, err := q.Wait(t.Context()); err != nil || got.Reference != "after all, bob weighs 400" {
			t.Errorf("it came to %v, %v", got, err)
		}
	})
}

func TestWorkThatIsHandedOnTooOftenIsRefusedAbroad(t *testing.T) {
	for hops, want := range map[int]string{1: "refused hop-limit", 2: "ok"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWires()
			w.start(t, agent.Config{}, "flights.example", agent.New("flights", agent.Spend(agent.Budget{Hops: hops}), answersWith(weigh)))
			var desk, clerk *agent.Agent
			desk = agent.New("desk", agent.Peer("flights", "http://flights.example"), agent.Handle(weigh, func(ctx context.Context, w Weight) (Booking, error) {
				_, err := agent.Ask(ctx, desk, "flights", weigh, w)
				got, err := ending(err)
				return Booking{got}, err
			}))
			clerk = agent.New("clerk", agent.Handle(weigh, func(ctx context.Context, w Weight) (Booking, error) {
				return agent.Ask(ctx, clerk, "desk", weigh, w)
			}))
			boss := agent.New("boss")
			w.start(t, agent.Config{Dial: Dialer(w.dialling(DialConfig{}))}, "home.example", desk, clerk, boss)
			if got, err := agent.Ask(t.Context(), boss, "clerk", weigh, Weight{400}, within(time.Minute)); err != nil || got.Reference != want {
				t.Errorf("with a limit of %d: %v, %v", hops, got, err)
			}
		})
	}
}
