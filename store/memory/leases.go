package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// Meta implements store.Store.
func (s *Store) Meta(ctx context.Context, candidate store.Meta) (store.Meta, error) {
	var kept store.Meta
	err := s.locked(ctx, func(t *tables) error {
		if t.meta == nil {
			t.meta = &store.Meta{Generation: candidate.Generation, Secret: bytes.Clone(candidate.Secret)}
		}
		kept = store.Meta{Generation: t.meta.Generation, Secret: bytes.Clone(t.meta.Secret)}
		return nil
	})
	return kept, err
}

// Identity implements store.Store.
func (s *Store) Identity(ctx context.Context, candidate store.Identity) (store.Identity, error) {
	kept := store.Identity{Owner: candidate.Owner}
	err := s.locked(ctx, func(t *tables) error {
		if _, found := t.identities[candidate.Owner]; !found {
			t.identities[candidate.Owner] = bytes.Clone(candidate.Seed)
		}
		kept.Seed = bytes.Clone(t.identities[candidate.Owner])
		return nil
	})
	return kept, err
}

// TakeOver implements store.Store.
func (s *Store) TakeOver(ctx context.Context, owner string) ([]store.Inbox, error) {
	var taken []store.Inbox
	err := s.locked(ctx, func(t *tables) error {
		for k := range t.open[owner] {
			i := t.inbox[k].Ended()
			t.inbox[k] = i
			taken = append(taken, i)
		}
		slices.SortFunc(taken, func(a, b store.Inbox) int {
			return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), cmp.Compare(a.Conversation, b.Conversation),
				cmp.Compare(a.Sender, b.Sender), cmp.Compare(a.Seq, b.Seq))
		})
		return nil
	})
	return taken, err
}

// Renew implements store.Store.
func (s *Store) Renew(ctx context.Context, k store.InboxKey, fence int64, until time.Time) error {
	return s.Commit(ctx, store.WriteSet{Leases: []store.Lease{{InboxKey: k, Fence: fence, Until: until}}})
}
