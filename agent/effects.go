package agent

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// fingerprint tells whether two messages ask for the same thing. It is keyed
// by the store's secret, so it gives nothing of the content away.
func (h *Host) fingerprint(content []byte) []byte {
	h.mac.mu.Lock()
	defer h.mac.mu.Unlock()
	if h.mac.of == nil {
		h.mac.of = hmac.New(sha256.New, h.meta.Secret)
	}
	h.mac.of.Reset()
	h.mac.of.Write(content)
	return h.mac.of.Sum(nil)
}

// mac takes fingerprints, one at a time.
type mac struct {
	mu sync.Mutex
	of hash.Hash
}

// reasonOutcomeUnknown: a step was begun that is taken once at most, and nobody
// knows what came of it.
const reasonOutcomeUnknown = "outcome-unknown"

// checkEffect looks the key of an opening act or an award up in the ledger. A
// key that is new is claimed for this exchange; one that was used is answered
// without doing anything again. A conversation's own id that a carrier has just made
// is the key of no other message yet, so it is not claimed: the exchange itself says
// what came of it.
func (s *step) checkEffect(ctx context.Context, e *envelope.Envelope) (error, error) {
	award, key := s.awarded(e), e.IdempotencyKey()
	opens := s.x.Version == 0 && (e.Act() == envelope.Request || e.Act() == envelope.Propose)
	if made := s.mail.New && key == e.Conversation(); key == "" || made || !award && !opens {
		return nil, nil
	}
	verdict, err := s.claim(ctx, e, award)
	v, refused := errors.AsType[*guard.Violation](verdict)
	if award && refused {
		// What was proposed cannot be refused any more: the award fails.
		s.answered = &draft{act: protocol.Utterance{Performative: envelope.Failure}, err: v.Told()}
		return nil, err
	}
	return verdict, err
}

// awarded reports whether the message is an award to this side.
func (s *step) awarded(e *envelope.Envelope) bool {
	return e.Act() == envelope.Agree && s.x.State.Role == protocol.Participant && s.x.State.Protocol == protocol.ContractNetV1
}

// asked is what the effect is: the content of the opening act, or of the
// proposal that an award accepts.
func (s *step) asked(ctx context.Context, e *envelope.Envelope, award bool) ([]byte, error) {
	if !award {
		return e.Content(), nil
	}
	proposal, err := s.host.message(ctx, s.x.Key, store.Sent, e.InReplyTo())
	if err != nil {
		return nil, err
	}
	return proposal.Content(), nil
}

// claim looks the key up and, if it is new, claims it.
func (s *step) claim(ctx context.Context, e *envelope.Envelope, award bool) (error, error) {
	what, err := s.asked(ctx, e, award)
	if err != nil {
		return nil, err
	}
	k := store.EffectKey{Recipient: e.Receiver(), Sender: e.Sender(), Capability: e.Capability(), Key: e.IdempotencyKey()}
	if award {
		k.Capability = s.x.State.Capability
	}
	print := s.host.fingerprint(what)
	known, err := s.begun(ctx, k)
	switch {
	case errors.Is(err, store.ErrNotFound):
		s.set.Claim = append(s.set.Claim, store.Effect{EffectKey: k, Fingerprint: print, Conversation: e.Conversation(),
			Status: store.Begun, At: s.now, ExpiresAt: s.now.Add(s.host.cfg.Terms.Effect)})
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

// begun is the effect that was begun under a key, or store.ErrNotFound. Of a key that
// a carrier made the ledger knows nothing: it is the id of its conversation, which its
// sender was told and may give again.
func (s *step) begun(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	known, err := s.host.store.Effect(ctx, k)
	if !errors.Is(err, store.ErrNotFound) || k.Key == s.x.Conversation {
		return known, err
	}
	first, err := s.host.store.Exchange(ctx, store.Key{Owner: k.Recipient, Conversation: k.Key, Peer: k.Sender})
	if err != nil {
		return known, err
	}
	if x := first.State; x.Opening == "" || x.Role != protocol.Participant || x.Protocol == protocol.ContractNetV1 || x.Capability != k.Capability {
		return known, store.ErrNotFound
	}
	opening, err := s.host.openingOf(ctx, first)
	if err != nil {
		return known, err
	}
	if opening.IdempotencyKey() != k.Key {
		return known, store.ErrNotFound
	}
	if kept, err := s.host.keeps(ctx, &first); err != nil {
		return known, err
	} else if !kept {
		return known, store.ErrNotFound
	}
	known = store.Effect{EffectKey: k, Fingerprint: s.host.fingerprint(opening.Content()), Conversation: first.Conversation, Status: store.Begun,
		At: first.OpenedAt, ExpiresAt: s.now.Add(s.host.cfg.Terms.Effect)}
	if first.State.Done() {
		known.Status = store.Ended
		s.set.Effects = append(s.set.Effects, known) // from now on there are two that have the key
	}
	return known, nil
}

// recall makes this exchange end as the one that had the effect did. It takes
// the place of the handler.
func (s *step) recall(ctx context.Context, known store.Effect) error {
	first, err := s.host.store.Exchange(ctx, store.Key{Owner: s.x.Owner, Conversation: known.Conversation, Peer: known.Sender})
	if err != nil {
		return fmt.Errorf("reading the exchange that had the effect: %w", err)
	}
	if !conclusive(first.State) {
		// Something was begun there, and the act that ended it does not say so.
		s.answered = &draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodePermanent, reasonOutcomeUnknown)}
		return nil
	}
	final, err := s.host.message(ctx, first.Key, store.Sent, first.Final)
	if err != nil {
		return err
	}
	s.answered = &draft{
		act:     protocol.Utterance{Performative: final.Act(), Status: final.Status()},
		content: final.Content(), err: final.Err(),
	}
	if first.State.Protocol == protocol.ProposeV1 && final.Act() == envelope.Inform {
		// It was accepted while a cancel was on its way.
		s.answered = &draft{act: protocol.Utterance{Performative: envelope.Agree}}
	}
	s.host.counts.add("effect.recalled")
	return nil
}

// settleEffect records how the exchange that claimed a key ended. A key whose
// work was refused or stopped, or failed in a way that may pass, is free again,
// since whoever does the work anew meets the same EffectKey: unless a step was
// begun that takes no key, which must not be taken twice.
func (s *step) settleEffect(ctx context.Context) error {
	key, err := s.effect(ctx)
	if err != nil || key == "" {
		return err
	}
	k := store.EffectKey{Recipient: s.x.Owner, Sender: s.x.Peer, Capability: s.x.State.Capability, Key: key}
	if len(s.set.Claim) > 0 { // claimed and ended in one step: nothing was done
		s.set.Claim = nil
		return nil
	}
	known, err := s.ledger(ctx, k)
	if errors.Is(err, store.ErrNotFound) || err == nil && known.Conversation != s.x.Conversation {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the effect ledger: %w", err)
	}
	kept, err := s.host.keeps(ctx, &s.x)
	if err != nil {
		return err
	}
	if !kept {
		s.set.Release = append(s.set.Release, k)
		return nil
	}
	known.Status = store.Ended
	s.set.Effects = append(s.set.Effects, known)
	return nil
}

// keeps reports whether the key of an exchange is taken: as long as that goes on, and
// afterwards unless whoever asks again may have the work done anew.
func (h *Host) keeps(ctx context.Context, x *store.Exchange) (bool, error) {
	if !x.State.Done() || conclusive(x.State) {
		return true, nil
	}
	return h.unrepeatable(ctx, x.Key)
}

// conclusive reports whether the outcome of an exchange answers whoever asks
// for the same effect again.
func conclusive(x protocol.Exchange) bool {
	outcome := x.Outcome()
	return outcome.OK() || outcome == protocol.Failed && (x.Error == nil || !x.Error.Retriable)
}

// unrepeatable reports whether the work on an exchange has begun a step that is
// taken once at most, whatever came of it.
func (h *Host) unrepeatable(ctx context.Context, k store.Key) (bool, error) {
	turns, err := h.store.Turns(ctx, k)
	if err != nil {
		return false, fmt.Errorf("reading the records of %s: %w", k.Conversation, err)
	}
	return slices.ContainsFunc(turns, func(t store.Turn) bool { return t.Kind == store.Called }), nil
}

// effect is the key of the exchange's effect, "" if it has none: that of the
// award in a contract net, elsewhere that of the opening act.
func (s *step) effect(ctx context.Context) (string, error) {
	if s.x.State.Protocol != protocol.ContractNetV1 {
		opening, err := s.open(ctx)
		if err != nil {
			return "", err
		}
		return opening.IdempotencyKey(), nil
	}
	if s.x.State.Award == "" {
		return "", nil
	}
	if s.award != nil {
		return s.award.IdempotencyKey(), nil
	}
	award, err := s.host.message(ctx, s.x.Key, store.Received, s.x.State.Award)
	if err != nil {
		return "", err
	}
	return award.IdempotencyKey(), nil
}

// effectKey is the identity of an effect outside the host: the same for every
// run of the same work, different for any other.
func effectKey(parts ...string) string {
	return envelope.DerivedID(append([]string{"effect"}, parts...)...)
}
