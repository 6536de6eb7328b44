package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
)

// dialling is a host of the agents whose links dial makes.
func dialling(dial func(ctx context.Context, uri, url string) (agent.Link, error), agents ...*agent.Agent) *agent.Host {
	cfg := quiet(memory.New())
	cfg.Dial = dial
	return agent.NewHost(cfg, agents...)
}

func TestAnAddressOfAPeerIsDialledOnceAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner", agent.Peer("flights", "https://flights.example"), agent.Peer("agent://elsewhere/hotels", "https://hotels.example"),
			agent.MayAsk("flights", look))
		helper := agent.New("helper", agent.Peer(uri("flights"), "https://flights.example"))
		there := begin(t, nil, memory.New(), answers(reference))
		var dialled []string
		h := dialling(func(_ context.Context, uri, url string) (agent.Link, error) {
			dialled = append(dialled, uri+" "+url)
			if uri != there.Agents()[0] {
				return agent.Remote{Agents: []string{uri}}.Link(), nil
			}
			return agent.PeerHost(there), nil
		}, planner, helper)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWell(t, h)
		there.Connect(agent.PeerHost(h))
		slices.Sort(dialled)
		if want := []string{"agent://elsewhere/hotels https://hotels.example", uri("flights") + " https://flights.example"}; !slices.Equal(dialled, want) {
			t.Errorf("dialled %v, want %v", dialled, want)
		}
		if out, err := agent.Ask(t.Context(), planner, "flights", look, seat); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

func TestAnAddressThatLeadsNowhereIsAnErrorOfTheStart(t *testing.T) {
	fails := errors.New("no such place")
	ok := func(_ context.Context, uri, _ string) (agent.Link, error) {
		return agent.Remote{Agents: []string{uri}}.Link(), nil
	}
	for name, tt := range map[string]struct {
		dial func(ctx context.Context, uri, url string) (agent.Link, error)
		who  []agent.Option
		want string
	}{
		"nothing dials":         {nil, []agent.Option{agent.Peer("flights", "https://x.example")}, "peer " + uri("flights") + " has an address, and Config.Dial is nil"},
		"two addresses":         {ok, []agent.Option{agent.Peer("flights", "https://x.example"), agent.Peer(uri("flights"), "https://y.example")}, "peer " + uri("flights") + " has two addresses, https://x.example and https://y.example"},
		"an agent of this host": {ok, []agent.Option{agent.Peer("helper", "https://x.example")}, "peer " + uri("helper") + " is an agent of this host"},
		"no name":               {ok, []agent.Option{agent.Peer("No Name", "https://x.example")}, `No Name"`},
		"it cannot be dialled": {func(context.Context, string, string) (agent.Link, error) { return agent.Link{}, fails },
			[]agent.Option{agent.Peer("flights", "https://x.example")}, "peer " + uri("flights") + " at https://x.example: " + fails.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			h := dialling(tt.dial, agent.New("planner", tt.who...), agent.New("helper"))
			err := h.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start = %v, want %q", err, tt.want)
			}
			if name == "it cannot be dialled" && !errors.Is(err, fails) {
				t.Errorf("the reason is lost: %v", err)
			}
			if err := h.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A start that failed over one address leaves neither a model that runs nor
// a link that collects.
func TestAStartThatFailedOverAnAddressCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &serving{}
		var collects atomic.Int32
		down := true
		h := dialling(func(_ context.Context, of, _ string) (agent.Link, error) {
			if of == uri("hotels") && down {
				return agent.Link{}, errors.New("no such place")
			}
			return agent.Remote{Agents: []string{of}, Collect: func(ctx context.Context, _ *agent.Host) { collects.Add(1); <-ctx.Done() }}.Link(), nil
		}, agent.New("planner", agent.Model(model), agent.Peer("flights", "https://f.example"), agent.Peer("hotels", "https://h.example")))
		if err := h.Start(t.Context()); err == nil {
			t.Fatal("it started")
		}
		down = false
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); collects.Load() != 2 {
			t.Errorf("two links collect %d times", collects.Load())
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if want := []string{"start", "stop"}; !slices.Equal(model.events, want) {
			t.Errorf("the model saw %v", model.events)
		}
	})
}
