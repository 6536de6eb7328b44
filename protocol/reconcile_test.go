package protocol_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

func TestThePublishedQuestionAboutAnOutcomeIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.OutcomeName), of[protocol.OutcomeAsked](t, protocol.OutcomeName),
		protocol.OutcomeAsked{Conversation: "01890a5d-ac96-774b-bcce-b302099a8057", Protocol: protocol.RequestV1, Opened: noon, ReplyBy: noon})
}

func TestThePublishedAnswerAboutAnOutcomeIsThatOfItsGoType(t *testing.T) {
	name := "parley.outcome.result/v1"
	same(t, published(t, name), of[protocol.OutcomeAnswered[schema.Object]](t, name), protocol.OutcomeAnswered[schema.Object]{
		Status: protocol.OutcomeFailed, Outcome: protocol.Refused, Result: schema.Object(`{"seat":"12A"}`), TooLarge: true, Misread: true,
		Error: &protocol.OutcomeFault{Code: envelope.CodeValidation, Reason: "schema", Pointer: "/content", Want: "an object", Got: "a list"}, At: noon,
	}, "result")
}

func TestAFaultTellsAnErrorAsItWas(t *testing.T) {
	told := envelope.NewError(envelope.CodeCapacity, "sold-out")
	told.Detail = &envelope.Detail{Pointer: "/content/seat", Want: "a free seat", Got: "12A"}
	back := protocol.Fault(told).Told()
	if back.Code != told.Code || back.Reason != told.Reason || !back.Retriable || *back.Detail != *told.Detail {
		t.Errorf("%+v became %+v", told, back)
	}
	if protocol.Fault(nil) != nil || (*protocol.OutcomeFault)(nil).Told() != nil {
		t.Error("no error became one")
	}
}

func TestATombstoneEndsOnlyWhatHasNotBegun(t *testing.T) {
	fresh := protocol.Open(protocol.RequestV1, "c", "agent://acme/a", "agent://acme/b", protocol.Participant)
	ended := protocol.Tombstone(fresh)
	if !ended.Barred() || ended.State != protocol.Over(protocol.Refused) || ended.Error.Code != envelope.CodePermanent || ended.Error.Reason != "lapsed" {
		t.Errorf("it became %+v", ended)
	}
	begun := fresh
	begun.State, begun.Opening = "received", "m"
	initiator := fresh
	initiator.Role = protocol.Initiator
	for _, x := range []protocol.Exchange{begun, initiator} {
		if after := protocol.Tombstone(x); after.State != x.State || after.Barred() {
			t.Errorf("%s %s became %s", x.Role, x.State, after.State)
		}
	}
	begun.State = protocol.Over(protocol.Refused)
	if begun.Barred() {
		t.Error("a request that was refused counts as one that never came")
	}
}

func ExampleEndingOf() {
	err := fmt.Errorf("booking: %w", &protocol.RefusedError{Ending: protocol.Ending{Peer: "agent://acme/flights", Code: envelope.CodeCapacity, Reason: "sold-out"}})
	end, ended := protocol.EndingOf(err)
	fmt.Println(end.Reason, ended)
	_, ended = protocol.EndingOf(errors.New("the line is busy"))
	fmt.Println(ended)
	// Output:
	// sold-out true
	// false
}
