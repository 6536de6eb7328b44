package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// severable is a link between a planner and another agent that can be cut.
type severable struct {
	planner *agent.Agent
	a, b    *agent.Host
	// deaf: the planner hears nothing. mute: nobody hears it.
	deaf, mute atomic.Bool
	// impatient: the planner cancels after a second.
	impatient bool
}

func severed(t *testing.T, ca, cb agent.Clock, other *agent.Agent) *severable {
	t.Helper()
	l := &severable{planner: agent.New("planner")}
	l.a, l.b = begin(t, ca, nil, l.planner), begin(t, cb, nil, other)
	there := func(*envelope.Envelope) loss {
		switch {
		case l.mute.Load():
			return theMessage
		case l.deaf.Load():
			return theAnswer
		}
		return nothing
	}
	back := func(*envelope.Envelope) loss {
		if l.deaf.Load() {
			return theMessage
		}
		return nothing
	}
	l.a.Connect(agent.PeerHost(l.b).Through(func(next agent.Transport) agent.Transport { return &lossy{Transport: next, lose: there} }))
	l.b.Connect(agent.PeerHost(l.a).Through(func(next agent.Transport) agent.Transport { return &lossy{Transport: next, lose: back} }))
	return l
}

// lost asks while the link is cut and returns the conversation, of which
// the planner then knows nothing.
func (l *severable) lost(t *testing.T, to string, opts ...agent.AskOption) string {
	t.Helper()
	x, err := agent.Start(t.Context(), l.planner, to, book, seat, append(opts, agent.Within(10*time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	if l.impatient {
		at(time.Second)
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, err = x.Wait(t.Context())
	u, ok := errors.AsType[*protocol.UnknownError](err)
	if !ok {
		t.Fatalf("Ask = %v, want that nobody knows", err)
	}
	at(time.Minute) // until nothing is sent again any more
	l.deaf.Store(false)
	l.mute.Store(false)
	return u.Conversation
}

// looked is what an outcome is.
func looked(err error) string {
	var (
		progress *protocol.InProgressError
		never    *protocol.NeverSeenError
		large    *protocol.TooLargeError
	)
	switch {
	case errors.As(err, &progress):
		return "in progress"
	case errors.As(err, &never):
		return "never seen"
	case errors.As(err, &large):
		return "too large"
	}
	kind, e := ending(err)
	return strings.TrimSpace(fmt.Sprint(kind, " ", e.Code, " ", e.Reason))
}

func TestAnOutcomeThatNobodyKnewIsTheOneThatTheOtherSideHas(t *testing.T) {
	refuse := agent.Refuse(envelope.CodeCapacity, "sold-out")
	for name, tt := range map[string]struct {
		handler func(context.Context, Seat) (Booking, error)
		mute    bool
		after   time.Duration // until the planner is not heard any more
		cancel  bool
		want    string
	}{
		"a result":         {reference, false, 0, false, "<nil>"},
		"a refusal":        {func(context.Context, Seat) (Booking, error) { return Booking{}, refuse }, false, 0, false, "refused capacity sold-out"},
		"a failure":        {func(context.Context, Seat) (Booking, error) { return Booking{}, errors.New(secret) }, false, 0, false, "failed permanent handler"},
		"a cancel":         {func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() }, false, 0, true, "cancelled"},
		"nothing":          {reference, true, 0, false, "never seen"},
		"it does not know": {func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() }, false, time.Second, false, "unknown deadline lapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				flights := answers(func(ctx context.Context, s Seat) (Booking, error) { runs.Add(1); return tt.handler(ctx, s) })
				l := severed(t, nil, nil, flights)
				l.deaf.Store(true)
				l.mute.Store(tt.mute)
				l.impatient = tt.cancel
				if tt.after > 0 {
					time.AfterFunc(tt.after, func() { l.mute.Store(true) })
				}
				id := l.lost(t, "flights")
				before, began := semantics(t, l.a, l.planner, id), runs.Load()
				for range 2 { // looking changes nothing
					out, err := agent.Outcome(t.Context(), l.planner, book, id)
					if looked(err) != tt.want || err == nil && out.Reference != "R1" {
						t.Errorf("Outcome = %v, %v, want %s", out, err, tt.want)
					}
					if end, ok := protocol.EndingOf(err); ok && (end.Conversation != id || end.Peer != flights.URI()) {
						t.Errorf("it is said of %s with %s", end.Conversation, end.Peer)
					}
				}
				if runs.Load() != began {
					t.Error("looking made the handler run")
				}
				if after := semantics(t, l.a, l.planner, id); after != before {
					t.Errorf("looking rewrote the exchange from %s to %s", before, after)
				}
			})
		})
	}
}

func TestAResultThatCameTooLateIsFoundThoughNobodyCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := severed(t, nil, nil, answers(func(context.Context, Seat) (Booking, error) {
			<-time.After(8 * time.Second)
			return Booking{Reference: "R1"}, nil
		}))
		time.AfterFunc(time.Second, func() { l.deaf.Store(true) })
		time.AfterFunc(12*time.Second, func() { l.deaf.Store(false) })
		id := l.lost(t, "flights")
		if n := l.a.Counts()["violation.deadline"]; n == 0 {
			t.Fatal("the result never came, late or not")
		}
		l.mute.Store(true)
		if out, err := agent.Outcome(t.Context(), l.planner, book, id); err != nil || out.Reference != "R1" {
			t.Errorf("Outcome = %v, %v", out, err)
		}
		// The same message means nothing to whoever asked for something else.
		other := protocol.Request[Seat, City]("acme.flight.book/v1")
		if out, err := agent.Outcome(t.Context(), l.planner, other, id); looked(err) != "failed validation schema" {
			t.Errorf("under another result: %v, %v", out, err)
		}
	})
}

func TestWhatWasNeverSeenIsRefusedFromThenOnAndItsKeyIsFree(t *testing.T) {
	for name, behind := range map[string]time.Duration{"in its time": -2 * time.Minute, "after its time": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				flights := answers(func(context.Context, Seat) (Booking, error) { runs.Add(1); return Booking{Reference: "R1"}, nil })
				l := severed(t, nil, ahead{behind}, flights)
				l.mute.Store(true)
				id := l.lost(t, "flights", agent.Key("k1"))
				if _, err := agent.Outcome(t.Context(), l.planner, book, id); looked(err) != "never seen" {
					t.Fatalf("Outcome = %v", err)
				}
				original := sentOf(t, l.a, l.planner, id)[0]
				for attempt := range 2 {
					replies := hand(t, l.b, original.Resend(2+attempt, ""), token(t, l.a, l.planner.URI(), flights.URI()))
					if behind < 0 {
						wantNack(t, replies, envelope.CodePermanent, guard.ReasonLapsed)
					} else {
						wantNack(t, replies, envelope.CodeDeadline, guard.ReasonLate)
					}
				}
				if runs.Load() != 0 {
					t.Fatal("the late original had its effect")
				}
				if _, err := agent.Outcome(t.Context(), l.planner, book, id); looked(err) != "never seen" {
					t.Errorf("after the late original: %v", err)
				}
				if out, err := agent.Ask(t.Context(), l.planner, "flights", book, seat, agent.Key("k1")); err != nil || out.Reference != "R1" || runs.Load() != 1 {
					t.Errorf("again under the key: %v, %v after %d runs", out, err, runs.Load())
				}
			})
		})
	}
}

// asksAbout is the question as another agent than the sender can put it.
var asksAbout = protocol.Query[protocol.OutcomeAsked, protocol.OutcomeAnswered[schema.Object]](protocol.OutcomeName)

func TestAStrangerLearnsNothingAndEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		flights, mallory, planner := held(release), agent.New("mallory"), agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, nil, flights)
		c := begin(t, nil, nil, mallory)
		agent.Introduce(a, b, c)
		q := ask(t, planner, "flights", look, seat)
		at(time.Second)
		about := func(of *agent.Agent, conversation string) string {
			t.Helper()
			got, err := agent.Ask(t.Context(), mallory, of.URI(), asksAbout, protocol.OutcomeAsked{Conversation: conversation, Protocol: protocol.QueryV1})
			if err != nil {
				t.Fatal(err)
			}
			got.At = time.Time{}
			return fmt.Sprintf("%+v", got)
		}
		nothing := about(flights, fresh())
		if !strings.Contains(nothing, string(protocol.OutcomeNeverSeen)) {
			t.Errorf("of a conversation that there is not: %s", nothing)
		}
		for who, got := range map[string]string{"the participant": about(flights, q.id), "the initiator": about(planner, q.id)} {
			if got != nothing {
				t.Errorf("%s told a stranger %s, want %s", who, got, nothing)
			}
		}
		if _, err := agent.Outcome(t.Context(), mallory, look, q.id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Outcome of somebody else's exchange: %v", err)
		}
		// What a stranger sends in the conversation afterwards tells it no more.
		for _, id := range []string{q.id, fresh()} {
			about(flights, id)
			h := opening(mallory, flights, look.Name(), protocol.QueryV1)
			h.ConversationID = id
			wantNack(t, hand(t, b, seal(t, h, seatJSON), token(t, c, mallory.URI(), flights.URI())), envelope.CodePermanent, guard.ReasonLapsed)
		}
		close(release)
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("the planner got %v, %v", out, err)
		}
		// A participant is no better off: what became of an exchange is its
		// initiator's to ask.
		if got, err := agent.Ask(t.Context(), flights, "planner", asksAbout, protocol.OutcomeAsked{Conversation: q.id, Protocol: protocol.QueryV1}); err != nil || got.Status != protocol.OutcomeNeverSeen {
			t.Errorf("the participant was told %+v, %v", got, err)
		}
	})
}

func TestAnExchangeThatGoesOnOrWhoseEndIsKnownIsLookedUpHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		flights := held(release)
		planner, a, b := pair(t, nil, flights)
		q := ask(t, planner, "flights", look, seat)
		at(time.Second)
		_, err := agent.Outcome(t.Context(), planner, look, q.id)
		if p, ok := errors.AsType[*protocol.InProgressError](err); !ok || !p.At.Equal(time.Now()) || p.Conversation != q.id {
			t.Errorf("of one that is live: %v", err)
		}
		close(release)
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		if out, err := agent.Outcome(t.Context(), planner, look, q.id); err != nil || out.Reference != "R1" {
			t.Errorf("of one that ended: %v, %v", out, err)
		}
		for name, err := range map[string]error{
			"under another contract": second(agent.Outcome(t.Context(), planner, book, q.id)),
			"of nothing":             second(agent.Outcome(t.Context(), planner, look, fresh())),
			"by the participant":     second(agent.Outcome(t.Context(), flights, look, q.id)),
			"with another":           second(agent.Outcome(t.Context(), planner, look, q.id, agent.Of("hotels"))),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v, want that it is not found", name, err)
			}
		}
		for _, h := range []*agent.Host{a, b} {
			for _, owner := range []*agent.Agent{planner, flights} {
				if list, err := h.Store().Conversations(t.Context(), owner.URI(), 10); err != nil || len(list) > 1 {
					t.Errorf("somebody was asked: %v, %v", list, err)
				}
			}
		}
	})
}

// Lines is a result that fills a message.
type Lines struct {
	Lines []string `json:"lines"`
}

func TestAResultThatFillsAMessageIsSaidToBeThereThoughItCannotBeToldAgain(t *testing.T) {
	long := protocol.Query[Seat, Lines]("acme.flight.log/v1")
	const each = 1003 // bytes, with its quotes and comma
	for name, tt := range map[string]struct {
		lines int
		want  string
	}{
		"nearly": {envelope.MaxContent/each - 1, "<nil>"},
		"wholly": {envelope.MaxContent / each, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := severed(t, nil, nil, agent.New("flights", agent.Handle(long, func(context.Context, Seat) (Lines, error) {
					out := Lines{Lines: make([]string, tt.lines)}
					for i := range out.Lines {
						out.Lines[i] = strings.Repeat("x", each-3)
					}
					// The last one takes what is left of a message.
					if left := envelope.MaxContent - tt.lines*each - len(`{"lines":]}`); tt.want != "<nil>" {
						out.Lines[0] += strings.Repeat("x", left)
					}
					return out, nil
				})))
				l.deaf.Store(true)
				_, err := agent.Ask(t.Context(), l.planner, "flights", long, seat, agent.Within(10*time.Second))
				u, ok := errors.AsType[*protocol.UnknownError](err)
				if !ok {
					t.Fatal(err)
				}
				at(time.Minute)
				l.deaf.Store(false)
				out, err := agent.Outcome(t.Context(), l.planner, long, u.Conversation)
				if looked(err) != tt.want || err == nil && len(out.Lines) != tt.lines {
					t.Errorf("%d lines, %v, want %s", len(out.Lines), err, tt.want)
				}
			})
		})
	}
}

func TestAnOfferAndAnAwardAreReconciledLikeAnyOtherAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			decide func(context.Context, Price) error
			want   string
		}{
			"accepted": {accept, "<nil>"},
			"rejected": {func(context.Context, Price) error { return agent.Refuse(envelope.CodeCapacity, "too-dear") }, "rejected"},
		} {
			l := severed(t, nil, nil, buyer(tt.decide))
			l.deaf.Store(true)
			err := agent.Propose(t.Context(), l.planner, "buyer", promise, Price{Euros: 5}, agent.Within(10*time.Second))
			u, ok := errors.AsType[*protocol.UnknownError](err)
			if !ok {
				t.Fatal(err)
			}
			at(time.Minute)
			l.deaf.Store(false)
			_, err = agent.Outcome(t.Context(), l.planner, promise, u.Conversation)
			if kind, _ := answered(err); kind != tt.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		var l *severable
		l = severed(t, nil, nil, bidder("ann", euros(50), func(context.Context) (Done, error) {
			l.deaf.Store(true)
			return Done{By: "ann"}, nil
		}))
		out, err := agent.CallForProposals(t.Context(), l.planner, []string{"ann"}, haul, piano,
			agent.AuctionTerms[Job, Price]{Pick: cheapest, DeliverWithin: 10 * time.Second})
		if err == nil || len(out.Delivered) != 0 {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		at(time.Minute)
		l.deaf.Store(false)
		if done, err := agent.Outcome(t.Context(), l.planner, haul, out.Conversation); err != nil || done.By != "ann" {
			t.Errorf("of the award: %v, %v", done, err)
		}
	})
}

func TestTheQuestionReachesNoModelNoLayerAndNoPlaceOfTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript()
		c := agent.New("clerk", agent.Model(script), agent.Answer(book, "Book it."), agent.Capacity(1),
			agent.Around(agent.Layer{Act: func(context.Context, agent.Act, func(context.Context, agent.Act) error) error { return nil }}))
		l := severed(t, nil, nil, c)
		l.mute.Store(true)
		id := l.lost(t, "clerk")
		if _, err := agent.Outcome(t.Context(), l.planner, book, id); looked(err) != "never seen" {
			t.Errorf("Outcome = %v", err)
		}
		if n := len(script.Requests()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

func TestAQuestionWithoutAnAnswerLeavesTheOutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := severed(t, nil, nil, answers(reference))
		l.deaf.Store(true)
		id := l.lost(t, "flights")
		l.mute.Store(true)
		_, err := agent.Outcome(t.Context(), l.planner, book, id, agent.Within(time.Second))
		if u, ok := errors.AsType[*protocol.UnknownError](err); !ok || u.Conversation != id {
			t.Errorf("Outcome = %v, want that the outcome of %s is unknown", err, id)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cancel(enough)
		if _, err := agent.Outcome(ctx, l.planner, book, id); !errors.Is(err, enough) {
			t.Errorf("under an ended context: %v", err)
		}
		l.mute.Store(false)
		if out, err := agent.Outcome(t.Context(), l.planner, book, id); err != nil || out.Reference != "R1" {
			t.Errorf("later: %v, %v", out, err)
		}
	})
}

func TestNobodyMayAnswerForTheRuntime(t *testing.T) {
	mine := protocol.Query[Seat, Booking]("parley.outcome/v1.3")
	h := agent.NewHost(quiet(open(t, t.TempDir()+"/a.db")), agent.New("flights", agent.Handle(mine, reference)))
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "parley.outcome/v1.3 is the runtime's own") {
		t.Errorf("Start = %v", err)
	}
}
