package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// stepping is an observer of the states that an agent's steps lead to.
type stepping func(owner string, to protocol.State)

func (f stepping) Observe(_ context.Context, o agent.Observation) {
	for _, a := range o.Attrs {
		if o.Name == agent.Stepped && a.Key == "state" {
			f(o.Owner, protocol.State(a.Value.String()))
		}
	}
}

// hurried starts a host of the agents that takes its time after the planner's
// first step to the state: the step is written, and not yet told to anybody.
func hurried(t *testing.T, to protocol.State, agents ...*agent.Agent) *agent.Host {
	t.Helper()
	var once atomic.Bool
	slowly := stepping(func(owner string, state protocol.State) {
		if owner == uri("planner") && state == to && !once.Swap(true) {
			<-time.After(200 * time.Millisecond)
		}
	})
	h := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler), Observer: slowly}, agents...)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		audit(t, h)
		if err := h.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestReceiptsThatComeTogetherAreBothNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		hurried(t, "done:closed", planner, juror("ann", euros(1)), juror("bob", euros(2)))
		began := time.Now()
		if out, err := agent.Gather(t.Context(), planner, []string{"ann", "bob"}, opinion, piano, agent.GatherTerms{}); err != nil {
			t.Errorf("Gather = %+v, %v", out, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAwardsThatEndTogetherAreBothNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		hurried(t, "done:ok", planner, bidder("ann", euros(1), by("ann")), bidder("bob", euros(2), by("bob")))
		terms := best
		terms.Awards = 2
		began := time.Now()
		if out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, terms); err != nil || len(out.Delivered) != 2 {
			t.Errorf("CallForProposals = %+v, %v", out, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// lingering is a store whose commit of a gather's result returns only when the
// receipt of the fence has been applied, or has had time to be.
type lingering struct {
	store.Store
	receipt chan struct{}
	written chan struct{}
}

func (s lingering) Commit(ctx context.Context, w store.WriteSet) error {
	err := s.Store.Commit(ctx, w)
	if err == nil && slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Reduced }) {
		close(s.written)
		select {
		case <-s.receipt:
		case <-time.After(200 * time.Millisecond):
		}
	}
	return err
}

// It waits by the system's clock: what must wait here waits for a lock.
func TestAReceiptThatIsFasterThanItsFenceIsNotLost(t *testing.T) {
	disk := lingering{memory.New(), make(chan struct{}), make(chan struct{})}
	planner := agent.New("planner")
	watched := stepping(func(owner string, to protocol.State) {
		if owner == uri("planner") && to == "done:closed" {
			close(disk.receipt)
		}
	})
	a := agent.NewHost(agent.Config{Store: disk, Log: slog.New(slog.DiscardHandler), Observer: watched}, planner)
	b := begin(t, nil, memory.New(), juror("ann", euros(70)), answers(reference))
	a.Connect(agent.PeerHost(b))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		audit(t, a)
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	b.Connect(agent.PeerHost(a))
	g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{}, agent.Within(time.Hour))
	<-disk.written
	if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); err != nil { // whatever wakes the sender
		t.Error(err)
	}
	select {
	case <-g.done:
		if g.err != nil {
			t.Errorf("Gather = %+v, %v", g.out, g.err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the gather never ends")
	}
	if got := concluded(t, a, planner, g.id); got != protocol.TerminalCompleted {
		t.Errorf("the gather ended %s", got)
	}
}

func TestManyGathersAtOnceAllEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("holds a hundred gathers")
	}
	planner := agent.New("planner")
	begin(t, nil, memory.New(), planner, juror("ann", euros(1)), juror("bob", euros(2)), juror("cid", euros(3)))
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	faults := make(chan error, 100)
	for range 100 {
		group.Go(func() {
			out, err := agent.Gather(ctx, planner, []string{"ann", "bob", "cid"}, opinion, piano, agent.GatherTerms{}, agent.Within(5*time.Minute))
			if err != nil || len(out.Contributions) != 3 {
				faults <- fmt.Errorf("%s: %d contributions, %w", out.Conversation, len(out.Contributions), err)
			}
		})
	}
	group.Wait()
	close(faults)
	for err := range faults {
		t.Error(err)
	}
}

func TestAnAwardOfAProposalThatANewCallHasRejectedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		ann := agent.New("ann", agent.Bid(haul.Rounds(2), func(_ context.Context, j Job) (Price, error) { return Price{len(j.Task)}, nil },
			func(_ context.Context, j Job, p Price) (Done, error) {
				t.Errorf("performs %q for %d", j.Task, p.Euros)
				return Done{"ann"}, nil
			}))
		a, b := begin(t, nil, memory.New(), planner), begin(t, nil, memory.New(), ann)
		agent.Introduce(a, b)
		key := token(t, a, planner.URI(), ann.URI())
		call := opening(planner, ann, haul.Name(), protocol.ContractNetV1)
		call.Performative, call.IdempotencyKey, call.ReplyBy = envelope.CFP, "", call.Timestamp.Add(10*time.Second)
		wantAck(t, hand(t, b, seal(t, call, `{"task":"x"}`), key))
		at(50 * time.Millisecond)
		old := logged(t, b, ann.URI(), call.ConversationID, "!propose")[0]
		call.MessageID, call.Seq = fresh(), 2
		wantAck(t, hand(t, b, seal(t, call, `{"task":"the whole house"}`), key))
		at(50 * time.Millisecond)
		award := answering(a, t, old, envelope.Agree, 3)
		award.Sender, award.Receiver, award.Actor, award.SenderGeneration = planner.URI(), ann.URI(), planner.URI(), call.SenderGeneration
		award.ReplyBy, award.IdempotencyKey = call.ReplyBy.Add(10*time.Second), "k"
		replies := hand(t, b, seal(t, award, "{}"), key)
		if told := replies[0].Header().Error; told == nil || told.Reason != "mismatch" || told.Detail.Pointer != "/in_reply_to" {
			t.Errorf("it was answered %s %+v", replies[0].ReceiptKind(), told)
		}
		at(time.Second)
		if got := side(t, b, ann.URI(), call.ConversationID, planner.URI()).State; got != "proposed" {
			t.Errorf("ann is in %s", got)
		}
	})
}

// A bidder that performed, or says nothing true, must not make a second one
// perform too.
func TestABidderThatClaimsItsProposalWasGoneGetsNobodyElseTheAward(t *testing.T) {
	for name, claim := range map[string]error{
		"lapsed before it could": agent.Fail(envelope.CodeDeadline, "lapsed"),
		"post-terminal":          agent.Fail(envelope.CodePermanent, "post-terminal"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				liar := bidder("ann", euros(10), func(context.Context) (Done, error) { return Done{}, claim })
				planner, _, _ := pair(t, nil, liar, bidder("bob", euros(20), never))
				out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, best)
				if err == nil || len(out.Delivered) != 0 || len(out.Failed) != 1 || out.Failed[liar.URI()] == nil {
					t.Errorf("CallForProposals = %+v, %v", out, err)
				}
			})
		})
	}
}

func TestWhoWaitsForAConversationThatNobodyCanWriteDownIsToldInTheEnd(t *testing.T) {
	for name, hold := range map[string]func(context.Context, *agent.Agent, agent.AskOption) error{
		"a gather": func(ctx context.Context, from *agent.Agent, opened agent.AskOption) error {
			_, err := agent.Gather(ctx, from, []string{"ann"}, opinion, piano, agent.GatherTerms{}, opened)
			return err
		},
		"an auction": func(ctx context.Context, from *agent.Agent, opened agent.AskOption) error {
			_, err := agent.CallForProposals(ctx, from, []string{"ann"}, haul, piano, best, opened)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := &full{Store: memory.New()}
				planner := agent.New("planner")
				a := begin(t, nil, disk, planner)
				b := begin(t, nil, nil, agent.New("ann",
					agent.Contribute(opinion, func(context.Context, Job) (Price, error) { return Price{1}, nil }),
					agent.Bid(haul, func(context.Context, Job) (Price, error) { return Price{1}, nil }, func(context.Context, Job, Price) (Done, error) { return Done{"ann"}, nil })))
				agent.Introduce(a, b)
				err := hold(t.Context(), planner, agent.Opened(func(string) { disk.armed.Store(true) }))
				if unknown, ok := errors.AsType[*protocol.UnknownError](err); !ok || unknown.Conversation == "" {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}
