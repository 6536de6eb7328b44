package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// stateGiven is where a member of a gather waits for the fence.
const stateGiven protocol.State = "given"

// abandoned reports whether the work of the exchange, in which the owner takes
// part, came to nothing: it was cancelled, failed, was refused, or its time or
// its gather went by without it. What it opened and did not wait for serves
// nobody any more.
func abandoned(x protocol.Exchange) bool {
	if x.Role != protocol.Participant {
		return false
	}
	if x.Protocol == protocol.GatherV1 {
		unheard := x.Sent == 0 && (x.Fence != "" || x.State == stateGiven)
		return x.Cancel != "" || x.Error != nil || unheard
	}
	switch x.State {
	case "cancelling", "failing", "overdue", "lateaward":
		return true
	}
	return x.Done() && !x.Outcome().OK()
}

// cascade cancels what the work of the exchange has opened until now, once the
// step that abandons it is committed. What the handler opens when it is told to
// stop, to clean up, is not among it.
func (s *step) cascade(ctx context.Context) error {
	children, err := s.host.children(ctx, s.x.Key)
	if err != nil || len(children) == 0 {
		return err
	}
	s.after = append(s.after, func() { s.host.spawn(func() { s.host.forsake(children) }) })
	return nil
}

// children are the exchanges that the work of k opened and that can still be
// cancelled. One whose time is over is left to its own timer: nobody asked for
// its end but the clock.
func (h *Host) children(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	all, err := h.store.Children(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("reading what the work of %s with %s opened: %w", k.Conversation, k.Peer, err)
	}
	now := h.seam.now()
	var list []store.Exchange
	for _, x := range all {
		if cancellable(x.State) && now.Before(x.State.ReplyBy) {
			list = append(list, x)
		}
	}
	return list, nil
}

// forsake cancels the exchanges, those of one conversation together, as soon as
// that can be written.
func (h *Host) forsake(list []store.Exchange) {
	disbanded := map[string]bool{}
	for _, x := range list {
		if disbanded[x.Conversation] {
			continue
		}
		cancel, k := h.withdraw, x.Key
		if multiparty(x.State.Protocol) {
			cancel, k = h.withdrawAll, conversationKey(k)
			disbanded[x.Conversation] = true
		}
		for ctx := h.running; ctx.Err() == nil; h.pause(ctx, unwrittenBackoff) {
			err := cancel(ctx, k)
			if err == nil {
				break
			}
			h.cancelFailed(ctx, k, err)
		}
	}
}

// forsakeEnded cancels what the work of k opened, if that work has ended and was
// abandoned: a handler may open more after it was told to stop, and an earlier
// host may have ended before it could cancel anything.
func (h *Host) forsakeEnded(ctx context.Context, k store.Key) error {
	x, err := h.store.Exchange(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
	}
	if !abandoned(x.State) || owes(x.State) {
		return nil
	}
	list, err := h.children(ctx, k)
	h.forsake(list)
	return err
}

// forsakeStopped cancels what is left of work whose context ended before it did.
func (h *Host) forsakeStopped(ctx context.Context, k store.Key) {
	if context.Cause(ctx) == nil || h.running.Err() != nil {
		return
	}
	if err := h.forsakeEnded(h.running, k); err != nil && h.running.Err() == nil {
		h.report(h.running, CancelFailed, k, err)
	}
}

// forsakeLeft cancels what an earlier host of the store has left of abandoned
// work among the live exchanges of an owner.
func (h *Host) forsakeLeft(live []store.Exchange) {
	looked := map[store.Key]bool{{}: true}
	for _, x := range live {
		k := x.Parent
		if looked[k] {
			continue
		}
		looked[k] = true
		h.group.Go(func() {
			if err := h.forsakeEnded(h.running, k); err != nil && h.running.Err() == nil {
				h.report(h.running, CancelFailed, k, err)
			}
		})
	}
}
