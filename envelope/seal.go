package envelope

import (
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
	e := &Envelope{header: h}
	own := &e.header
	own.unshare()
	own.fill()
	var text, digest string
	if content != nil {
		var err error
		if text, err = strictjson.CanonicalText(string(content), strictjson.Limits{}); err != nil {
			return nil, strictShape("/content", err)
		}
		digest = contentDigest(own.Salt, text)
		if own.isAct() {
			own.ContentDigest = digest
		}
	}
	if err := own.check(text, digest); err != nil {
		return nil, err
	}
	own.settle()
	var room [3 << 9]byte
	if err := e.read(string(own.write(room[:0], text)), room[:0]); err != nil {
		return nil, err
	}
	return e, nil
}

// read takes the members from the very text, so that what is digested and sent is
// strict JSON within the limits of an envelope. It uses the room.
func (e *Envelope) read(text string, room []byte) (err error) {
	d := newDigesting(room)
	e.text, err = strictjson.Each(text, limits, func(m strictjson.Member) {
		d = d.add(m)
		if m.Name == "content" {
			e.content = m.Value
		}
	})
	if err != nil {
		return strictShape("", err)
	}
	e.digest = d.sum()
	return nil
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
	if len(h.Extensions) == 0 {
		h.Extensions = nil
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
