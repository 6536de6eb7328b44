package envelope

import (
	"testing"

	"pgregory.net/rapid"
)

func TestViewsMapEveryMessage(t *testing.T) {
	with := func(h Header, change func(*Header)) Header { change(&h); return h }
	under := func(p Performative, protocol string) Header {
		return with(act(p), func(h *Header) { h.Protocol = protocol; h.IdempotencyKey = "k"; h.ReplyBy = noon })
	}
	inform := func(s Status, g *Gather) Header {
		return with(act(Inform), func(h *Header) { h.Status, h.Gather = s, g })
	}
	dissent := &Gather{ID: "g", Stance: StanceDissent}
	for name, c := range map[string]struct {
		header            Header
		messageType, kind string
	}{
		"request":           {act(Request), "request", "REQUEST"},
		"cfp":               {act(CFP), "request", "REQUEST"},
		"bid":               {under(Propose, "contract-net/v1"), "response", "RESPONSE"},
		"opening proposal":  {under(Propose, "propose/v1"), "request", "REQUEST"},
		"agree":             {act(Agree), "event", "RESPONSE"},
		"acceptance":        {under(Agree, "propose/v1"), "event", "RESPONSE"},
		"award":             {under(Agree, "contract-net/v1"), "request", "REQUEST"},
		"refuse":            {act(Refuse), "error", "RESPONSE"},
		"dissenting refuse": {with(act(Refuse), func(h *Header) { h.Gather = dissent }), "error", "DISSENT"},
		"failure":           {act(Failure), "error", "RESPONSE"},
		"cancel":            {act(Cancel), "cancel", "CANCEL_REQUEST"},
		"result":            {inform(Final, nil), "response", "RESPONSE"},
		"progress":          {inform(Partial, nil), "event", "RESPONSE"},
		"cancelled":         {inform(Cancelled, nil), "response", "RESPONSE"},
		"contribution":      {inform(Partial, &Gather{ID: "g"}), "event", "CONTRIBUTION"},
		"dissent":           {inform(Partial, dissent), "event", "DISSENT"},
		"gather's result":   {inform(Final, &Gather{ID: "g"}), "response", "GATHER_RESULT"},
		"fence":             {with(fenced(), func(h *Header) { h.Gather = &Gather{ID: "g"} }), "response", "TERMINAL_FENCE"},
		"advertisement":     {under(Inform, "advertise/v1"), "advertise", "RESPONSE"},
		"ack":               {receipt(Ack), "ack", "ACK"},
		"nack":              {receipt(Nack), "nack", "RESPONSE"},
		"not-understood":    {receipt(NotUnderstood), "nack", "RESPONSE"},
	} {
		e := seal(t, c.header)
		if e.MessageType() != c.messageType || e.TraceKind() != c.kind {
			t.Errorf("%s: %s, %s; want %s, %s", name, e.MessageType(), e.TraceKind(), c.messageType, c.kind)
		}
	}
}

func TestViewsAreTotal(t *testing.T) {
	types := map[string]bool{
		"request": true, "response": true, "error": true, "event": true, "cancel": true, "advertise": true, "ack": true, "nack": true,
	}
	kinds := map[string]bool{
		"REQUEST": true, "RESPONSE": true, "CONTRIBUTION": true, "DISSENT": true, "GATHER_RESULT": true, "CANCEL_REQUEST": true,
		"TERMINAL_FENCE": true, "ACK": true,
	}
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatal(err)
		}
		if !types[e.MessageType()] || !kinds[e.TraceKind()] {
			t.Fatalf("%s, %s", e.MessageType(), e.TraceKind())
		}
	})
}
