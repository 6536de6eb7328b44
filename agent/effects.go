package agent

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// fingerprint tells whether two messages ask for the same thing. It is keyed
// by the store's secret, so it gives nothing of the content away.
func (h *Host) fingerprint(content []byte) []byte {
	mac := hmac.New(sha256.New, h.meta.Secret)
	mac.Write(content)
	return mac.Sum(nil)
}

// checkEffect looks the key of an opening act up in the ledger. A key that is
// new is claimed for this exchange; one that was used is answered without
// doing anything again.
func (s *step) checkEffect(ctx context.Context, e *envelope.Envelope) (error, error) {
	h := e.Header()
	if s.x.Version > 0 || h.IdempotencyKey == "" || e.Act() != envelope.Request {
		return nil, nil
	}
	k := store.EffectKey{Recipient: h.Receiver, Sender: h.Sender, Capability: h.Capability, Key: h.IdempotencyKey}
	print := s.host.fingerprint(e.Content())
	known, err := s.host.store.Effect(ctx, k)
	switch {
	case errors.Is(err, store.ErrNotFound):
		s.set.Claim = append(s.set.Claim, store.Effect{EffectKey: k, Fingerprint: print, Conversation: h.ConversationID,
			Status: store.Begun, At: s.now, ExpiresAt: s.now.Add(effectTTL)})
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the effect ledger: %w", err)
	case !bytes.Equal(known.Fingerprint, print):
		return &guard.Violation{Rule: "effect", Answer: guard.Decline, Code: envelope.CodePermanent, Reason: guard.ReasonMismatch,
			Pointer: "/idempotency_key", Want: "a key of its own, since the content differs from the first one's"}, nil
	case known.Status == store.Begun:
		return &guard.Violation{Rule: "effect", Answer: guard.Decline, Code: envelope.CodeTransient, Reason: guard.ReasonInProgress,
			Pointer: "/idempotency_key", RetryAfter: protocol.CancelWindow}, nil
	}
	return nil, s.recall(ctx, known)
}

// recall makes this exchange end as the one that had the effect did. It takes
// the place of the handler.
func (s *step) recall(ctx context.Context, known store.Effect) error {
	first, err := s.host.store.Exchange(ctx, store.Key{Owner: s.x.Owner, Conversation: known.Conversation, Peer: known.Sender})
	if err != nil {
		return fmt.Errorf("reading the exchange that had the effect: %w", err)
	}
	final, err := s.host.message(ctx, first.Key, store.Sent, first.Final)
	if err != nil {
		return err
	}
	s.answered = &draft{
		act:     protocol.Utterance{Performative: final.Act(), Status: final.Status()},
		content: final.Content(), err: final.Header().Error,
	}
	s.host.counts.add("effect.recalled")
	return nil
}

// settleEffect records how the exchange that claimed a key ended. A key whose
// work was refused or stopped, or failed in a way that may pass, is free again:
// whoever does the work anew meets the same EffectKey.
func (s *step) settleEffect(ctx context.Context) error {
	opening, err := s.open(ctx)
	if err != nil {
		return err
	}
	h := opening.Header()
	if h.IdempotencyKey == "" {
		return nil
	}
	k := store.EffectKey{Recipient: s.x.Owner, Sender: s.x.Peer, Capability: h.Capability, Key: h.IdempotencyKey}
	if len(s.set.Claim) > 0 { // claimed and ended in one step: nothing was done
		s.set.Claim = nil
		return nil
	}
	known, err := s.host.store.Effect(ctx, k)
	if errors.Is(err, store.ErrNotFound) || err == nil && known.Conversation != s.x.Conversation {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the effect ledger: %w", err)
	}
	told := s.x.State.Error
	switch outcome := s.x.State.Outcome(); {
	case outcome == protocol.OK, outcome == protocol.Failed && (told == nil || !told.Retriable):
		known.Status = store.Ended
		s.set.Effects = append(s.set.Effects, known)
	default:
		s.set.Release = append(s.set.Release, k)
	}
	return nil
}

// effectKey is the identity of an effect outside the host: the same for every
// run of the same work, different for any other.
func effectKey(parts ...string) string { return derivedID(append([]string{"effect"}, parts...)...) }
