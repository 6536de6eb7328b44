package agent_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

var bookInSteps = protocol.Request[Seat, Booking]("acme.flight.reserve/v1").WithProgress(protocol.Progress[Booking]{})

// One piece of work from the first word to the last: what is offered is
// advertised, the request has a key and a deadline, the runtime says that work
// has begun, progress is told, and the result closes the exchange.
func TestAPieceOfWorkGoesThroughItsWholeLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := agent.New("flights", agent.SLA(bookInSteps, time.Second, 10*time.Second), agent.Capacity(4),
			agent.Handle(bookInSteps, func(ctx context.Context, s Seat) (Booking, error) {
				for _, percent := range []int{30, 60} {
					if err := agent.Progress(ctx, protocol.Progress[Booking]{Percent: percent, Step: "holding the seat"}); err != nil {
						return Booking{}, err
					}
				}
				return reference(ctx, s)
			}))
		planner, a, b := pair(t, nil, flights)
		ad, err := b.Advertisement("flights")
		if err != nil || ad.Capacity != 4 || len(ad.Contracts) != 1 || ad.Contracts[0].SLA == nil {
			t.Fatalf("advertised %+v, %v", ad, err)
		}
		chosen, err := agent.Common(planner, "flights", protocol.Request[Seat, Booking]("acme.flight.reserve/v2"), bookInSteps)
		if err != nil || chosen.Name() != bookInSteps.Name() {
			t.Fatalf("the highest common version is %v, %v", chosen, err)
		}
		x, err := agent.Start(t.Context(), planner, "flights", bookInSteps, seat, agent.Within(10*time.Second), agent.Key("trip-1"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := x.Wait(t.Context())
		if err != nil || out.Reference != "R1" {
			t.Fatalf("Wait = %v, %v", out, err)
		}
		var said []string
		for _, e := range logOf(t, a, planner, x.ID()) {
			said = append(said, string(e.Event))
		}
		if want := []string{"!request", "?agree", "?inform~", "?inform~", "?inform"}; !slices.Equal(said, want) {
			t.Errorf("the life was %v, want %v", said, want)
		}
		request := sentOf(t, a, planner, x.ID())[0].Header()
		if request.IdempotencyKey != "trip-1" || request.ReplyBy.IsZero() || request.Capability != bookInSteps.Name().Capability() {
			t.Errorf("the request has key %q, deadline %v, capability %q", request.IdempotencyKey, request.ReplyBy, request.Capability)
		}
		at(time.Second)
		log := conversation(t, a, planner, x.ID())
		if last := log[len(log)-1]; last.Kind != store.Concluded || string(last.Note) != `{"terminal":"COMPLETED"}` {
			t.Errorf("it ended with %s %s", last.Kind, last.Note)
		}
	})
}

// relay is a hub: it carries what others say on, and never looks inside.
type relay struct {
	next    agent.Transport
	carried atomic.Int32
}

func (r *relay) Send(ctx context.Context, e []byte) ([][]byte, error) {
	r.carried.Add(1)
	<-time.After(20 * time.Millisecond)
	return r.next.Send(ctx, slices.Clone(e))
}

func (r *relay) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.Network, SenderLearns: true}
}

// Who is near and who is behind a hub take part in one conversation alike, and
// each message is the same on every hop.
func TestOneConversationCrossesTwoTopologies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a, near, far := begin(t, nil, nil, planner), begin(t, nil, nil, juror("ann", euros(1))), begin(t, nil, nil, juror("bob", euros(2)))
		agent.Introduce(a, near)
		there, back := &relay{}, &relay{}
		a.Connect(agent.PeerHost(far).Through(func(next agent.Transport) agent.Transport { there.next = next; return there }))
		far.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport { back.next = next; return back }))
		out, err := agent.Gather(t.Context(), planner, []string{"ann", "bob"}, opinion, piano, agent.GatherTerms{})
		if err != nil || len(out.Contributions) != 2 || there.carried.Load() < 2 || back.carried.Load() < 1 {
			t.Fatalf("Gather = %+v, %v; the hub carried %d and %d", out, err, there.carried.Load(), back.carried.Load())
		}
		digests := map[string]envelope.Digest{}
		for _, e := range logOf(t, a, planner, out.Conversation) {
			digests[e.MessageID] = e.Digest
		}
		for member, h := range map[string]*agent.Host{"ann": near, "bob": far} {
			log, err := h.Store().Log(t.Context(), uri(member), out.Conversation, 0)
			if err != nil || len(log) == 0 {
				t.Fatal(member, err)
			}
			for _, e := range log {
				if e.Kind != store.Fired && digests[e.MessageID] != e.Digest {
					t.Errorf("%s of %s is another message at %s", e.Event, e.MessageID, member)
				}
			}
		}
	})
}
