package crash_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

var (
	news    = protocol.NewStream[Order, Receipt]("crash.news.all/v1")
	haul    = protocol.NewAuction[Order, Receipt, Receipt]("crash.freight.haul/v1")
	opinion = protocol.NewGathering[Order, Receipt]("crash.jury.opinion/v1")
)

// within is how long the planner waits for anything that is asked once.
const within = time.Minute

// party takes part in what several agents do. Ann dies on the way, bob lives
// with the planner.
func (c *child) party(name string) *agent.Agent {
	return agent.New(name,
		agent.Publish(news, func(ctx context.Context, o Order, emit func(Receipt) error) error {
			for range 3 {
				if err := emit(Receipt(o)); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}),
		agent.Bid(haul, func(context.Context, Order) (Receipt, error) { return Receipt{1}, nil },
			func(_ context.Context, _ Order, bid Receipt) (Receipt, error) {
				c.at("perform")
				return bid, nil
			}),
		agent.Contribute(opinion, func(context.Context, Order) (Receipt, error) { return Receipt{1}, nil }))
}

// alone asks for one thing. The other process dies on the way, of which the
// driver tells by a line; until then this process's time stands still, so that
// nothing depends on how fast the machine is, and from then on it runs.
func (c *child) alone(ctx context.Context) error {
	hands := agenttest.NewClock(time.Now())
	c.clock = hands
	if err := c.start(ctx); err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.say("over %v", c.askOnce(ctx))
	}()
	if !bufio.NewScanner(os.Stdin).Scan() {
		return errors.New("the driver is gone")
	}
	ended := false
	for range time.Tick(2 * time.Millisecond) {
		left, err := c.left(ctx)
		if err != nil {
			return err
		}
		select {
		case <-over:
			ended = true
		default:
		}
		if ended && len(left.Timers) == 0 && len(left.Outbox) == 0 {
			return c.host.Stop(ctx)
		}
		// What bob and the planner have for each other needs no time.
		if !slices.ContainsFunc(left.Outbox, func(o store.Outbox) bool { return c.agents[name(o.Receiver)] != nil }) {
			hands.Advance(250 * time.Millisecond)
		}
	}
	return nil
}

// askOnce asks for what the part says.
func (c *child) askOnce(ctx context.Context) error {
	planner := c.agents["planner"]
	switch both := []string{"ann", "bob"}; c.Ask {
	case "request":
		_, err := agent.Ask(ctx, planner, "clerk", kinds[0].contract, Order{1}, agent.Within(within))
		return err
	case "subscribe":
		for _, err := range agent.Subscribe(ctx, planner, "ann", news, Order{1}, agent.Within(within)) {
			if err != nil {
				return err
			}
		}
		return nil
	case "auction":
		annFirst := func(_ context.Context, bids []agent.Tender[Receipt]) ([]agent.Tender[Receipt], error) {
			return bids, nil
		}
		_, err := agent.CallForProposals(ctx, planner, both, haul, Order{1},
			agent.AuctionTerms[Order, Receipt]{Pick: annFirst, DeliverWithin: within}, agent.Within(within))
		return err
	case "gather":
		_, err := agent.Gather(ctx, planner, both, opinion, Order{1}, agent.GatherTerms{}, agent.Within(within))
		return err
	}
	return fmt.Errorf("nobody can ask for %s", c.Ask)
}

// The margins are how much later than its deadline an exchange ends at most: a
// cancel has its window then, and in a gather the receipts of the fence have
// theirs. The step of a timer is recorded at the time at which it was due, so
// that a slow machine adds nothing.
const (
	margin      = protocol.CancelWindow
	fenceMargin = 10 * time.Second
)

func TestCrashedForGoodTheOtherSideLeavesARecordedOutcomeInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		ask, point string
		// ann is how the exchange with whoever died ends, terminal how the
		// conversation does.
		outcome  protocol.Outcome
		terminal protocol.Terminal
	}{
		"request, before its receipt":           {"request", "after ?request 1", protocol.Unknown, protocol.TerminalTimedOut},
		"request, while its effect is made":     {"request", "at effect of keyed tool begins 1", protocol.Unknown, protocol.TerminalTimedOut},
		"request, with the result not sent":     {"request", "after !inform 1", protocol.Unknown, protocol.TerminalTimedOut},
		"subscribe, before the first item":      {"subscribe", "after ?request 1", protocol.Unknown, protocol.TerminalTimedOut},
		"subscribe, between items":              {"subscribe", "after !inform~ 1", protocol.Unknown, protocol.TerminalTimedOut},
		"contract net, before its proposal":     {"auction", "after ?cfp 1", protocol.TimedOut, protocol.TerminalCompleted},
		"contract net, after its proposal":      {"auction", "after delivered 1", protocol.Unknown, protocol.TerminalTimedOut},
		"contract net, while it performs":       {"auction", "at perform 1", protocol.Unknown, protocol.TerminalTimedOut},
		"gather, before its contribution":       {"gather", "after ?request 1", protocol.Blocked, protocol.TerminalTimedOut},
		"gather, after its contribution is in":  {"gather", "after delivered 1", protocol.Blocked, protocol.TerminalBlocked},
		"gather, with its contribution not out": {"gather", "after !inform~ 1", protocol.Blocked, protocol.TerminalTimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := short(t)
			h := newHeard()
			answerer := run(t, part{Role: "answerer", Folder: folder, Pace: 1, Point: tt.point}, h, 0)
			answerer.await(t, "ready", answerer.ready)
			asker := run(t, part{Role: "asker", Folder: folder, Ask: tt.ask}, h, 0)
			answerer.await(t, "dead "+tt.point, answerer.ended)
			if !answerer.killed {
				t.Fatalf("the answerer ended by itself: %v", answerer.fault)
			}
			if _, err := fmt.Fprintln(asker.stdin, "go"); err != nil {
				t.Fatal(err)
			}
			asker.await(t, "at its end", asker.ended)
			if asker.killed || asker.fault != nil {
				t.Fatalf("the asker ended killed %t: %v", asker.killed, asker.fault)
			}
			s, err := sqlite.Inspect(t.Context(), asker.db())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			recorded(t, s, tt.outcome, tt.terminal)
		})
	}
}

// recorded checks how and when the planner's conversation ended.
func recorded(t *testing.T, s store.Store, outcome protocol.Outcome, terminal protocol.Terminal) {
	t.Helper()
	conversations, err := s.Conversations(t.Context(), uri("planner"), 10)
	if err != nil || len(conversations) != 1 {
		t.Fatalf("the planner has %d conversations: %v", len(conversations), err)
	}
	c := conversations[0]
	exchanges, err := s.Exchanges(t.Context(), c.Owner, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), c.Owner, c.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range exchanges {
		by := x.State.ReplyBy.Add(margin)
		if x.State.Protocol == protocol.GatherV1 {
			by = x.State.ReplyBy.Add(fenceMargin)
		}
		t.Logf("%s ended %s %v after it was opened, %v after its deadline", x.Peer, x.State.Outcome(), x.EndedAt.Sub(x.OpenedAt), x.EndedAt.Sub(x.State.ReplyBy))
		if !x.State.Done() || x.EndedAt.After(by) {
			t.Errorf("the exchange with %s is in %s at %v, want an end by %v", x.Peer, x.State.State, x.EndedAt, by)
		}
		if slices.Contains(seats["answerer"], name(x.Peer)) && x.State.Outcome() != outcome {
			t.Errorf("the exchange with %s ended %s, want %s", x.Peer, x.State.Outcome(), outcome)
		}
	}
	replayed, err := transcript.Replay(log, exchanges)
	if err != nil {
		t.Error(err)
	}
	if replayed.Terminal != terminal {
		t.Errorf("the conversation ended %s, want %s", replayed.Terminal, terminal)
	}
}
