package a2a

import (
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
)

func TestPeersThatCallTheirConversationsTheSameSeeNothingOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		other := client{t, c.s, stranger}
		first, second := c.opens(book, envelope.Request), other.opens(book, envelope.Request)
		second.ConversationID = first.ConversationID
		for _, from := range []struct {
			client
			h envelope.Header
		}{{c, first}, {other, second}} {
			m := must(messageOf(must(envelope.Seal(from.h, []byte(seat))).Bytes(), "", wire.User))
			r, err := c.s.SendMessage(t.Context(), from.call(true), &wire.SendMessageRequest{Message: *m})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Task.History {
				e := must(envelope.Decode(must(envelopeOf(&m))))
				if e.Sender() != from.uri && e.Receiver() != from.uri {
					t.Errorf("%s is shown what %s said to %s", from.uri, e.Sender(), e.Receiver())
				}
			}
			if r.Task.History[0].MessageID != from.h.MessageID || len(r.Task.Artifacts) != 1 {
				t.Errorf("%s is shown %s", from.uri, wire.Encode(r.Task))
			}
		}
	})
}
