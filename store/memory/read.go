package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
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

// listed reads the exchanges of a group in the order in which they were opened.
func (s *Store) listed(ctx context.Context, group func(*tables) map[store.Key]bool) (found []store.Exchange, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found, err = t.read(maps.Keys(group(t)))
		return err
	})
	return found, err
}

func (t *tables) read(keys iter.Seq[store.Key]) ([]store.Exchange, error) {
	var found []store.Exchange
	place := func(a, b store.Key) int { return cmp.Compare(t.exchanges[a].place, t.exchanges[b].place) }
	for _, k := range slices.SortedFunc(keys, place) {
		x, err := t.exchanges[k].read()
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
		return s.listed(ctx, func(t *tables) map[store.Key]bool { return t.live[owner] })
	}
	found, err := s.listed(ctx, func(t *tables) map[store.Key]bool { return t.talks[talk{owner, conversation}] })
	slices.SortFunc(found, func(a, b store.Exchange) int { return cmp.Compare(a.Peer, b.Peer) })
	return found, err
}

// Children implements store.Store. They come in the order in which they were
// opened.
func (s *Store) Children(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	return s.listed(ctx, func(t *tables) map[store.Key]bool { return t.children[k] })
}

// Correlated implements store.Store.
func (s *Store) Correlated(ctx context.Context, owner, correlation string) ([]store.Exchange, error) {
	return s.listed(ctx, func(t *tables) map[store.Key]bool { return t.business[business{owner, correlation}] })
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
		opened := map[talk]int64{}
		for k, members := range t.talks {
			if owner == "" || k.owner == owner {
				opened[k] = t.opened(members)
			}
		}
		newest := slices.SortedFunc(maps.Keys(opened), func(a, b talk) int { return cmp.Compare(opened[b], opened[a]) })
		for _, k := range newest[:min(len(newest), max(limit, 0))] {
			exchanges, err := t.read(maps.Keys(t.talks[k]))
			if err != nil {
				return err
			}
			found = append(found, store.Summary(exchanges, t.count(k)))
		}
		return nil
	})
	return found, err
}

// opened is the place of the first of some exchanges.
func (t *tables) opened(keys map[store.Key]bool) int64 {
	first := t.last
	for k := range keys {
		first = min(first, t.exchanges[k].place)
	}
	return first
}

// count is how many entries of a log have a message.
func (t *tables) count(k talk) int {
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
func (s *Store) Log(ctx context.Context, owner, conversation string, after int64) ([]store.Entry, error) {
	return s.LogPage(ctx, owner, conversation, after, math.MaxInt)
}

// LogPage implements store.Store.
func (s *Store) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) (found []store.Entry, err error) {
	err = s.locked(ctx, func(t *tables) error {
		log := t.logs[talk{owner, conversation}]
		log = log[min(max(after, 0), int64(len(log))):]
		for _, e := range log[:min(max(limit, 0), len(log))] {
			found = append(found, readEntry(e))
		}
		return nil
	})
	return found, err
}

func readEntry(e store.Entry) store.Entry {
	e.Envelope, e.Note = bytes.Clone(e.Envelope), bytes.Clone(e.Note)
	return e
}

// Message implements store.Store.
func (s *Store) Message(ctx context.Context, k store.Key, kind store.EntryKind, messageID string) (found store.Entry, err error) {
	err = s.locked(ctx, func(t *tables) error {
		at, err := find(t.messages, message{k, kind, messageID}, fmt.Sprintf("the log entry of %s about %s message %s of conversation %s with %s",
			k.Owner, kind, messageID, k.Conversation, k.Peer))
		if err == nil {
			found = readEntry(t.logs[talk{k.Owner, k.Conversation}][at])
		}
		return err
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
