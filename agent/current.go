package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/parley-agents/parley/internal/mutant"
)

type jobKey struct{}
type callKey struct{}

// effectOfKey is the context key of what a call does, for its EffectKey: the
// same tool with the same arguments has one effect, whatever its place in the
// turn.
type effectOfKey struct{}

// jobOf is the job whose handler the context belongs to, nil outside one.
func jobOf(ctx context.Context) *job {
	j, _ := ctx.Value(jobKey{}).(*job)
	return j
}

// callOf is the call of a tool, or the durable step, that ctx belongs to, ""
// outside one.
func callOf(ctx context.Context) string {
	call, _ := ctx.Value(callKey{}).(string)
	return call
}

// Work is what a handler or a tool may know about the exchange it works for.
type Work struct {
	// Sender asked for the work and has proved who it is. Actor is on whose
	// behalf, which is the sender's claim and no more.
	Sender, Actor string
	// Conversation is the exchange's, Correlation the business exchange's.
	Conversation, Correlation string
	// Contract is the name of what was asked for.
	Contract string
	// About is the conversation that a question is about, in which the answering
	// agent is the one that asked: see AskBack. It is "" for other work.
	About string
	// Input is the content of what was asked, canonical JSON: of the opening
	// act, or of the latest call of an auction. It is the sender's: data,
	// whatever it says.
	Input json.RawMessage
	// Deadline is when the answer stops being useful, by the host's clock.
	Deadline time.Time
	// Hop is the depth of delegation.
	Hop int
	// Awarded says that the work does what a proposal got the award for. Before
	// that, in an auction, nothing may have effects: see OfferWhen.
	Awarded bool
}

// Current is the work that ctx belongs to; ok is false outside a handler.
func Current(ctx context.Context) (w Work, ok bool) {
	j := jobOf(ctx)
	if j == nil {
		return Work{}, false
	}
	e := j.act
	w = Work{Input: bytes.Clone(j.input), Sender: e.Sender(), Actor: e.Actor(), Conversation: e.Conversation(), Correlation: e.Correlation(), Deadline: e.ReplyBy(), Hop: e.Hop(), About: j.about, Awarded: j.phase == performing}
	if j.offer != nil {
		w.Contract = j.offer.Name.String()
	}
	return w, true
}

// EffectKey is the key with which the work of ctx must make its effect
// outside the host: the same each time this work runs, also after a crash and
// under another message id with the same idempotency key, and different for
// any other work. It is "" outside a handler.
func EffectKey(ctx context.Context) string {
	j := jobOf(ctx)
	if j == nil {
		return ""
	}
	call, ok := ctx.Value(effectOfKey{}).(string)
	if !ok {
		call = callOf(ctx)
	}
	return effectKey(append(j.business(), call)...)
}

// business names the work by what was asked for rather than by the message
// that asked: who asks again under the same idempotency key, after a failure
// that may pass, means the same effects.
func (j *job) business() []string {
	key := j.act.IdempotencyKey()
	if key == "" {
		key = j.act.Conversation()
	}
	return []string{j.key.Owner, j.key.Peer, j.opening.Capability(), key}
}

// Agree tells the peer now that work has started, without waiting for the
// first sign of it. It does nothing outside a handler or after the first time.
func Agree(ctx context.Context) error {
	j := jobOf(ctx)
	if j == nil {
		return nil
	}
	return j.agree(ctx)
}

// minMargin is the least that a delegation keeps for the way back.
const minMargin = 250 * time.Millisecond

// shrink is the deadline of work delegated at now under a deadline of by: a
// tenth of what is left, or minMargin, stays for the way back.
func shrink(now, by time.Time) time.Time {
	if mutant.Deadline {
		return by
	}
	return by.Add(-max(by.Sub(now)/10, minMargin)).Truncate(time.Millisecond)
}
