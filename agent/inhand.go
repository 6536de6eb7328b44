package agent

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// inHand is what the step that called for work knows of it, so that whoever does
// the work need not read what was written a moment ago. It is good until another
// step of the exchange is taken. What is decided by it stands only if the store
// finds the exchange as it is here.
type inHand struct {
	// ready: the step was committed, and the rest is what it has left.
	ready   bool
	x       store.Exchange
	row     store.Inbox
	opening *envelope.Envelope
	// effect is the one that the exchange has claimed, zero if it has none.
	effect store.Effect
}

// foresee notes that the step will have something in hand, before it is committed:
// then no step that comes after it can be overlooked.
func (s *step) foresee() {
	if !s.starts || s.ended || len(s.set.Accept) != 1 || s.set.Accept[0].Status != store.InProgress || s.set.Accept[0].MessageID != s.opening.ID() {
		return
	}
	s.leaves = &inHand{row: s.set.Accept[0], opening: s.opening}
	if len(s.set.Claim) > 0 {
		s.leaves.effect = s.set.Claim[0]
	}
	s.host.jobs.foresee(s.x.Key, s.leaves)
}

// read reads what belongs to the exchange.
func (i *inHand) read(ctx context.Context, h *Host) (err error) {
	if i.opening, err = h.openingOf(ctx, i.x); err != nil {
		return err
	}
	i.row, err = h.store.Inbox(ctx, store.InboxKey{Recipient: i.x.Owner, Sender: i.x.Peer, MessageID: i.x.State.Opening})
	if err != nil {
		return fmt.Errorf("reading the inbox row: %w", err)
	}
	return nil
}

// inbox is the row of a message that the step's exchange has received.
func (s *step) inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	if s.known != nil && s.known.row.InboxKey == k {
		return s.known.row, nil
	}
	row, err := s.host.store.Inbox(ctx, k)
	if err != nil {
		return row, fmt.Errorf("reading the inbox row of %s: %w", k.MessageID, err)
	}
	return row, nil
}

// ledger is the effect that is claimed under a key.
func (s *step) ledger(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	if s.known != nil && s.known.effect.EffectKey == k {
		return s.known.effect, nil
	}
	return s.host.store.Effect(ctx, k)
}

// foresee notes what a step that is about to be committed would leave in hand.
func (j *jobs) foresee(k store.Key, h *inHand) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.hands == nil {
		j.hands = map[store.Key]*inHand{}
	}
	j.hands[k] = h
}

// moved notes that a step was taken, and what it has left in hand if it foresaw
// that and no other step has come after it. What was in hand before is out of date.
func (j *jobs) moved(s *step) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.leaves == nil || j.hands[s.x.Key] != s.leaves {
		delete(j.hands, s.x.Key)
		return
	}
	s.leaves.ready, s.leaves.x = true, s.x
	s.leaves.x.Version++
}

// letGo forgets what is in hand, or would have been.
func (j *jobs) letGo(k store.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.hands, k)
}

// inHand is what is known of the work on an exchange, nil if it must be read.
func (j *jobs) inHand(k store.Key) *inHand {
	j.mu.Lock()
	defer j.mu.Unlock()
	if h := j.hands[k]; h != nil && h.ready {
		return h
	}
	return nil
}
