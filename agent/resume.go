package agent

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// resume starts the work that an earlier host of the store had in hand.
func (h *Host) resume(ctx context.Context) error {
	for _, owner := range h.owners {
		rows, err := h.store.TakeOver(ctx, owner)
		if err != nil {
			return fmt.Errorf("taking over the work of %s: %w", owner, err)
		}
		for _, row := range rows {
			k := store.Key{Owner: owner, Conversation: row.Conversation, Peer: row.Sender}
			x, err := h.renewLease(ctx, k)
			if err != nil {
				return err
			}
			h.resumeJob(ctx, x, row.AcceptedAt)
		}
		live, err := h.store.Exchanges(ctx, owner, "")
		if err != nil {
			return fmt.Errorf("reading the exchanges of %s: %w", owner, err)
		}
		h.resumeGathers(live)
		h.forsakeLeft(live)
	}
	return nil
}

// renewLease gives the subscriber of a publication that was interrupted its
// time again: it was this side that went silent.
func (h *Host) renewLease(ctx context.Context, k store.Key) (store.Exchange, error) {
	x, err := h.store.Exchange(ctx, k)
	if err != nil {
		return x, fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
	}
	if x.State.Protocol != protocol.SubscribeV1 || x.State.LeaseBy.IsZero() || x.State.Done() {
		return x, nil
	}
	x.State = protocol.Renew(x.State, h.seam.now())
	if err := h.store.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		return x, fmt.Errorf("renewing the lease of %s: %w", k.Conversation, err)
	}
	return x, nil
}

// resumeGathers looks at the gathers among the live exchanges of an owner: the
// last answer may have come in just before an earlier host ended.
func (h *Host) resumeGathers(live []store.Exchange) {
	var held []store.Key
	seen := map[store.Key]bool{}
	for _, x := range live {
		k := conversationKey(x.Key)
		if x.State.Role == protocol.Initiator && x.State.Protocol == protocol.GatherV1 && x.State.Fence == "" && !seen[k] {
			seen[k] = true
			held = append(held, k)
		}
	}
	for _, k := range held {
		h.group.Go(func() {
			a, err := h.assembly(h.running, k)
			if err == nil {
				err = h.reduce(h.running, a, h.seam.now())
			}
			if err != nil && h.running.Err() == nil {
				h.report(h.running, WorkFailed, k, err)
			}
		})
	}
}
