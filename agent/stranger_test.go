package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/transcript"
)

// traced is how a conversation ended, and all of its trace that is not an id, a
// time or a digest.
func traced(t *testing.T, h *agent.Host, owner *agent.Agent, id string) string {
	t.Helper()
	log, exchanges, err := still(context.Background(), h.Store(), owner.URI(), id)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := transcript.Replay(log, exchanges)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := transcript.Export(log, exchanges)
	if err != nil {
		t.Fatal(err)
	}
	if trace.Terminal.StateDigest != "sha256:"+replayed.Digest.String() {
		t.Errorf("the trace has the state %s, the replay %s", trace.Terminal.StateDigest, replayed.Digest)
	}
	text := fmt.Sprint(replayed.Terminal, trace.ProtocolID, trace.Terminal.State, trace.Terminal.RequiredAcknowledgements,
		trace.Terminal.ReceivedAcknowledgements, trace.Terminal.UnresolvedParticipants, trace.ObservedAt)
	for _, p := range trace.Participants {
		text += fmt.Sprint("; ", p.PrincipalRef, p.Role)
	}
	var said []string
	for _, m := range trace.Messages {
		said = append(said, fmt.Sprint("; ", m.SenderPrincipalRef, m.Kind, m.SenderSequence, m.CausationID == nil))
	}
	slices.Sort(said) // members that answer at one moment come in any order
	return text + strings.Join(said, "")
}

func TestWhatAStrangerOpensUnderTheIDOfAConversationIsNoPartOfIt(t *testing.T) {
	opens := map[string]func(t *testing.T, from, to *agent.Agent, id string) *envelope.Envelope{
		"a request that is answered": func(t *testing.T, from, to *agent.Agent, id string) *envelope.Envelope {
			h := opening(from, to, look.Name(), look.Protocol())
			h.ConversationID = id
			return seal(t, h, seatJSON)
		},
		"a request that outlasts it": func(t *testing.T, from, to *agent.Agent, id string) *envelope.Envelope {
			h := opening(from, to, book.Name(), book.Protocol())
			h.ConversationID = id
			return seal(t, h, seatJSON)
		},
		"a question for its outcome": func(t *testing.T, from, to *agent.Agent, id string) *envelope.Envelope {
			h := opening(from, to, protocol.Name{Path: "parley.outcome", Major: 1}, protocol.QueryV1)
			h.ConversationID = id
			asked, err := json.Marshal(protocol.OutcomeAsked{Conversation: id, Protocol: protocol.RequestV1})
			if err != nil {
				t.Fatal(err)
			}
			return seal(t, h, string(asked))
		},
	}
	for name, run := range map[string]func(ctx context.Context, t *testing.T, planner *agent.Agent) (id string, wait func() error){
		"a gather": func(ctx context.Context, t *testing.T, planner *agent.Agent) (string, func() error) {
			q := gathering(ctx, t, planner, []string{"ann", "bob"}, agent.GatherTerms{})
			return q.id, func() error { _, err := q.wait(); return err }
		},
		"a gather that times out": func(ctx context.Context, t *testing.T, planner *agent.Agent) (string, func() error) {
			q := gathering(ctx, t, planner, []string{"ann", "bob"}, agent.GatherTerms{}, agent.Within(3*time.Second))
			return q.id, func() error { _, err := q.wait(); return err }
		},
		"a contract net": func(ctx context.Context, t *testing.T, planner *agent.Agent) (string, func() error) {
			q := calling(ctx, t, planner, []string{"cid", "dan"}, best)
			return q.id, func() error { _, err := q.wait(); return err }
		},
		"a contract net that is cancelled": func(ctx context.Context, t *testing.T, planner *agent.Agent) (string, func() error) {
			ctx, cancel := context.WithCancel(ctx)
			q := calling(ctx, t, planner, []string{"cid", "dan"}, best)
			return q.id, func() error { cancel(); _, err := q.wait(); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ends := func(t *testing.T, open func(t *testing.T, from, to *agent.Agent, id string) *envelope.Envelope) (text string) {
				synctest.Test(t, func(t *testing.T) {
					planner := agent.New("planner", agent.Handle(look, reference), agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
						<-ctx.Done()
						return Booking{}, context.Cause(ctx)
					}))
					mallory := agent.New("mallory")
					a, c := begin(t, nil, nil, planner), begin(t, nil, nil, mallory)
					agent.Introduce(a, begin(t, nil, nil, juror("ann", after(5*time.Second, euros(1))), juror("bob", after(6*time.Second, euros(1))),
						bidder("cid", after(5*time.Second, euros(1)), by("cid")), bidder("dan", after(6*time.Second, euros(2)), never)))
					agent.Introduce(a, c)
					id, wait := run(t.Context(), t, planner)
					at(time.Second)
					if open != nil {
						e := open(t, mallory, planner, id)
						for _, r := range hand(t, a, e, token(t, c, mallory.URI(), planner.URI())) {
							if r.ReceiptKind() == envelope.Nack {
								t.Fatalf("it was answered %+v", r.Header().Error)
							}
						}
						if x := side(t, a, planner.URI(), id, mallory.URI()); x.Role != protocol.Participant {
							t.Fatalf("the stranger's exchange is %+v", x)
						}
					}
					err := wait()
					at(40 * time.Second) // the stranger's deadline is after a minute
					text = fmt.Sprint(traced(t, a, planner, id), "; ", err != nil)
				})
				return text
			}
			want := ends(t, nil)
			for name, open := range opens {
				t.Run(name, func(t *testing.T) {
					if got := ends(t, open); got != want {
						t.Errorf("with %s\n got %s\nwant %s", name, got, want)
					}
				})
			}
			if !slices.Contains([]string{"a gather", "a contract net"}, name) {
				return
			}
			if terminal := fmt.Sprint(protocol.TerminalCompleted); want[:len(terminal)] != terminal {
				t.Errorf("it ends %s", want)
			}
		})
	}
}
