package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, w store.WriteSet) error {
	return s.locked(ctx, func(t *tables) error {
		t.undo = nil
		err := t.apply(w)
		if err != nil {
			t.rollback()
		}
		t.undo = nil
		return err
	})
}

// apply writes the set and ends at the first part that does not fit.
func (t *tables) apply(w store.WriteSet) error {
	if err := w.Check(); err != nil {
		return err
	}
	if err := each(w.Exchanges, t.putExchange); err != nil {
		return err
	}
	for _, e := range w.Entries {
		t.appendEntry(e)
	}
	if err := each(w.Accept, t.accept); err != nil {
		return err
	}
	if err := each(w.Leases, t.lease); err != nil {
		return err
	}
	if err := each(w.Settle, t.settle); err != nil {
		return err
	}
	for _, k := range w.DropUnsent {
		t.dropUnsent(k)
	}
	if err := each(w.Outbox, t.post); err != nil {
		return err
	}
	if err := each(w.Deliveries, t.deliver); err != nil {
		return err
	}
	if err := each(w.Redrive, t.redrive); err != nil {
		return err
	}
	if err := each(w.Claim, t.claim); err != nil {
		return err
	}
	for _, e := range w.Effects {
		t.putEffect(e)
	}
	for _, k := range w.Release {
		drop(t, t.effects, k)
	}
	if err := each(w.Turns, t.record); err != nil {
		return err
	}
	for _, d := range w.Bury {
		t.bury(d)
	}
	for _, k := range w.Unbury {
		drop(t, t.letters, k)
	}
	return each(w.Answers, t.answer)
}

func each[T any](list []T, write func(T) error) error {
	for _, one := range list {
		if err := write(one); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) putExchange(x store.Exchange) error {
	what := fmt.Sprintf("write the exchange of %s with %s in conversation %s", x.Owner, x.Peer, x.Conversation)
	state, err := json.Marshal(x.State)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	old, found := t.exchanges[x.Key]
	if old.Version != x.Version {
		return fmt.Errorf("%s: %w", what, store.ErrConflict)
	}
	place := old.place
	if !found {
		place = t.next()
	}
	t.putTimer(x.Key, x.NextTimer())
	t.regroup(old.Exchange, x)
	t.rebox(old.Exchange, x)
	x.Version++
	x.State = protocol.Exchange{State: x.State.State}
	x.OpenedAt, x.EndedAt, x.MovedAt = clock(x.OpenedAt), clock(x.EndedAt), clock(x.MovedAt)
	put(t, t.exchanges, x.Key, exchange{Exchange: x, state: state, place: place})
	return nil
}

// putTimer gives an exchange its timer, or none if that has no name.
func (t *tables) putTimer(k store.Key, timer store.Timer) {
	if before, runs := t.timers[k]; runs {
		remove(t, t.running, before)
		drop(t, t.timers, k)
	}
	if timer.Name != "" {
		add(t, t.running, timer)
		put(t, t.timers, k, timer)
	}
}

// regroup moves an exchange from the groups of old to its own.
func (t *tables) regroup(old, x store.Exchange) {
	if old.Version > 0 {
		join(t, t.children, old.Parent, x.Key, false)
		join(t, t.business, business{x.Owner, old.Correlation}, x.Key, false)
	}
	if x.Parent != (store.Key{}) {
		join(t, t.children, x.Parent, x.Key, true)
	}
	join(t, t.business, business{x.Owner, x.Correlation}, x.Key, true)
	join(t, t.talks, talk{x.Owner, x.Conversation}, x.Key, true)
	join(t, t.live, x.Owner, x.Key, !x.State.Done())
}

func (t *tables) appendEntry(e store.Entry) {
	k := talk{e.Owner, e.Conversation}
	log := t.logs[k]
	var prev [32]byte
	if len(log) > 0 {
		prev = log[len(log)-1].Hash
	}
	e.Index, e.At = int64(len(log)+1), clock(e.At)
	e.Envelope, e.Note = bytes.Clone(e.Envelope), bytes.Clone(e.Note)
	e.Hash = store.Link(prev, e)
	// What append writes behind the end of an undone log nobody reads.
	put(t, t.logs, k, append(log, e))
	m := message{store.Key{Owner: e.Owner, Conversation: e.Conversation, Peer: e.Peer}, e.Kind, e.MessageID}
	if _, found := t.messages[m]; !found && e.MessageID != "" {
		put(t, t.messages, m, len(log))
	}
}

func (t *tables) accept(i store.Inbox) error {
	if _, found := t.inbox[i.InboxKey]; found {
		return fmt.Errorf("accept message %s of %s: %w", i.MessageID, i.Sender, store.ErrDuplicate)
	}
	i.AcceptedAt, i.ExpiresAt = clock(i.AcceptedAt), clock(i.ExpiresAt)
	i.LeaseUntil, i.FirstUntil = clock(i.LeaseUntil), clock(i.LeaseUntil)
	t.putInbox(i)
	return nil
}

func (t *tables) lease(l store.Lease) error {
	i, err := t.leased(l.InboxKey, l.Fence)
	if err != nil {
		return fmt.Errorf("lease message %s of %s under fence %d: %w", l.MessageID, l.Sender, l.Fence, err)
	}
	put(t, t.inbox, l.InboxKey, i.Leased(clock(l.Until)))
	return nil
}

func (t *tables) settle(s store.Settlement) error {
	i, err := t.leased(s.InboxKey, s.Fence)
	if err != nil {
		return fmt.Errorf("settle message %s of %s under fence %d: %w", s.MessageID, s.Sender, s.Fence, err)
	}
	i.Status = store.Settled
	t.putInbox(i)
	return nil
}

func (t *tables) putInbox(i store.Inbox) {
	put(t, t.inbox, i.InboxKey, i)
	join(t, t.open, i.Recipient, i.InboxKey, i.Status == store.InProgress)
}

// leased finds an inbox row that is in progress under the fence.
func (t *tables) leased(k store.InboxKey, fence int64) (store.Inbox, error) {
	i, found := t.inbox[k]
	switch {
	case !found:
		return i, store.ErrNotFound
	case i.Status != store.InProgress || i.Attempt != fence:
		return i, store.ErrFenced
	}
	return i, nil
}

func (t *tables) claim(e store.Effect) error {
	if _, found := t.effects[e.EffectKey]; found {
		return fmt.Errorf("claim effect %s of %s: %w", e.Key, e.Sender, store.ErrDuplicate)
	}
	t.putEffect(e)
	return nil
}

func (t *tables) putEffect(e store.Effect) {
	e.Fingerprint, e.At, e.ExpiresAt = bytes.Clone(e.Fingerprint), clock(e.At), clock(e.ExpiresAt)
	put(t, t.effects, e.EffectKey, e)
}

func (t *tables) record(turn store.Turn) error {
	old := t.turns[turn.Key]
	if _, found := old[turn.Ordinal]; found {
		return fmt.Errorf("record turn %d of %s in conversation %s: %w", turn.Ordinal, turn.Owner, turn.Conversation, store.ErrDuplicate)
	}
	turn.Data, turn.At = bytes.Clone(turn.Data), clock(turn.At)
	if old == nil {
		old = map[int]store.Turn{}
		put(t, t.turns, turn.Key, old)
	}
	put(t, old, turn.Ordinal, turn)
	return nil
}
