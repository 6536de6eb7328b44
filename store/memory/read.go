package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-agents/parley/store"
)

// find reads the record under a key, or store.ErrNotFound.
func find[K comparable, V any](table map[K]V, k K, what string) (V, error) {
	v, found := table[k]
	if !found {
		return v, fmt.Errorf("read %s: %w", what, store.ErrNotFound)
	}
	return v, nil
}

// Exchange implements store.Store.
func (s *Store) Exchange(ctx context.Context, k store.Key) (found store.Exchange, err error) {
	err = s.locked(ctx, func(t *tables) error {
		x, err := find(t.exchanges, k, fmt.Sprintf("the exchange of %s with %s in conversation %s", k.Owner, k.Peer, k.Conversation))
		if err == nil {
			found, err = x.read()
		}
		return err
	})
	return found, err
}

// exchangesWhere lists exchanges in the order in which they were opened.
func (s *Store) exchangesWhere(ctx context.Context, want func(exchange) bool) (found []store.Exchange, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found, err = t.exchangesWhere(want)
		return err
	})
	return found, err
}

func (t *tables) exchangesWhere(want func(exchange) bool) ([]store.Exchange, error) {
	var rows []exchange
	for _, x := range t.exchanges {
		if want(x) {
			rows = append(rows, x)
		}
	}
	slices.SortFunc(rows, func(a, b exchange) int { return cmp.Compare(a.place, b.place) })
	var found []store.Exchange
	for _, row := range rows {
		x, err := row.read()
		if err != nil {
			return nil, err
		}
		found = append(found, x)
	}
	return found, nil
}

// Exchanges implements store.Store. Live exchanges come in the order in which
// they were opened.
func (s *Store) Exchanges(ctx context.Context, owner, conversation string) ([]store.Exchange, error) {
	if conversation == "" {
		return s.exchangesWhere(ctx, func(x exchange) bool { return x.Owner == owner && !x.State.Done() })
	}
	found, err := s.exchangesWhere(ctx, func(x exchange) bool { return x.Owner == owner && x.Conversation == conversation })
	slices.SortFunc(found, func(a, b store.Exchange) int { return cmp.Compare(a.Peer, b.Peer) })
	return found, err
}

// Children implements store.Store. They come in the order in which they were
// opened.
func (s *Store) Children(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	return s.exchangesWhere(ctx, func(x exchange) bool { return x.Parent == k && k != store.Key{} })
}

// Correlated implements store.Store.
func (s *Store) Correlated(ctx context.Context, owner, correlation string) ([]store.Exchange, error) {
	return s.exchangesWhere(ctx, func(x exchange) bool { return x.Owner == owner && x.Correlation == correlation })
}

// Owners implements store.Store.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	err = s.locked(ctx, func(t *tables) error {
		owners = slices.Collect(maps.Keys(t.identities))
		for k := range t.exchanges {
			owners = append(owners, k.Owner)
		}
		slices.Sort(owners)
		owners = slices.Compact(owners)
		return nil
	})
	return owners, err
}

// Conversations implements store.Store.
func (s *Store) Conversations(ctx context.Context, owner string, limit int) (found []store.Conversation, err error) {
	err = s.locked(ctx, func(t *tables) error {
		all, err := t.exchangesWhere(func(x exchange) bool { return owner == "" || x.Owner == owner })
		if err != nil {
			return err
		}
		var order []talk
		exchanges := map[talk][]store.Exchange{}
		for _, x := range all {
			k := talk{x.Owner, x.Conversation}
			if exchanges[k] == nil {
				order = append(order, k)
			}
			exchanges[k] = append(exchanges[k], x)
		}
		slices.Reverse(order)
		for _, k := range order[:min(len(order), max(limit, 0))] {
			found = append(found, store.Summary(exchanges[k], t.messages(k)))
		}
		return nil
	})
	return found, err
}

func (t *tables) messages(k talk) int {
	n := 0
	for _, e := range t.logs[k] {
		if e.MessageID != "" {
			n++
		}
	}
	return n
}

// Inbox implements store.Store.
func (s *Store) Inbox(ctx context.Context, k store.InboxKey) (found store.Inbox, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found, err = find(t.inbox, k, fmt.Sprintf("message %s of %s in the inbox of %s", k.MessageID, k.Sender, k.Recipient))
		return err
	})
	return found, err
}

// Log implements store.Store.
func (s *Store) Log(ctx context.Context, owner, conversation string, after int64) (found []store.Entry, err error) {
	err = s.locked(ctx, func(t *tables) error {
		log := t.logs[talk{owner, conversation}]
		for _, e := range log[min(max(after, 0), int64(len(log))):] {
			found = append(found, readEntry(e))
		}
		return nil
	})
	return found, err
}

func readEntry(e store.Entry) store.Entry {
	e.Envelope = bytes.Clone(e.Envelope)
	return e
}

// Message implements store.Store.
func (s *Store) Message(ctx context.Context, k store.Key, kind store.EntryKind, messageID string) (found store.Entry, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for _, e := range t.logs[talk{k.Owner, k.Conversation}] {
			if e.Peer == k.Peer && e.Kind == kind && e.MessageID == messageID && messageID != "" {
				found = readEntry(e)
				return nil
			}
		}
		return fmt.Errorf("read the log entry of %s about %s message %s of conversation %s with %s: %w",
			k.Owner, kind, messageID, k.Conversation, k.Peer, store.ErrNotFound)
	})
	return found, err
}

// Outbox implements store.Store.
func (s *Store) Outbox(ctx context.Context, k store.Key) (found []store.Outbox, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for _, l := range t.lines[k] {
			found = append(found, t.outbox[l].Outbox)
		}
		return nil
	})
	return found, err
}

// Effect implements store.Store.
func (s *Store) Effect(ctx context.Context, k store.EffectKey) (found store.Effect, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found, err = find(t.effects, k, fmt.Sprintf("effect %s of %s in the ledger of %s", k.Key, k.Sender, k.Recipient))
		found.Fingerprint = bytes.Clone(found.Fingerprint)
		return err
	})
	return found, err
}

// Turns implements store.Store.
func (s *Store) Turns(ctx context.Context, k store.Key) (found []store.Turn, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for _, ordinal := range slices.Sorted(maps.Keys(t.turns[k])) {
			turn := t.turns[k][ordinal]
			turn.Data = bytes.Clone(turn.Data)
			found = append(found, turn)
		}
		return nil
	})
	return found, err
}
