package envelope

import (
	"errors"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// Version is the envelope version that Seal writes.
const Version = "1.0"

// DefaultProtocol is what an absent protocol reads as.
const DefaultProtocol = "request/v1"

// Seal makes an envelope from a header and, on an act, a content: any strict JSON object, which is brought into canonical
// form. A receipt has a nil content. Seal fills V, Protocol, Actor (the sender), Tenant (the sender's authority) and
// Attempt where they are zero, and always ContentDigest; the rest is the caller's, ids, times and salt included. It
// keeps no reference to its arguments. Errors are *ShapeError: whatever Seal makes, Decode accepts.
func Seal(h Header, content []byte) (*Envelope, error) {
	h = h.clone()
	h.fill()
	if content != nil {
		var err *ShapeError
		if content, err = canonical("/content", content, strictjson.Limits{}); err != nil {
			return nil, err
		}
		if h.isAct() {
			h.ContentDigest = contentDigest(h.Salt, content)
		}
	}
	if err := h.check(content); err != nil {
		return nil, err
	}
	h.settle()
	// The members are read back from the very bytes, so that what is digested and
	// sent is strict JSON within the limits of an envelope.
	members, err := strictjson.Object(h.write(content), limits)
	if err != nil {
		var strict *strictjson.Error
		if errors.As(err, &strict) {
			return nil, fromStrict(strict)
		}
		return nil, &ShapeError{Rule: strictjson.RuleSyntax, Want: "strict JSON", Err: err}
	}
	return newEnvelope(h, content, members), nil
}

func (h *Header) fill() {
	fill(&h.V, Version)
	fill(&h.Protocol, DefaultProtocol)
	fill(&h.Actor, h.Sender)
	if sender, err := ParseURI(h.Sender); err == nil {
		fill(&h.Tenant, sender.Authority)
	}
	fill(&h.Attempt, 1)
}

func fill[T comparable](member *T, value T) {
	var zero T
	if *member == zero {
		*member = value
	}
}

// settle brings a header that passed check into the form in which it is read back.
func (h *Header) settle() {
	h.Timestamp, h.ReplyBy = settled(h.Timestamp), settled(h.ReplyBy)
	if h.Error != nil {
		h.Error.RetryAfter = wait(h.Error.RetryAfter)
	}
	if h.RetryPolicy != nil {
		h.RetryPolicy.Backoff = wait(h.RetryPolicy.Backoff)
	}
	h.Labels.Readers, h.Labels.Privacy = some(h.Labels.Readers), some(h.Labels.Privacy)
	if h.Provenance != nil {
		h.Provenance.Tools = some(h.Provenance.Tools)
	}
	h.Signatures = some(h.Signatures)
	for i, s := range h.Signatures {
		if s.Header != nil {
			h.Signatures[i].Header, _ = strictjson.Canonical(s.Header, strictjson.Limits{Bytes: maxToken})
		}
	}
	if len(h.Extensions) == 0 {
		h.Extensions = nil
	}
	for uri, x := range h.Extensions {
		x.Value, _ = strictjson.Canonical(x.Value, strictjson.Limits{AnyRoot: true})
		h.Extensions[uri] = x
	}
}

func settled(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// some is the list, nil if it is empty.
func some[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// wait is a duration in whole milliseconds, rounded up, so that a short one does not become none.
func wait(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1) / time.Millisecond * time.Millisecond
}
