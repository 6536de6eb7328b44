package agent_test

import (
	"context"
	"errors"
	"fmt"
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
)

var best = agent.AuctionTerms[Job, Price]{Pick: cheapest}

// bidder answers a call with bid and an award with perform.
func bidder(name string, bid func(context.Context) (Price, error), perform func(context.Context) (Done, error), opts ...agent.BidOption) *agent.Agent {
	return agent.New(name, agent.Bid(haul, func(ctx context.Context, _ Job) (Price, error) { return bid(ctx) },
		func(ctx context.Context, _ Job, _ Price) (Done, error) { return perform(ctx) }, opts...))
}

// by delivers, as whoever it names.
func by(name string) func(context.Context) (Done, error) {
	return func(context.Context) (Done, error) { return Done{By: name}, nil }
}

func never(context.Context) (Done, error) { return Done{}, errors.New("nobody gave it the award") }

// delivered are those who fulfilled an award, in order of rank.
func delivered(out agent.Auctioned[Price, Done]) (names []string) {
	for _, d := range out.Delivered {
		names = append(names, d.Result.By)
	}
	return names
}

func TestTheBestProposalsGetTheAwards(t *testing.T) {
	refuses := func(context.Context) (Price, error) { return Price{}, agent.Refuse(envelope.CodeCapacity, "busy") }
	for name, tt := range map[string]struct {
		awards  int
		want    []string
		bidders []*agent.Agent
	}{
		"one, if nothing is said":  {0, []string{"bob"}, []*agent.Agent{bidder("ann", euros(70), never), bidder("bob", euros(50), by("bob")), bidder("cid", euros(60), never)}},
		"as many as are asked for": {2, []string{"bob", "cid"}, []*agent.Agent{bidder("ann", euros(70), never), bidder("bob", euros(50), by("bob")), bidder("cid", euros(60), by("cid"))}},
		"a tie goes by name":       {1, []string{"ann"}, []*agent.Agent{bidder("ann", after(2*time.Second, euros(50)), by("ann")), bidder("bob", euros(50), never), bidder("cid", euros(50), never)}},
		"who refuses is passed over": {1, []string{"cid"}, []*agent.Agent{bidder("ann", refuses, never), bidder("bob", func(context.Context) (Price, error) { panic("lost my head") }, never),
			bidder("cid", euros(60), by("cid")), bidder("dan", func(context.Context) (Price, error) { return Price{}, agent.Fail(envelope.CodeTransient, "asleep") }, never), agent.New("eve")}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, _ := pair(t, nil, tt.bidders...)
				var names []string
				for _, x := range tt.bidders {
					names = append(names, x.URI())
				}
				out, err := agent.CallForProposals(t.Context(), planner, names, haul, piano, agent.AuctionTerms[Job, Price]{Pick: cheapest, Awards: tt.awards})
				if err != nil || !slices.Equal(delivered(out), tt.want) || len(out.Failed) != 0 {
					t.Fatalf("CallForProposals = %+v, %v", out, err)
				}
				at(time.Minute)
				if got := logged(t, a, planner.URI(), out.Conversation, "!agree"); len(got) != len(tt.want) {
					t.Errorf("%d awards were given", len(got))
				}
				if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
					t.Errorf("the auction ended %s", got)
				}
			})
		})
	}
}

func TestABidderThatAnswersLateIsTurnedDownSoThatItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, ann := agent.New("planner"), bidder("ann", after(8900*time.Millisecond, euros(10)), never)
		a, b := begin(t, nil, nil, planner), begin(t, nil, nil, ann)
		agent.Introduce(a, b)
		agent.Introduce(a, begin(t, nil, nil, bidder("bob", euros(50), by("bob"))))
		b.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport { return lagging{next, envelope.Propose, 2 * time.Second} }))
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, best, agent.Within(9*time.Second))
		if err != nil || !slices.Equal(delivered(out), []string{"bob"}) {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		at(time.Minute)
		refusals := logged(t, b, ann.URI(), out.Conversation, "?refuse")
		if len(refusals) != 1 || refusals[0].Header().Error.Code != envelope.CodeDeadline || refusals[0].Header().Error.Reason != guard.ReasonLate {
			t.Fatalf("the late bidder was told %v", refusals)
		}
		if got := side(t, b, ann.URI(), out.Conversation, planner.URI()).State; got != "done:rejected" {
			t.Errorf("the late bidder ended %s", got)
		}
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
			t.Errorf("the auction ended %s", got)
		}
	})
}

func TestAProposalThatIsWithdrawnIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, b := pair(t, nil, bidder("ann", euros(70), by("ann")), bidder("bob", euros(50), never))
		withdraw := func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
			var call *envelope.Envelope
			calls, err := a.Store().Conversations(ctx, planner.URI(), 1)
			if err != nil || len(calls) != 1 {
				t.Errorf("conversations %v, %v", calls, err)
				return nil, err
			}
			for _, e := range logged(t, a, planner.URI(), calls[0].ID, "!cfp") {
				if e.Receiver() == uri("bob") {
					call = e
				}
			}
			wantAck(t, hand(t, a, seal(t, answering(b, t, call, envelope.Cancel, 2), "{}"), token(t, b, uri("bob"), planner.URI())))
			return cheapest(ctx, bids)
		}
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, agent.AuctionTerms[Job, Price]{Pick: withdraw})
		if err != nil || !slices.Equal(delivered(out), []string{"ann"}) {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		at(time.Minute)
		if got := side(t, a, planner.URI(), out.Conversation, uri("bob")).State; got != "done:withdrawn" {
			t.Errorf("the exchange with the other bidder ended %s", got)
		}
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
			t.Errorf("the auction ended %s", got)
		}
	})
}

// pickAfter ranks by price when the time has passed.
func pickAfter(d time.Duration) func(context.Context, []agent.Tender[Price]) ([]agent.Tender[Price], error) {
	return func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
		<-time.After(d)
		return cheapest(ctx, bids)
	}
}

func TestWhoStandsByGetsTheAwardOfALapsedProposalOnlyWhileItsOwnStands(t *testing.T) {
	for name, tt := range map[string]struct {
		standby time.Duration
		want    []string
	}{
		"it still stands": {time.Minute, []string{"ann"}},
		"it lapsed too":   {2 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				perform := never
				if tt.want != nil {
					perform = by("ann")
				}
				planner, a, _ := pair(t, nil, bidder("ann", euros(70), perform, agent.Holds(tt.standby)), bidder("bob", euros(50), never, agent.Holds(time.Second)))
				out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano,
					agent.AuctionTerms[Job, Price]{Pick: pickAfter(40 * time.Second)})
				if (err == nil) != (tt.want != nil) || !slices.Equal(delivered(out), tt.want) {
					t.Fatalf("CallForProposals = %+v, %v", out, err)
				}
				if tt.want == nil {
					unmet(t, err, protocol.TerminalTimedOut)
				}
				at(time.Minute)
				concluded(t, a, planner, out.Conversation)
			})
		})
	}
}

func TestAnAwardThatFindsTheProposalLapsedGoesToWhoeverStandsBy(t *testing.T) {
	// The proposal stands for 8 s and the bidder gives it up after 5 s more; the
	// award leaves just before the 8 s are over.
	for name, tt := range map[string]struct {
		slow func(agent.Transport) agent.Transport
		want protocol.State
	}{
		"lapsed": {func(next agent.Transport) agent.Transport { return lagging{next, envelope.Agree, 3 * time.Second} }, "done:failed"},
		"given up": {func(next agent.Transport) agent.Transport {
			return &lossy{Transport: next, lose: first(envelope.Agree, silence)}
		}, "done:expired"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, bob := agent.New("planner"), bidder("bob", euros(50), never, agent.Holds(-2*time.Second))
				a, b := begin(t, nil, nil, planner), begin(t, nil, nil, bob)
				agent.Introduce(a, b)
				agent.Introduce(a, begin(t, nil, nil, bidder("ann", after(7999*time.Millisecond, euros(70)), by("ann"))))
				a.Connect(agent.PeerHost(b).Through(tt.slow))
				out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, best, agent.Within(10*time.Second))
				if err != nil || !slices.Equal(delivered(out), []string{"ann"}) {
					t.Errorf("CallForProposals = %+v, %v", out, err)
				}
				at(time.Minute)
				if got := side(t, b, bob.URI(), out.Conversation, planner.URI()).State; got != tt.want {
					t.Errorf("the bidder ended %s, want %s", got, tt.want)
				}
				if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
					t.Errorf("the auction ended %s", got)
				}
			})
		})
	}
}

func TestAnAwardThatFailedOrIsNotKnownAboutIsNeverGivenToSomebodyElse(t *testing.T) {
	for name, tt := range map[string]struct {
		perform func(context.Context) (Done, error)
		cut     bool
		unknown bool
	}{
		"it failed":               {func(context.Context) (Done, error) { return Done{}, agent.Fail(envelope.CodePermanent, "dropped-it") }, false, false},
		"it was not done in time": {func(context.Context) (Done, error) { <-time.After(time.Minute); return Done{By: "bob"}, nil }, false, true},
		"nothing was heard of it": {by("bob"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner")
				a, b := begin(t, nil, nil, planner), begin(t, nil, nil, bidder("bob", euros(50), tt.perform))
				agent.Introduce(a, begin(t, nil, nil, bidder("ann", euros(70), never, agent.Holds(time.Hour))))
				cut := wire(a, b)
				out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, agent.AuctionTerms[Job, Price]{
					Pick: func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
						cut(tt.cut)
						return cheapest(ctx, bids)
					}, DeliverWithin: 20 * time.Second})
				if len(out.Delivered) != 0 || err == nil {
					t.Fatalf("CallForProposals = %+v, %v", out, err)
				}
				if _, unknown := errors.AsType[*protocol.UnknownError](out.Failed[uri("bob")]); unknown != tt.unknown || out.Failed[uri("bob")] == nil || len(out.Failed) != 1 {
					t.Errorf("failed: %v", out.Failed)
				}
				want := protocol.TerminalBlocked
				if tt.unknown {
					want = protocol.TerminalTimedOut
				}
				unmet(t, err, want)
				at(2 * time.Minute)
				if got := concluded(t, a, planner, out.Conversation); got != want {
					t.Errorf("the auction ended %s, want %s", got, want)
				}
			})
		})
	}
}

func TestAnAuctionHasAsManyRoundsAsItDeclares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := protocol.NewAuction[Job, Price, Done]("acme.haul.rounds/v1").Rounds(3)
		var got atomic.Value
		lowers := func(name string, from, step int) *agent.Agent {
			var calls atomic.Int32
			return agent.New(name, agent.Bid(rounds,
				func(context.Context, Job) (Price, error) { return Price{from - step*int(calls.Add(1)-1)}, nil },
				func(_ context.Context, j Job, p Price) (Done, error) {
					got.Store(fmt.Sprintf("%s for %d", j.Task, p.Euros))
					return Done{By: name}, nil
				}))
		}
		planner, a, b := pair(t, nil, lowers("ann", 70, 20), lowers("bob", 50, 1))
		var seen []string
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, rounds, piano, agent.AuctionTerms[Job, Price]{Pick: cheapest,
			Again: func(_ context.Context, round int, bids []agent.Tender[Price]) (*Job, error) {
				seen = append(seen, fmt.Sprint(round, bids[0].Bid.Euros, bids[1].Bid.Euros))
				return &Job{Task: fmt.Sprintf("call %d", round+1)}, nil
			}})
		if err != nil || len(out.Delivered) != 1 || out.Delivered[0].Bid.Euros != 30 {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		if want := []string{"1 70 50", "2 50 49"}; !slices.Equal(seen, want) || got.Load() != "call 3 for 30" {
			t.Errorf("asked after %v, want %v; the award was for %q", seen, want, got.Load())
		}
		at(time.Minute)
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
			t.Errorf("the auction ended %s", got)
		}
		calls := logged(t, a, planner.URI(), out.Conversation, "!cfp")
		if len(calls) != 6 || calls[2].Header().Group.ID == calls[0].Header().Group.ID || calls[2].Header().Group.ID != calls[3].Header().Group.ID {
			t.Errorf("%d calls went out", len(calls))
		}
		if x := side(t, b, uri("bob"), out.Conversation, planner.URI()); x.State != "done:rejected" || x.Round != 3 {
			t.Errorf("the other bidder ended %s in round %d", x.State, x.Round)
		}
	})
}

func TestACallForARoundThatIsSpentIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ann := bidder("ann", euros(50), never)
		planner, a, b := pair(t, nil, ann)
		h := opening(planner, ann, haul.Name(), haul.Protocol())
		h.Performative = envelope.CFP
		pass := token(t, a, planner.URI(), ann.URI())
		call := seal(t, h, `{"task":"move the piano"}`)
		wantAck(t, hand(t, b, call, pass))
		at(time.Second)
		before := semantics(t, b, ann, call.Conversation())
		proposal := logged(t, b, ann.URI(), call.Conversation(), "!propose")[0]
		h.MessageID, h.Seq, h.InReplyTo, h.ContentDigest = fresh(), 2, proposal.ID(), ""
		wantNack(t, hand(t, b, seal(t, h, `{"task":"move the piano"}`), pass), envelope.CodePermanent, "illegal-transition")
		if after := semantics(t, b, ann, call.Conversation()); after != before {
			t.Errorf("the spent round changed the exchange from %s to %s", before, after)
		}
	})
}

func TestAnAwardCarriesItsKeyAndDeadlineAndTheOthersAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var work agent.Work
		var effect string
		planner, a, b := pair(t, nil, bidder("ann", euros(70), never), bidder("bob", euros(50), func(ctx context.Context) (Done, error) {
			mu.Lock()
			defer mu.Unlock()
			work, _ = agent.Current(ctx)
			effect = agent.EffectKey(ctx)
			return Done{By: "bob"}, nil
		}))
		start := time.Now()
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano,
			agent.AuctionTerms[Job, Price]{Pick: cheapest, DeliverWithin: 7 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		award := logged(t, a, planner.URI(), out.Conversation, "!agree")[0].Header()
		if award.IdempotencyKey == "" || !award.ReplyBy.Equal(start.Add(7*time.Second)) {
			t.Errorf("the award is %+v", award)
		}
		mu.Lock()
		defer mu.Unlock()
		if !work.Deadline.Equal(award.ReplyBy) || work.Contract != haul.Name().String() || effect == "" {
			t.Errorf("it was performed as %+v under %q", work, effect)
		}
		if until := out.Delivered[0].Until; !until.Equal(start.Add(time.Minute)) {
			t.Errorf("the proposal stood until %v", until.Sub(start))
		}
		at(time.Second)
		if x := side(t, b, uri("ann"), out.Conversation, planner.URI()); x.State != "done:rejected" || x.Error.Reason != "not-chosen" {
			t.Errorf("the other bidder ended %s, %+v", x.State, x.Error)
		}
		if x := side(t, b, uri("bob"), out.Conversation, planner.URI()); x.State != "done:ok" {
			t.Errorf("the bidder ended %s", x.State)
		}
	})
}

func TestWhatIsAwardedTwiceUnderOneKeyIsDoneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		planner, a, _ := pair(t, nil, bidder("ann", euros(50), func(context.Context) (Done, error) {
			return Done{By: fmt.Sprintf("run %d", runs.Add(1))}, nil
		}))
		for range 2 {
			out, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best, agent.Key("piano-1"))
			if err != nil || !slices.Equal(delivered(out), []string{"run 1"}) {
				t.Fatalf("CallForProposals = %+v, %v", out, err)
			}
			at(time.Second)
			if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
				t.Errorf("the auction ended %s", got)
			}
		}
		if _, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best, agent.Key("piano-2")); err != nil || runs.Load() != 2 {
			t.Errorf("another key: %v after %d runs", err, runs.Load())
		}
	})
}

func TestWhoCallsAnAuctionOffCancelsEveryExchange(t *testing.T) {
	enough := errors.New("enough")
	waits := func(ctx context.Context) (Price, error) { <-ctx.Done(); return Price{}, context.Cause(ctx) }
	holds := func(ctx context.Context) (Done, error) { <-ctx.Done(); return Done{}, context.Cause(ctx) }
	for name, slow := range map[string]func(context.Context) (Price, error){"while bids are awaited": waits, "while an award is performed": euros(90)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, b := pair(t, nil, bidder("ann", euros(50), holds), bidder("bob", slow, never))
				ctx, cancel := context.WithCancelCause(t.Context())
				g := calling(ctx, t, planner, []string{"ann", "bob"}, best)
				at(time.Second)
				cancel(enough)
				if _, err := g.wait(); !errors.Is(err, enough) {
					t.Errorf("CallForProposals = %v, want the cause of the cancel", err)
				}
				at(10 * time.Second)
				for _, member := range []string{"ann", "bob"} {
					if got := side(t, b, uri(member), g.id, planner.URI()).State; !got.Done() {
						t.Errorf("%s is in %s", member, got)
					}
				}
				if got := concluded(t, a, planner, g.id); got != protocol.TerminalCancelled {
					t.Errorf("the auction ended %s", got)
				}
			})
		})
	}
}

func TestAnAuctionWithoutAUsableChoiceRejectsAll(t *testing.T) {
	enough := errors.New("enough")
	for name, tt := range map[string]struct {
		pick func([]agent.Tender[Price]) ([]agent.Tender[Price], error)
		err  error
	}{
		"an error":       {func([]agent.Tender[Price]) ([]agent.Tender[Price], error) { return nil, enough }, enough},
		"nobody":         {func([]agent.Tender[Price]) ([]agent.Tender[Price], error) { return nil, nil }, nil},
		"somebody twice": {func(b []agent.Tender[Price]) ([]agent.Tender[Price], error) { return append(b, b[0]), nil }, nil},
		"somebody who bid nothing": {func(b []agent.Tender[Price]) ([]agent.Tender[Price], error) {
			return []agent.Tender[Price]{{Bidder: "x"}}, nil
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, _ := pair(t, nil, bidder("ann", euros(50), never), bidder("bob", euros(60), never))
				g := calling(t.Context(), t, planner, []string{"ann", "bob"}, agent.AuctionTerms[Job, Price]{
					Pick: func(_ context.Context, b []agent.Tender[Price]) ([]agent.Tender[Price], error) { return tt.pick(b) }})
				if _, err := g.wait(); err == nil || tt.err != nil && !errors.Is(err, tt.err) {
					t.Errorf("CallForProposals = %v", err)
				}
				at(time.Second)
				if got := concluded(t, a, planner, g.id); got != protocol.TerminalBlocked || len(logged(t, a, planner.URI(), g.id, "!refuse")) != 2 {
					t.Errorf("the auction ended %s", got)
				}
			})
		})
	}
	planner, _, _ := pair(t, nil, bidder("ann", euros(50), never))
	if _, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, agent.AuctionTerms[Job, Price]{}); err == nil {
		t.Error("an auction without Pick was held")
	}
	for want, members := range map[string][]string{"members none": nil, "members twice": {"ann", "ann"}, "self": {"planner"}, "unknown": {"zoe"}} {
		if _, err := agent.CallForProposals(t.Context(), planner, members, haul, piano, best); faultOf(err) != want {
			t.Errorf("%v: %v, want %s", members, err, want)
		}
	}
}
