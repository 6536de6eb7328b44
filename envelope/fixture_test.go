package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

const (
	planner     = "agent://acme/planner"
	flights     = "agent://skyline/flights"
	hex64       = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	token       = "eyJhbGciOiJFZERTQSJ9.e30.c2ln"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func id(n int) string { return fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", n) }

// common is what every message of the tests has.
func common() Header {
	return Header{
		Sender: planner, SenderGeneration: 1_700_000_000_000, Receiver: flights,
		MessageID: id(1), ConversationID: id(2), CorrelationID: "trip-8841", Timestamp: noon,
		Labels: Labels{Integrity: User}, Trace: Trace{Traceparent: traceparent},
	}
}

// act returns the header of a valid act.
func act(p Performative) Header {
	h := common()
	h.Performative = p
	h.Protocol = "request/v1"
	h.Schema = "acme.flight.search/v2"
	h.Salt = bytes.Repeat([]byte{7}, 16)
	h.Seq = 1
	switch p {
	case Request, CFP, Propose:
		h.Capability = "urn:cap:acme.flight.search/v2"
		h.ReplyBy = noon.Add(time.Minute)
		h.IdempotencyKey = "trip-8841"
	case Agree, Inform, Refuse, Failure:
		h.InReplyTo = id(3)
	}
	switch p {
	case Inform:
		h.Status = Final
	case Refuse, Failure:
		h.Error = NewError(CodePermanent, "handler")
	}
	return h
}

// receipt returns the header of a valid receipt.
func receipt(r Receipt) Header {
	h := common()
	h.Receipt = r
	h.InReplyTo = id(3)
	if r != Ack {
		h.Error = NewError(CodeValidation, "malformed")
	}
	return h
}

func seal(t testing.TB, h Header) *Envelope {
	t.Helper()
	e, err := Seal(h, contentFor(h))
	if err != nil {
		t.Fatalf("seal: %v", err)
	}
	return e
}

func contentFor(h Header) []byte {
	if h.Receipt != "" {
		return nil
	}
	return []byte(`{"to":"HEL","from":"LHR"}`)
}

// full returns a request with every member that a request may have.
func full() Header {
	h := act(Request)
	h.Group = &Group{ID: "g-1", Size: 2, MembersDigest: hex64}
	h.Actor = "user:anna"
	h.Auth = token
	h.InReplyTo = id(3)
	h.CausationID = id(4)
	h.Hop = 2
	h.Attempt = 3
	h.Priority = "high"
	h.RetryPolicy = &RetryPolicy{MaxAttempts: 5, Backoff: 500 * time.Millisecond, Jitter: "full"}
	h.Gather = &Gather{ID: "gather-1", Stance: StanceDissent}
	h.Labels = Labels{Integrity: Peer, Readers: []string{planner, "user:anna", "*"}, Privacy: []string{"personal", "internal"}}
	h.Provenance = &Provenance{Model: "m-1", Prompt: "p@3", Tools: []string{"weather@1"}, InputTokens: 7, OutputTokens: 9}
	h.Trace.Tracestate = "vendor=1"
	h.Signatures = []Signature{{Protected: "e30", Signature: "c2ln", Header: json.RawMessage(`{"kid":"k"}`)}}
	h.Extensions = map[string]Extension{"https://example.com/x": {Value: json.RawMessage(`[1,null]`)}}
	return h
}

// refusal returns a failure with every member of an error.
func refusal() Header {
	h := act(Failure)
	h.Error = NewError(CodeCapacity, "overloaded")
	h.Error.RetryAfter = 1500 * time.Millisecond
	h.Error.Detail = &Detail{Pointer: "/a", Rule: "type", Want: "a string", Got: "null", Incident: "i-1"}
	return h
}

// fenced returns an inform with every member that only informs have.
func fenced() Header {
	h := act(Inform)
	h.Fence = &Fence{ID: "f-1", Proposed: "COMPLETED"}
	return h
}

// anyHeader draws a valid header of any act or receipt.
func anyHeader() *rapid.Generator[Header] {
	return rapid.Custom(func(t *rapid.T) Header {
		kind := rapid.IntRange(0, 10).Draw(t, "kind")
		var h Header
		if kind < 8 {
			h = act(Performatives()[kind])
			h.Protocol = rapid.SampledFrom([]string{
				"request/v1", "query/v1", "propose/v1", "subscribe/v1", "gather/v1", "advertise/v1",
			}).Draw(t, "protocol")
			h.Seq = rapid.Int64Range(1, maxInteger).Draw(t, "seq")
			h.Salt = rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt")
		} else {
			h = receipt(Receipts()[kind-8])
		}
		if h.Performative == Inform {
			h.Status = rapid.SampledFrom(statuses[:]).Draw(t, "status")
		}
		if h.Error != nil {
			h.Error = NewError(rapid.SampledFrom(codes[:]).Draw(t, "code"), "")
		}
		name := rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,10}[a-z0-9])?`)
		h.Sender = URI{Authority: name.Draw(t, "authority"), Name: name.Draw(t, "name")}.String()
		h.Receiver = URI{Authority: name.Draw(t, "authority"), Name: name.Draw(t, "name")}.String()
		h.MessageID = uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")).String()
		h.CorrelationID = rapid.StringMatching(`[ -~]{1,128}`).Draw(t, "correlation")
		h.Hop = rapid.IntRange(0, 100).Draw(t, "hop")
		h.Timestamp = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		optional := full()
		if rapid.Bool().Draw(t, "decorated") {
			h.Auth, h.Actor, h.Priority, h.RetryPolicy = optional.Auth, optional.Actor, optional.Priority, optional.RetryPolicy
			h.Labels, h.Provenance, h.Trace, h.Group = optional.Labels, optional.Provenance, optional.Trace, optional.Group
			h.Signatures, h.Extensions, h.Gather = optional.Signatures, optional.Extensions, optional.Gather
		}
		return h
	})
}

// edit returns the bytes of an envelope after a change to its members.
func edit(t testing.TB, e *Envelope, change func(members map[string]any)) []byte {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(e.Bytes()))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		t.Fatal(err)
	}
	change(members)
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
