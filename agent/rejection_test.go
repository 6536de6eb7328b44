package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
	"github.com/parley-agents/parley/transcript"
)

// theatre is a planner and an agent that answers a contract of every protocol,
// once it is let, each on a host of its own.
type theatre struct {
	planner, ann *agent.Agent
	a, b         *agent.Host
	cut          func(bool)
	let          chan struct{}
	picked       chan struct{}
}

func stageIn(t *testing.T) *theatre {
	s := &theatre{planner: agent.New("planner"), let: make(chan struct{}), picked: make(chan struct{})}
	held := func(ctx context.Context) error {
		select {
		case <-s.let:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	answer := func(ctx context.Context, _ Seat) (Booking, error) { return Booking{"R1"}, held(ctx) }
	s.ann = agent.New("ann", agent.Handle(book, answer), agent.Handle(look, answer),
		agent.Publish(ticks, func(ctx context.Context, _ Job, _ func(Tick) error) error { return held(ctx) }),
		agent.Consider(promise, func(ctx context.Context, _ Price) error { return held(ctx) }),
		agent.Contribute(opinion, func(ctx context.Context, _ Job) (Price, error) { return Price{1}, held(ctx) }),
		agent.Bid(haul, func(context.Context, Job) (Price, error) { return Price{1}, nil },
			func(ctx context.Context, _ Job, _ Price) (Done, error) { return Done{"ann"}, held(ctx) }))
	other := agent.New("bob")
	s.a, s.b = begin(t, nil, memory.New(), s.planner, agent.New("eve")), begin(t, nil, memory.New(), s.ann, other)
	s.cut = wire(s.a, s.b)
	return s
}

// within is how long the exchanges of these tests have.
const within = 20 * time.Second

// opens lets the planner open a conversation and returns once ann is at it.
func (s *theatre) opens(t *testing.T, proto string) (id string) {
	t.Helper()
	opened := make(chan string, 1)
	opts := []agent.AskOption{agent.Within(within), agent.Opened(func(c string) { opened <- c })}
	ctx := context.WithoutCancel(t.Context())
	go func() {
		switch proto {
		case protocol.RequestV1:
			agent.Ask(ctx, s.planner, "ann", book, seat, opts...)
		case protocol.QueryV1:
			agent.Ask(ctx, s.planner, "ann", look, seat, opts...)
		case protocol.SubscribeV1:
			for range agent.Subscribe(ctx, s.planner, "ann", ticks, piano, opts...) {
			}
		case protocol.ProposeV1:
			agent.Propose(ctx, s.planner, "ann", promise, Price{1}, opts...)
		case protocol.GatherV1:
			agent.Gather(ctx, s.planner, []string{"ann"}, opinion, piano, agent.GatherTerms{}, opts...)
		case protocol.ContractNetV1:
			agent.CallForProposals(ctx, s.planner, []string{"ann"}, haul, piano, agent.AuctionTerms[Job, Price]{
				Pick: func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
					<-s.picked
					return bids, nil
				}}, opts...)
		}
	}()
	id = <-opened
	at(200 * time.Millisecond) // agree has been sent where the runtime sends it
	return id
}

// voice is one side of a conversation that a test speaks for: what it says goes
// to the other, the hearer.
type voice struct {
	*theatre
	proto, id       string
	own, host       *agent.Host
	speaker, hearer *agent.Agent
}

func (s *theatre) speakAs(role protocol.Role, proto, id string) voice {
	if role == protocol.Participant {
		return voice{s, proto, id, s.b, s.a, s.ann, s.planner}
	}
	return voice{s, proto, id, s.a, s.b, s.planner, s.ann}
}

var (
	opened = map[string]agent.Contract{protocol.RequestV1: book, protocol.QueryV1: look, protocol.SubscribeV1: ticks, protocol.ProposeV1: promise,
		protocol.ContractNetV1: haul, protocol.GatherV1: opinion}
	inputs = map[string]string{protocol.RequestV1: seatJSON, protocol.QueryV1: seatJSON, protocol.SubscribeV1: `{"task":"x"}`, protocol.ProposeV1: `{"euros":1}`,
		protocol.ContractNetV1: `{"task":"x"}`, protocol.GatherV1: `{"task":"x"}`}
	outputs = map[string]string{protocol.RequestV1: bookingJSON, protocol.QueryV1: bookingJSON, protocol.SubscribeV1: `{}`, protocol.ProposeV1: `{}`,
		protocol.ContractNetV1: `{"by":"ann"}`, protocol.GatherV1: `{"euros":1}`}
	partials = map[string]string{protocol.SubscribeV1: `{"n":1}`, protocol.GatherV1: `{"euros":1}`}
)

// says makes the voice's next act well formed in all that the changes leave
// alone: only its place in the conversation may be wrong.
func (v voice) says(t *testing.T, what string, changes ...func(*envelope.Header)) *envelope.Envelope {
	t.Helper()
	x := exchangeOf(t, v.host, v.hearer, v.id).State
	asked := logged(t, v.a, v.planner.URI(), v.id, "!"+protocol.Event(map[string]string{protocol.ContractNetV1: "cfp", protocol.ProposeV1: "propose"}[v.proto]))
	if v.proto != protocol.ContractNetV1 && v.proto != protocol.ProposeV1 {
		asked = logged(t, v.a, v.planner.URI(), v.id, "!request")
	}
	opening := asked[0].Header()
	name := opened[v.proto].Name()
	h := answering(v.own, t, asked[0], envelope.Performative(what), x.Received+1)
	h.Sender, h.Receiver, h.Actor = v.speaker.URI(), v.hearer.URI(), v.speaker.URI()
	h.Labels.Readers = []string{v.hearer.URI()}
	if len(x.Asked) > 0 {
		h.InReplyTo = x.Asked[len(x.Asked)-1]
	}
	content := "{}"
	switch what {
	case "request", "cfp":
		h.InReplyTo, h.Schema, content = "", name.Input(), inputs[v.proto]
		h.ReplyBy, h.IdempotencyKey, h.Gather, h.Group = opening.ReplyBy, opening.IdempotencyKey, opening.Gather, opening.Group
	case "propose":
		h.Schema, content = name.Bid(), `{"euros":1}`
		h.ReplyBy, h.IdempotencyKey = opening.ReplyBy, "k"
		if v.proto == protocol.ProposeV1 {
			h.InReplyTo, h.Schema = "", name.Input()
		}
	case "agree":
		if v.proto == protocol.ContractNetV1 {
			h.ReplyBy, h.IdempotencyKey = opening.ReplyBy, "k"
		}
	case "refuse":
		h.Schema, h.Error = protocol.RefusalSchema, envelope.NewError(envelope.CodePermanent, "policy")
	case "cancel":
		h.InReplyTo = asked[0].ID()
	case "inform":
		h.Schema, content = name.Result(), outputs[v.proto]
	case "inform~":
		h.Performative, h.Status, h.Schema, content = envelope.Inform, envelope.Partial, name.Item(), partials[v.proto]
		if v.proto == protocol.GatherV1 {
			h.Schema = name.Contribution()
		}
	case "inform.c":
		h.Performative, h.Status, h.Schema = envelope.Inform, envelope.Cancelled, protocol.CancelSchema
	}
	if v.proto == protocol.GatherV1 && h.Performative == envelope.Inform {
		h.Gather = &envelope.Gather{ID: opening.Gather.ID}
	}
	if v.proto == protocol.RequestV1 && what == "request" && h.IdempotencyKey == "" {
		h.IdempotencyKey = "k"
	}
	for _, change := range changes {
		change(&h)
	}
	return seal(t, h, content)
}

// digest is the semantic state of the hearer's side of the conversation.
func (v voice) digest(t *testing.T) envelope.Digest {
	t.Helper()
	rows, err := v.host.Store().Exchanges(context.WithoutCancel(t.Context()), v.hearer.URI(), v.id)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := transcript.Replay(conversation(t, v.host, v.hearer, v.id), rows)
	if err != nil {
		t.Fatal(err)
	}
	return replayed.Digest
}

// verdict is what a refused message must be answered with.
type verdict struct {
	rule    string
	code    envelope.Code
	reason  string
	pointer string
}

// refused hands the message over and checks the receipt, the state and the
// count.
func (v voice) refused(t *testing.T, e *envelope.Envelope, token string, want verdict) {
	t.Helper()
	before, counted := v.digest(t), v.host.Counts()
	for range 2 { // a second time it is no different
		told := wantNack(t, hand(t, v.host, e, token), want.code, want.reason)
		pointer := ""
		if told.Detail != nil {
			pointer = told.Detail.Pointer
		}
		if told.Retriable != (want.code == envelope.CodeTransient) {
			t.Errorf("retriable is %t", told.Retriable)
		}
		if pointer != want.pointer {
			t.Errorf("the pointer is %q, want %q", pointer, want.pointer)
		}
		if want.rule == "legality" || want.rule == "deadline" {
			want.pointer = "" // the stored answer says less
		}
	}
	if v.digest(t) != before {
		t.Error("the state has another digest")
	}
	for rule, n := range v.host.Counts() {
		if grew := n - counted[rule]; grew > 0 && rule != "violation."+want.rule && rule != "duplicate" {
			t.Errorf("%s was counted %d times", rule, grew)
		}
	}
	if v.host.Counts()["violation."+want.rule] == counted["violation."+want.rule] {
		t.Errorf("violation.%s was not counted: %v", want.rule, v.host.Counts())
	}
}

func (v voice) token(t *testing.T) string {
	return token(t, v.own, v.speaker.URI(), v.hearer.URI())
}

// line is what one side may and may not say while the other waits.
type line struct {
	proto, speaker string
	// legal may be said in that state, illegal may not, and wrong by nobody of
	// that role.
	legal, illegal, wrong string
	// young: the hearer has accepted nothing of the speaker yet.
	young bool
}

var lines = []line{
	{protocol.RequestV1, "participant", "inform", "agree", "request", false},
	{protocol.RequestV1, "initiator", "cancel", "request", "agree", false},
	{protocol.QueryV1, "participant", "inform", "agree", "request", false},
	{protocol.QueryV1, "initiator", "cancel", "request", "agree", false},
	{protocol.SubscribeV1, "participant", "inform~", "agree", "request", false},
	{protocol.SubscribeV1, "initiator", "cancel", "request", "agree", false},
	{protocol.ProposeV1, "participant", "agree", "inform", "propose", true},
	{protocol.ProposeV1, "initiator", "cancel", "propose", "request", false},
	{protocol.ContractNetV1, "participant", "cancel", "propose", "cfp", false},
	{protocol.ContractNetV1, "initiator", "refuse", "cfp", "inform", false},
	{protocol.GatherV1, "participant", "inform~", "inform.c", "inform", true},
	{protocol.GatherV1, "initiator", "cancel", "request", "cfp", false},
}

// play runs f for each protocol and each side that can speak out of turn.
func play(t *testing.T, f func(t *testing.T, v voice, legal, illegal, wrong string, young bool)) {
	t.Helper()
	for _, l := range lines {
		t.Run(l.proto+" "+l.speaker, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stageIn(t)
				defer s.finish()
				v := s.speakAs(protocol.Role(l.speaker), l.proto, s.opens(t, l.proto))
				f(t, v, l.legal, l.illegal, l.wrong, l.young)
			})
		})
	}
}

// finish lets everything end.
func (s *theatre) finish() {
	s.cut(false)
	for _, c := range []chan struct{}{s.let, s.picked} {
		select {
		case <-c:
		default:
			close(c)
		}
	}
	at(time.Minute)
}

func TestAnIllegalActIsRefusedInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, _, illegal, _ string, _ bool) {
		v.refused(t, v.says(t, illegal), v.token(t), verdict{"legality", envelope.CodePermanent, "illegal-transition", "/performative"})
	})
}

func TestAnActOfTheWrongRoleIsRefusedInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, _, _, wrong string, _ bool) {
		v.refused(t, v.says(t, wrong), v.token(t), verdict{"legality", envelope.CodePermanent, "wrong-role", "/performative"})
	})
}

func TestAnActOfSomebodyElseIsRefusedInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, legal, _, _ string, _ bool) {
		stranger := map[string]string{v.planner.URI(): uri("eve"), v.ann.URI(): uri("bob")}[v.speaker.URI()]
		pass := token(t, v.own, stranger, v.hearer.URI())
		denied := verdict{rule: "identity", code: envelope.CodeAuth}
		v.refused(t, v.says(t, legal), pass, denied) // under the speaker's name
		v.refused(t, v.says(t, legal), "", denied)
		if legal == "cancel" {
			return // anybody may cancel what he has never opened, with himself
		}
		own := v.says(t, legal, func(h *envelope.Header) { h.Sender, h.Actor, h.Seq = stranger, stranger, 1 })
		v.refused(t, own, pass, verdict{"correlation", envelope.CodePermanent, guard.ReasonMismatch, "/conversation_id"})
	})
}

func TestAnotherGenerationIsStaleInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, legal, _, _ string, young bool) {
		if young {
			return // nothing was heard that it could differ from
		}
		for _, by := range []int64{-1, 1} {
			e := v.says(t, legal, func(h *envelope.Header) { h.SenderGeneration += by })
			v.refused(t, e, v.token(t), verdict{"generation", envelope.CodePermanent, guard.ReasonStaleGeneration, "/sender_generation"})
		}
	})
}

func TestAGapIsToldInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, legal, illegal, _ string, _ bool) {
		if legal == "cancel" {
			legal = illegal // a cancel may leave a gap
		}
		e := v.says(t, legal, func(h *envelope.Header) { h.Seq++ })
		v.refused(t, e, v.token(t), verdict{"sequence", envelope.CodeTransient, guard.ReasonSequenceGap, "/seq"})
	})
}

func TestWhatComesTooLateIsRefusedInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, legal, illegal, _ string, _ bool) {
		late := verdict{"deadline", envelope.CodeDeadline, guard.ReasonLate, "/reply_by"}
		if v.proto == protocol.ContractNetV1 { // a proposal and an award have a deadline of their own
			ago, act := 16*time.Second, "propose" // the last word is heard for longer
			if v.speaker == v.planner {
				ago, act = guard.Skew, "agree"
			}
			e := v.says(t, act, func(h *envelope.Header) { h.ReplyBy = h.Timestamp.Add(-ago - time.Millisecond) })
			v.refused(t, e, v.token(t), late)
			return
		}
		v.cut(true)
		if legal == "cancel" {
			at(within + 16*time.Second + time.Millisecond)
		} else {
			at(within + guard.Skew + time.Millisecond)
		}
		v.refused(t, v.says(t, legal), v.token(t), late)
	})
}

func TestWhatComesAfterTheEndIsRefusedInEveryProtocol(t *testing.T) {
	play(t, func(t *testing.T, v voice, legal, illegal, _ string, _ bool) {
		close(v.picked)
		close(v.let)
		at(time.Second)
		if x := exchangeOf(t, v.host, v.hearer, v.id).State; !x.Done() {
			t.Fatalf("the exchange is in %q", x.State)
		}
		if legal == "cancel" {
			legal = illegal // a cancel that comes too late is absorbed
		}
		v.refused(t, v.says(t, legal), v.token(t), verdict{"legality", envelope.CodePermanent, guard.ReasonPostTerminal, "/performative"})
	})
}

func TestRefusedMessagesLeaveTheExchangeToItsGoodEnd(t *testing.T) {
	play(t, func(t *testing.T, v voice, _, _, wrong string, _ bool) {
		for range 3 {
			e := v.says(t, wrong, func(h *envelope.Header) { h.Seq += 5 }) // what is refused so consumes nothing
			wantNack(t, hand(t, v.host, e, v.token(t)), envelope.CodeTransient, guard.ReasonSequenceGap)
		}
		v.finish()
		for _, x := range []protocol.Exchange{exchangeOf(t, v.a, v.planner, v.id).State, exchangeOf(t, v.b, v.ann, v.id).State} {
			if err := x.Err(); err != nil || !x.Done() {
				t.Errorf("%s is in %q: %v", x.Owner, x.State, err)
			}
		}
	})
}
