package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestWhoeverDoesNotProveToBeTheSenderIsToldNothingAndLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, mallory, stranger := agent.New("planner"), agent.New("mallory"), agent.New("planner")
		flights := answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		a, b := begin(t, nil, nil, planner, mallory), begin(t, nil, nil, flights)
		elsewhere := agent.NewHost(agent.Config{Store: open(t, t.TempDir()+"/c.db"), Authority: "elsewhere"}, stranger)
		if err := elsewhere.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer elsewhere.Stop(context.Background())
		agent.Introduce(a, b, elsewhere)
		own := token(t, a, planner.URI(), flights.URI())
		for name, tt := range map[string]struct {
			from  *agent.Agent
			token string
		}{
			"no token":                          {planner, ""},
			"the token of another agent":        {planner, token(t, a, mallory.URI(), flights.URI())},
			"a token for another receiver":      {planner, token(t, a, planner.URI(), mallory.URI())},
			"a token with a changed claim":      {planner, own[:len(own)/2] + flip(own[len(own)/2]) + own[len(own)/2+1:]},
			"a good token of another tenant":    {stranger, token(t, elsewhere, stranger.URI(), flights.URI())},
			"a sender that nobody knows":        {agent.New("nobody"), own},
			"another agent under its own token": {mallory, own},
		} {
			t.Log(name)
			before := b.Counts()["violation.identity"]
			from := tt.from
			h := opening(planner, flights, book.Name(), book.Protocol())
			if from != planner {
				h.Sender = from.URI()
				if h.Sender == "" {
					h.Sender = "agent://local/nobody"
				}
			}
			e := seal(t, h, seatJSON)
			told := wantNack(t, hand(t, b, e, tt.token), envelope.CodeAuth, "")
			if told.Detail != nil || told.RetryAfter != 0 {
				t.Errorf("the stranger was told %+v", told)
			}
			if log := logOf(t, b, flights, e.Conversation()); len(log) != 0 {
				t.Errorf("the log holds %v", log)
			}
			k := store.Key{Owner: flights.URI(), Conversation: e.Conversation(), Peer: e.Sender()}
			if _, err := b.Store().Exchange(t.Context(), k); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the exchange exists: %v", err)
			}
			if _, err := b.Store().Inbox(t.Context(), store.InboxKey{Recipient: flights.URI(), Sender: e.Sender(), MessageID: e.ID()}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the inbox row exists: %v", err)
			}
			if got := b.Counts()["violation.identity"]; got != before+1 {
				t.Errorf("counted %d, want %d", got, before+1)
			}
		}
	})
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func TestAMessageForNobodyHereIsTheCarriersError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, b := pair(t, nil, answers(reference))
		h := opening(planner, planner, book.Name(), book.Protocol())
		h.Receiver = "agent://local/hotels"
		e := seal(t, h, seatJSON)
		if _, err := b.Deliver(t.Context(), e.Resend(1, token(t, a, planner.URI(), h.Receiver)).Bytes()); !errors.Is(err, agent.ErrUnknownPeer) {
			t.Errorf("Deliver = %v, want ErrUnknownPeer", err)
		}
		for name, data := range map[string]string{"no bytes": "", "no JSON": "hello", "no object": "[]", "no sender": "{}",
			"a receiver elsewhere": `{"sender":"agent://local/planner","receiver":"agent://local/hotels"}`} {
			if _, err := b.Deliver(t.Context(), []byte(data)); !errors.Is(err, agent.ErrUnreadable) {
				t.Errorf("%s: Deliver = %v, want ErrUnreadable", name, err)
			}
		}
	})
}

func TestAMalformedEnvelopeWithAReadableSenderIsAnsweredWithAPointer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		planner, a, b := pair(t, nil, flights)
		good := seal(t, opening(planner, flights, book.Name(), book.Protocol()), seatJSON).Resend(1, token(t, a, planner.URI(), flights.URI())).Bytes()
		for pointer, mend := range map[string]func(map[string]any){
			"/reply_by":        func(m map[string]any) { delete(m, "reply_by") },
			"/idempotency_key": func(m map[string]any) { delete(m, "idempotency_key") },
			"/content_digest":  func(m map[string]any) { m["content"] = map[string]any{"flight": "AY122"} },
			"/performative":    func(m map[string]any) { m["performative"] = "demand" },
			"/seq":             func(m map[string]any) { m["seq"] = -1 },
			"/urgent":          func(m map[string]any) { m["urgent"] = true },
		} {
			var tree map[string]any
			if err := json.Unmarshal(good, &tree); err != nil {
				t.Fatal(err)
			}
			mend(tree)
			data, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			told := wantNack(t, handBytes(t, b, data), envelope.CodeValidation, guard.ReasonMalformed)
			if told.Detail == nil || told.Detail.Pointer != pointer {
				t.Errorf("told %+v, want a pointer to %s", told.Detail, pointer)
			}
		}
		if live, err := b.Store().Exchanges(t.Context(), flights.URI(), ""); err != nil || len(live) != 0 {
			t.Errorf("exchanges %v, %v; want none", live, err)
		}
	})
}

// working is a planner whose request flights works on until the test says
// so; what the flights send is lost unless heard.
type working struct {
	planner, flights *agent.Agent
	a, b             *agent.Host
	q                *asking[Booking]
	request          *envelope.Envelope
	runs             atomic.Int32
	finish           func()
}

func work(t *testing.T, c protocol.Contract[Seat, Booking], back func(*envelope.Envelope) loss, opts ...agent.AskOption) *working {
	t.Helper()
	w := &working{}
	release := make(chan struct{})
	w.finish = func() { close(release) }
	w.flights = answers(func(ctx context.Context, _ Seat) (Booking, error) {
		w.runs.Add(1)
		select {
		case <-release:
			return Booking{Reference: "R1"}, nil
		case <-ctx.Done():
			return Booking{}, ctx.Err()
		}
	})
	w.planner, _, w.a, w.b = lossyPair(t, none, back, w.flights)
	w.q = ask(t, w.planner, "flights", c, seat, opts...)
	synctest.Wait()
	w.request = sentOf(t, w.a, w.planner, w.q.id)[0]
	return w
}

// toPlanner delivers what the flights are made to say.
func (w *working) toPlanner(t *testing.T, e *envelope.Envelope) []*envelope.Envelope {
	return hand(t, w.a, e, token(t, w.b, w.flights.URI(), w.planner.URI()))
}

func (w *working) toFlights(t *testing.T, e *envelope.Envelope) []*envelope.Envelope {
	return hand(t, w.b, e, token(t, w.a, w.planner.URI(), w.flights.URI()))
}

const bookingJSON = `{"reference":"FORGED"}`

func TestAnActThatTheTableDoesNotAllowIsRefusedAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		before := semantics(t, w.a, w.planner, w.q.id)
		// An inform without agree is no move of request/v1.
		inform := seal(t, answering(w.b, t, w.request, envelope.Inform, 1), bookingJSON)
		wantNack(t, w.toPlanner(t, inform), envelope.CodePermanent, "illegal-transition")
		if after := semantics(t, w.a, w.planner, w.q.id); after != before {
			t.Errorf("the illegal act changed the exchange from %s to %s", before, after)
		}
		if got := w.a.Counts()["violation.legality"]; got != 1 {
			t.Errorf("counted %d, want 1: %v", got, w.a.Counts())
		}
		if w.q.ended() {
			t.Errorf("Ask has returned %v", w.q.err)
		}
		log := logOf(t, w.a, w.planner, w.q.id)
		if last := log[len(log)-1]; last.Kind != store.Rejected || last.Reason != "illegal-transition" || last.From != "requested" || last.To != "requested" {
			t.Errorf("it is logged as %s (%s) %s→%s", last.Kind, last.Reason, last.From, last.To)
		}
		// Sent again, it gets the same answer; it has used up its number, so the exchange goes on with the next.
		wantNack(t, w.toPlanner(t, inform.Resend(2, "")), envelope.CodePermanent, "illegal-transition")
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Agree, 2), "{}")))
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Inform, 3), `{"reference":"R9"}`)))
		if out, err := w.q.wait(); err != nil || out.Reference != "R9" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		w.finish()
	})
}

func TestAnActOfTheWrongRoleIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, none)
		at(200 * time.Millisecond)
		sent := sentOf(t, w.b, w.flights, w.q.id)
		before := semantics(t, w.b, w.flights, w.q.id)
		inform := seal(t, answering(w.a, t, sent[0], envelope.Inform, 2), bookingJSON)
		wantNack(t, w.toFlights(t, inform), envelope.CodePermanent, "wrong-role")
		if after := semantics(t, w.b, w.flights, w.q.id); after != before {
			t.Errorf("the act changed the exchange from %s to %s", before, after)
		}
		w.finish()
		if out, err := w.q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

func TestAGapIsToldAndStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		before := len(logOf(t, w.a, w.planner, w.q.id))
		agree := seal(t, answering(w.b, t, w.request, envelope.Agree, 2), "{}")
		told := wantNack(t, w.toPlanner(t, agree), envelope.CodeTransient, guard.ReasonSequenceGap)
		if !told.Retriable || told.RetryAfter == 0 {
			t.Errorf("told %+v, want a time to try again", told)
		}
		if after := len(logOf(t, w.a, w.planner, w.q.id)); after != before {
			t.Errorf("the log grew from %d to %d", before, after)
		}
		if x := exchangeOf(t, w.a, w.planner, w.q.id).State; x.Received != 0 || x.State != "requested" {
			t.Errorf("the exchange is at %d in %q", x.Received, x.State)
		}
		w.finish()
	})
}

func TestAnAnswerToAMessageThatWasNeverSentDoesNotMoveTheSequencePastAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		h := answering(w.b, t, w.request, envelope.Agree, 5)
		h.InReplyTo = fresh()
		if replies := w.toPlanner(t, seal(t, h, "{}")); len(replies) != 1 || replies[0].ReceiptKind() != envelope.Nack {
			t.Fatalf("answers %v, want one nack", replies)
		}
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Agree, 1), "{}")))
		w.finish()
	})
}

func TestTwoMessagesUnderOneIDOrNumberAreEquivocationAndTheFirstStands(t *testing.T) {
	for name, change := range map[string]func(*envelope.Header){
		"the same message id":  func(h *envelope.Header) { h.Salt[0] ^= 1 },
		"a second opening act": func(h *envelope.Header) { h.MessageID = fresh() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := work(t, book, none)
				at(200 * time.Millisecond)
				before := semantics(t, w.b, w.flights, w.q.id)
				h := w.request.Header()
				change(&h)
				h.ContentDigest = ""
				wantNack(t, w.toFlights(t, seal(t, h, seatJSON)), envelope.CodePermanent, guard.ReasonEquivocation)
				if after := semantics(t, w.b, w.flights, w.q.id); after != before {
					t.Errorf("the second message changed the exchange from %s to %s", before, after)
				}
				if got := w.b.Counts()["violation.equivocation"]; got != 1 {
					t.Errorf("counted %d, want 1", got)
				}
				// The first message is still what it was.
				again := w.toFlights(t, w.request.Resend(2, ""))
				if len(again) != 1 || again[0].Act() != envelope.Agree {
					t.Errorf("a duplicate of the first is answered with %v, want its stored agree", again)
				}
				w.finish()
				if out, err := w.q.wait(); err != nil || out.Reference != "R1" || w.runs.Load() != 1 {
					t.Errorf("Ask = %v, %v after %d runs", out, err, w.runs.Load())
				}
			})
		})
	}
}

func TestAnotherGenerationOfTheSenderIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Agree, 1), "{}")))
		h := answering(w.b, t, w.request, envelope.Inform, 2)
		h.SenderGeneration++
		wantNack(t, w.toPlanner(t, seal(t, h, bookingJSON)), envelope.CodePermanent, guard.ReasonStaleGeneration)
		if w.q.ended() {
			t.Error("Ask has returned")
		}
		w.finish()
	})
}

func TestNoReceiptAnswersAReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		for _, kind := range []envelope.Receipt{envelope.Ack, envelope.Nack, envelope.NotUnderstood} {
			h := w.request.Receipt(kind, nil)
			if kind != envelope.Ack {
				h.Error = envelope.NewError(envelope.CodeValidation, guard.ReasonSchema)
			}
			h.MessageID, h.Timestamp, h.Attempt, h.SenderGeneration = fresh(), time.Now().UTC(), 1, 1
			h.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{w.planner.URI()}}
			r, err := envelope.Seal(h, nil)
			if err != nil {
				t.Fatal(err)
			}
			if replies := w.toPlanner(t, r); len(replies) != 0 {
				t.Errorf("%s is answered with %v", kind, replies[0].ReceiptKind())
			}
		}
		w.finish()
		_, err := w.q.wait()
		if kind, _ := ending(err); kind != "not-understood" {
			t.Errorf("Ask = %v, want not-understood", err)
		}
	})
}

func TestAnAnswerCarriesNothingOfTheQuestionThatIsNotItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, a, b := pair(t, nil, flights)
		h := opening(planner, flights, look.Name(), look.Protocol())
		h.Priority = "high"
		h.Signatures = []envelope.Signature{{Protected: "eyJhbGciOiJFZERTQSJ9", Signature: strings.Repeat("A", 86)}}
		h.Extensions = map[string]envelope.Extension{"https://example.com/x": {Value: json.RawMessage("1")}}
		e := seal(t, h, seatJSON)
		wantAck(t, hand(t, b, e, token(t, a, planner.URI(), flights.URI())))
		synctest.Wait()
		got := sentOf(t, b, flights, e.Conversation())[0].Header()
		if got.Priority != "" || got.Signatures != nil || got.Extensions != nil || got.Provenance != nil || got.CausationID != "" || got.IdempotencyKey != "" {
			t.Errorf("the answer carries %+v", got)
		}
	})
}
