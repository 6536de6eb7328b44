package agent_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// split is a coordinator's host and one for each juror, wired by cables.
func split(t *testing.T, jurors ...*agent.Agent) (planner *agent.Agent, a *agent.Host, hosts []*agent.Host, cuts []func(bool)) {
	t.Helper()
	planner = agent.New("planner")
	a = begin(t, nil, nil, planner)
	for _, j := range jurors {
		h := begin(t, nil, nil, j)
		hosts, cuts = append(hosts, h), append(cuts, wire(a, h))
	}
	return planner, a, hosts, cuts
}

func TestAMemberThatIsCutOffAfterItsContributionBlocksTheGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _, cuts := split(t, juror("ann", euros(70)), juror("bob", after(2*time.Second, euros(50))))
		g := gathering(t.Context(), t, planner, []string{"ann", "bob"}, agent.GatherTerms{})
		at(time.Second)
		cuts[0](true)
		at(time.Second)
		closing := time.Now()
		out, err := g.wait()
		unmet(t, err, protocol.TerminalBlocked)
		if took := time.Since(closing); took != 10*time.Second {
			t.Errorf("the receipt was waited for for %v", took)
		}
		if string(out.Value) != `[{"euros":70},{"euros":50}]` || out.Terminal != protocol.TerminalBlocked || len(out.Missing) != 0 {
			t.Errorf("gathered %+v", out)
		}
		at(time.Minute)
		if got := concluded(t, a, planner, g.id); got != protocol.TerminalBlocked {
			t.Errorf("the gather ended %s", got)
		}
		if got := side(t, a, planner.URI(), g.id, uri("ann")).State; got != "done:blocked" {
			t.Errorf("the exchange with the member ended %s", got)
		}
	})
}

func TestAMemberThatNeverGotTheRequestGetsTheFence(t *testing.T) {
	for name, held := range map[string]bool{"it was lost": false, "it was never sent": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner")
				disk := &holding{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}
				disk.held.Store(held)
				ann := juror("ann", func(context.Context) (Price, error) { t.Error("the handler ran"); return Price{}, nil })
				a, b := begin(t, nil, disk, planner), begin(t, nil, nil, ann)
				agent.Introduce(a, b)
				// The first send is never answered, and tried again after the deadline.
				out := &lossy{lose: none}
				if !held {
					out.lose = first(envelope.Request, silence)
				}
				a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { out.Transport = next; return out }))
				g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{}, agent.Within(3*time.Second))
				at(4 * time.Second)
				disk.held.Store(false)
				_, err := g.wait()
				unmet(t, err, protocol.TerminalTimedOut, ann.URI())
				at(time.Minute)
				fences := logged(t, b, ann.URI(), g.id, "?fence")
				if len(fences) != 1 || noteOf(t, fences[0]).Yours != protocol.ShareMissing {
					t.Fatalf("the member was told %v", fences)
				}
				if opening := logged(t, a, planner.URI(), g.id, "!request")[0]; fences[0].InReplyTo() != opening.ID() {
					t.Errorf("the fence answers %s, want the opening act", fences[0].InReplyTo())
				}
				if got := side(t, b, ann.URI(), g.id, planner.URI()).State; got != "done:closed" {
					t.Errorf("the member ended %s", got)
				}
				if got := concluded(t, a, planner, g.id); got != protocol.TerminalTimedOut {
					t.Errorf("the gather ended %s", got)
				}
			})
		})
	}
}

func TestAFenceThatComesAgainIsAcknowledgedByTheSameReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ann := juror("ann", euros(70))
		planner, a, b := pair(t, nil, ann)
		g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{})
		if _, err := g.wait(); err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		fence := logged(t, a, planner.URI(), g.id, "!fence")[0]
		ack := logged(t, a, planner.URI(), g.id, "?ack")[0]
		before := len(logOf(t, b, ann, g.id))
		for range 2 {
			replies := hand(t, b, fence, token(t, a, planner.URI(), ann.URI()))
			if len(replies) != 1 || replies[0].ReceiptKind() != envelope.Ack || replies[0].Digest() != ack.Digest() {
				t.Fatalf("answered with %v, want the receipt %s", replies, ack.ID())
			}
		}
		if after := logOf(t, b, ann, g.id); len(after) != before {
			t.Errorf("the member's log grew to %v", after)
		}
	})
}

func TestALostReceiptOfTheFenceIsProvokedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ann := juror("ann", euros(70))
		lost := false
		there := func(e *envelope.Envelope) loss {
			if e.Header().Fence == nil || lost {
				return nothing
			}
			lost = true
			return theAnswer
		}
		planner, _, a, b := lossyPair(t, there, none, ann)
		out, err := agent.Gather(t.Context(), planner, []string{"ann"}, opinion, piano, agent.GatherTerms{})
		if err != nil || !lost {
			t.Fatalf("Gather = %+v, %v", out, err)
		}
		at(time.Minute)
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
			t.Errorf("the gather ended %s", got)
		}
		theirs, ours := logged(t, b, ann.URI(), out.Conversation, "!ack"), logged(t, a, planner.URI(), out.Conversation, "?ack")
		if len(theirs) != 1 || len(ours) != 1 || theirs[0].Digest() != ours[0].Digest() {
			t.Errorf("acknowledged by %v, heard as %v", theirs, ours)
		}
	})
}

func TestWhatIsNoContributionLeavesTheGatherAsItWas(t *testing.T) {
	contribution := func(h *agent.Host, t *testing.T, opening *envelope.Envelope, seq int64) envelope.Header {
		r := answering(h, t, opening, envelope.Inform, seq)
		r.Schema, r.Status, r.Gather = opinion.Name().Contribution(), envelope.Partial, &envelope.Gather{ID: opening.Header().Gather.ID}
		return r
	}
	for name, tt := range map[string]struct {
		change func(*envelope.Header)
		// from sends it, wait is when: after the fence if it is long.
		from    string
		seq     int64
		wait    time.Duration
		code    envelope.Code
		reason  string
		content string
	}{
		"a second one": {func(*envelope.Header) {}, "ann", 2, time.Second, envelope.CodePermanent, "illegal-transition", `{"euros":1}`},
		"an abstention after it": {func(h *envelope.Header) {
			h.Performative, h.Status, h.Schema, h.Error = envelope.Refuse, "", protocol.RefusalSchema, envelope.NewError(envelope.CodePermanent, "changed-my-mind")
		}, "ann", 2, time.Second, envelope.CodePermanent, "illegal-transition", `{}`},
		"one of no member":      {func(*envelope.Header) {}, "dan", 1, time.Second, envelope.CodePermanent, guard.ReasonMismatch, `{"euros":1}`},
		"one to another gather": {func(h *envelope.Header) { h.Gather.ID = fresh() }, "bob", 1, time.Second, envelope.CodePermanent, guard.ReasonMismatch, `{"euros":1}`},
		"one of another shape":  {func(*envelope.Header) {}, "bob", 1, time.Second, envelope.CodeValidation, guard.ReasonSchema, `{"euros":-1}`},
		"one to nothing":        {func(h *envelope.Header) { h.InReplyTo = fresh() }, "bob", 1, time.Second, envelope.CodePermanent, guard.ReasonMismatch, `{"euros":1}`},
		"one after the end":     {func(*envelope.Header) {}, "ann", 2, 10 * time.Second, envelope.CodePermanent, guard.ReasonPostTerminal, `{"euros":1}`},
		"a fence of a member": {func(h *envelope.Header) {
			h.Status, h.Schema, h.Fence = envelope.Final, protocol.FenceSchema, &envelope.Fence{ID: fresh(), Proposed: "COMPLETED"}
		}, "bob", 1, time.Second, envelope.CodePermanent, "wrong-role", `{"counts":{"abstained":0,"contributed":0,"dissented":0,"members":3,"missing":3},"gather":"x","proposed":"COMPLETED","value_digest":"","yours":"missing"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, b := pair(t, nil, juror("ann", euros(70)), juror("bob", after(5*time.Second, euros(50))), juror("cid", after(5*time.Second, euros(60))), juror("dan", euros(1)))
				g := gathering(t.Context(), t, planner, jurors, agent.GatherTerms{})
				at(tt.wait)
				states := func() (list []protocol.State) {
					for _, m := range []string{"ann", "bob", "cid"} {
						list = append(list, side(t, a, planner.URI(), g.id, uri(m)).State)
					}
					return list
				}
				before := states()
				var opening *envelope.Envelope
				for _, e := range logged(t, a, planner.URI(), g.id, "!request") {
					if e.Receiver() == uri(tt.from) || tt.from == "dan" {
						opening = e
					}
				}
				h := contribution(b, t, opening, tt.seq)
				h.Sender = uri(tt.from)
				tt.change(&h)
				wantNack(t, hand(t, a, seal(t, h, tt.content), token(t, b, uri(tt.from), planner.URI())), tt.code, tt.reason)
				if after := states(); !slices.Equal(after, before) {
					t.Errorf("the members' states went from %v to %v", before, after)
				}
				if list, err := a.Store().Exchanges(t.Context(), planner.URI(), g.id); err != nil || len(list) != 3 {
					t.Errorf("exchanges %v, %v", list, err)
				}
				out, _ := g.wait()
				for _, c := range append(out.Contributions, out.Dissent...) {
					if c.Value.Euros == 1 || c.Value.Euros == -1 {
						t.Errorf("it was counted: %+v", c)
					}
				}
				at(time.Minute)
				concluded(t, a, planner, g.id)
			})
		})
	}
}

func TestAContributionThatComesAfterTheDeadlineChangesNothingAndIsCalledLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, ann := agent.New("planner"), juror("ann", after(time.Second, euros(70)))
		disk := &deaf{holding{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}}
		a, b := begin(t, nil, disk, planner), begin(t, nil, nil, ann)
		cut := wire(a, b)
		g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{}, agent.Within(10*time.Second))
		at(500 * time.Millisecond)
		cut(true)
		disk.held.Store(true)
		at(12 * time.Second)
		contribution := logged(t, b, ann.URI(), g.id, "!inform~")[0]
		wantNack(t, hand(t, a, contribution, token(t, b, ann.URI(), planner.URI())), envelope.CodeDeadline, guard.ReasonLate)
		disk.held.Store(false)
		cut(false)
		out, err := g.wait()
		unmet(t, err, protocol.TerminalTimedOut, ann.URI())
		if string(out.Value) != "[]" || len(out.Contributions) != 0 {
			t.Errorf("gathered %+v", out)
		}
		at(time.Minute)
		if got := concluded(t, a, planner, g.id); got != protocol.TerminalTimedOut {
			t.Errorf("the gather ended %s", got)
		}
		note := noteOf(t, logged(t, b, ann.URI(), g.id, "?fence")[0])
		if note.Yours != protocol.ShareLate || note.Counts != (protocol.FenceCounts{Members: 1, Missing: 1}) {
			t.Errorf("the member was told %+v", note)
		}
	})
}

// deaf is a store whose timers do not fire and whose messages do not leave
// while it is held.
type deaf struct{ holding }

func (d *deaf) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	due, err := d.Store.Due(ctx, owners, now, limit)
	if d.held.Load() {
		due = store.Due{Next: now.Add(time.Second)}
	}
	return due, err
}
