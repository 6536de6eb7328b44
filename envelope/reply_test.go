package envelope

import (
	"testing"

	"pgregory.net/rapid"
)

func TestReplySwapsThePartiesAndKeepsTheThread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom(performatives[:]).Draw(t, "answer")
		r := e.Reply(p)
		to, err := ParseURI(e.Receiver())
		if err != nil {
			t.Fatal(err)
		}
		if r.Performative != p || r.Sender != e.Receiver() || r.Receiver != e.Sender() || r.Actor != r.Sender || r.Tenant != to.Authority {
			t.Fatalf("parties of %+v", r)
		}
		if r.ConversationID != e.Conversation() || r.CorrelationID != e.Correlation() || r.InReplyTo != e.ID() ||
			r.Protocol != e.Protocol() || r.Capability != e.Capability() || r.Trace != e.Header().Trace || r.Hop != e.Header().Hop {
			t.Fatalf("thread of %+v", r)
		}
		if r.MessageID != "" || r.Seq != 0 || r.Auth != "" || r.Attempt != 0 || r.IdempotencyKey != "" {
			t.Fatalf("reply took what is not its own: %+v", r)
		}
		template := act(Inform)
		answer := e.Reply(Inform)
		answer.Status, answer.Schema, answer.Salt, answer.Seq = Final, template.Schema, template.Salt, 1
		answer.SenderGeneration, answer.MessageID, answer.Timestamp = 1, id(77), noon
		answer.Labels = template.Labels
		if _, err := Seal(answer, []byte(`{}`)); err != nil {
			t.Fatalf("a filled reply: %v", err)
		}
	})
}

func TestReceiptsAreMadeLikeReplies(t *testing.T) {
	e := seal(t, act(Request))
	h := e.Receipt(Nack, NewError(CodeCapacity, "overloaded"))
	h.SenderGeneration, h.MessageID, h.Timestamp, h.Labels = 1, id(77), noon, Labels{Integrity: System}
	got := seal(t, h)
	if got.ReceiptKind() != Nack || got.Act() != "" || got.InReplyTo() != e.ID() || got.Receiver() != e.Sender() || got.Content() != nil {
		t.Errorf("receipt %s", got.Bytes())
	}
}
