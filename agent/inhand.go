package agent

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// The step that calls for work has all in hand that the work needs: the exchange,
// the row of its opening act and the effect that it claims. Whoever does the work
// need not read what was written a moment ago, until another step of the exchange
// is taken. What is decided by what was in hand stands only if the store finds the
// exchange as it was then.

// foresee notes that the step will leave something in hand, before it is committed:
// then no step that comes after it can be overlooked.
func (s *step) foresee() {
	if s.starts && !s.ended && len(s.set.Accept) == 1 && s.set.Accept[0].Status == store.InProgress && s.set.Accept[0].MessageID == s.opening.ID() {
		s.host.jobs.foresee(s)
	}
}

// readExchange reads what is not in hand, to work by it.
func (s *step) readExchange(ctx context.Context, k store.Key) (err error) {
	if s.x, err = s.host.store.Exchange(ctx, k); err != nil {
		return fmt.Errorf("reading the exchange: %w", err)
	}
	return nil
}

// readOpening reads the opening act and its row.
func (s *step) readOpening(ctx context.Context) error {
	if _, err := s.open(ctx); err != nil {
		return err
	}
	row, err := s.inbox(ctx, store.InboxKey{Recipient: s.x.Owner, Sender: s.x.Peer, MessageID: s.x.State.Opening})
	s.set.Accept = []store.Inbox{row}
	return err
}

// left is the exchange as the step has left it.
func (s *step) left() store.Exchange {
	x := s.x
	x.Version++
	return x
}

// inbox is the row of a message that the step's exchange has received.
func (s *step) inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	if s.known != nil && s.known.set.Accept[0].InboxKey == k {
		return s.known.set.Accept[0], nil
	}
	row, err := s.host.store.Inbox(ctx, k)
	if err != nil {
		return row, fmt.Errorf("reading the inbox row of %s: %w", k.MessageID, err)
	}
	return row, nil
}

// ledger is the effect that is claimed under a key.
func (s *step) ledger(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	if known := s.known; known != nil {
		if len(known.set.Claim) == 1 && known.set.Claim[0].EffectKey == k {
			return known.set.Claim[0], nil
		}
		if known.mail.New { // then it claimed all that there is
			return store.Effect{}, store.ErrNotFound
		}
	}
	return s.host.store.Effect(ctx, k)
}

// hand is what is in hand of an exchange: the step that has left it, and whether
// that was committed.
type hand struct {
	step  *step
	ready bool
}

// foresee notes what a step that is about to be committed would leave in hand.
func (j *jobs) foresee(s *step) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.hands == nil {
		j.hands = map[store.Key]hand{}
	}
	j.hands[s.x.Key] = hand{step: s}
}

// moved notes that a step was taken, and that what it has left is in hand, if it
// foresaw that and no other step has come after it. What was in hand before is out
// of date.
func (j *jobs) moved(s *step) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.hands[s.x.Key].step == s {
		j.hands[s.x.Key] = hand{s, true}
		return
	}
	delete(j.hands, s.x.Key)
}

// letGo forgets what is in hand, or would have been.
func (j *jobs) letGo(k store.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.hands, k)
}

// inHand is the step that has left in hand what the work on an exchange needs, nil
// if that must be read.
func (j *jobs) inHand(k store.Key) *step {
	j.mu.Lock()
	defer j.mu.Unlock()
	if h := j.hands[k]; h.ready {
		return h.step
	}
	return nil
}
