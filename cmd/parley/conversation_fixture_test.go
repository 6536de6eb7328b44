package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// What the agents of the recorded conversations talk about.
type (
	errand struct {
		Task string `json:"task"`
	}
	offered struct {
		Euros int `json:"euros"`
	}
	finished struct {
		By string `json:"by"`
	}
)

// spoken are two stores that real hosts have written, and the conversations in
// them. In here are the planner and the clerk, in there the haulers that the
// planner called and gathered opinions of.
type spoken struct {
	here, there string // files
	request     string // its two sides are here
	again       string // the same request once more
	other       string // a request for something else, with another answer
	hostile     string // a request whose answer would steer a terminal
	live        string // a request that nobody has answered yet
	auction     string
	gather      string // with a dissent
}

// hostileText turns the direction of a terminal's text, and hides some.
const hostileText = "done\u202e\u200b"

// speak runs the hosts until everything has been said. Time is that of a bubble,
// so that each run takes as long as every other; ids and salts differ.
func speak(t *testing.T) spoken {
	t.Helper()
	dir := t.TempDir()
	out := spoken{here: filepath.Join(dir, "here.db"), there: filepath.Join(dir, "there.db")}
	synctest.Test(t, func(t *testing.T) { out.speak(t) })
	return out
}

func (s *spoken) speak(t *testing.T) {
	move := protocol.Request[errand, finished]("acme.haul.move/v1")
	haul := protocol.NewAuction[errand, offered, finished]("acme.haul.job/v1")
	value := protocol.NewGathering[errand, offered]("acme.haul.value/v1")

	planner := agent.New("planner")
	here := newHost(t, s.here, planner, agent.New("clerk", agent.Handle(move, func(ctx context.Context, e errand) (finished, error) {
		switch e.Task {
		case "wait":
			<-ctx.Done()
			return finished{}, context.Cause(ctx)
		case "steer":
			return finished{By: hostileText}, nil
		}
		return finished{By: "clerk, " + e.Task}, nil
	})))
	var haulers []*agent.Agent
	names := []string{"ann", "bob", "cid"}
	for i, name := range names {
		euros := []int{70, 50, 60}[i]
		slow := func() { <-time.After(time.Duration(i+1) * time.Second) }
		haulers = append(haulers, agent.New(name,
			agent.Bid(haul, func(context.Context, errand) (offered, error) { slow(); return offered{euros}, nil },
				func(context.Context, errand, offered) (finished, error) { return finished{By: name}, nil }),
			agent.Contribute(value, func(context.Context, errand) (offered, error) {
				if slow(); name == "bob" {
					return agent.Dissent(offered{euros})
				}
				return offered{euros}, nil
			})))
	}
	there := newHost(t, s.there, haulers...)
	apart := func(next agent.Transport) agent.Transport { return inTurn{next, names} }
	here.Connect(agent.PeerHost(there).Through(apart))
	there.Connect(agent.PeerHost(here))
	for _, h := range []*agent.Host{here, there} {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := h.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}

	ask := func(task, key string) string {
		x, err := agent.Start(t.Context(), planner, "clerk", move, errand{task}, agent.Key(key), agent.Correlation("trip-8841"))
		if err != nil {
			t.Fatal(err)
		}
		if task != "wait" {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return x.ID()
	}
	s.request, s.again = ask("piano", "k-1"), ask("piano", "k-2")
	s.other, s.hostile, s.live = ask("harp", "k-3"), ask("steer", "k-4"), ask("wait", "k-5")
	sold, err := agent.CallForProposals(t.Context(), planner, names, haul, errand{"piano"}, agent.AuctionTerms[errand, offered]{Pick: cheapest},
		agent.Correlation("trip-8841"))
	if err != nil {
		t.Fatal(err)
	}
	valued, err := agent.Gather(t.Context(), planner, names, value, errand{"piano"}, agent.GatherTerms{Reducer: protocol.ReducerPreserveDissent},
		agent.Correlation("trip-8841"))
	if err != nil {
		t.Fatal(err)
	}
	s.auction, s.gather = sold.Conversation, valued.Conversation
	<-time.After(5 * time.Second) // until the last receipt is in
}

func newHost(t *testing.T, path string, agents ...*agent.Agent) *agent.Host {
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}, agents...)
}

func cheapest(_ context.Context, bids []agent.Tender[offered]) ([]agent.Tender[offered], error) {
	slices.SortStableFunc(bids, func(a, b agent.Tender[offered]) int { return a.Bid.Euros - b.Bid.Euros })
	return bids, nil
}

// inTurn is a transport on which messages to several receivers arrive one after
// the other, in order of their names.
type inTurn struct {
	agent.Transport
	names []string
}

func (l inTurn) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	<-time.After(time.Duration(1+slices.Index(l.names, strings.TrimPrefix(e.Receiver(), "agent://local/"))) * 10 * time.Millisecond)
	return l.Transport.Send(ctx, data)
}

var (
	drawnID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	digest  = regexp.MustCompile(`[0-9a-f]{64}`)
)

// renamed replaces ids and digests, which differ from one run to the next, by
// names in the order in which they appear: equal ones stay equal.
func renamed(text string) string {
	for kind, pattern := range map[string]*regexp.Regexp{"id": drawnID, "digest": digest} {
		names := map[string]string{}
		text = pattern.ReplaceAllStringFunc(text, func(one string) string {
			if names[one] == "" {
				names[one] = fmt.Sprintf("%s-%d", kind, len(names)+1)
			}
			return names[one]
		})
	}
	return text
}
