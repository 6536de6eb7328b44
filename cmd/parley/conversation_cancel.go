package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func (p process) conversationCancel() *cobra.Command {
	var a asking
	var owner, peer string
	c := &cobra.Command{
		Use:   "cancel ID",
		Short: "Have a conversation cancelled",
		Long: `Ask the host to cancel a conversation on behalf of the agent that opened it: all
that has not ended of it, or what it has with one peer. A cancel is a request:
the peer stops if it can, and what was done by then stays done. parley
conversation watch shows how it ends. On behalf of an agent that was asked, which
--owner names if who opened it is in this store too, the host ends the work on
it as failed.

` + askingHelp,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeFrom(&a.db, 1, func(ctx context.Context, s store.Store) (names []string, err error) {
			found, err := s.Conversations(ctx, "", completions)
			for _, f := range found {
				if f.State == store.Live {
					names = append(names, described(f.ID, f.Protocol+" of "+f.Owner))
				}
			}
			return names, err
		}),
		RunE: func(c *cobra.Command, args []string) error {
			return p.ask(c, a, func(s *sqlite.Store) (wish, error) {
				k, err := cancellable(c.Context(), s, owner, peer, args[0])
				return wish{Command: store.Command{Verb: store.VerbCancel, Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer}}, err
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "on whose behalf: a URI, or a name under local (default: whoever opened it)")
	peerFlag(c, &peer)
	askingFlags(c, &a)
	return c
}

// cancellable finds whose side of the conversation is meant, that of the agent
// that opened it if it is here, and sees that some of it, or what it has with
// the peer, has not ended.
func cancellable(ctx context.Context, s store.Store, owner, peer, id string) (k store.Key, err error) {
	uri, err := ownerURI(owner)
	if err != nil {
		return k, err
	}
	with, err := ownerURI(peer)
	if err != nil {
		return k, err
	}
	sides, err := sidesOf(ctx, s, uri, id)
	if err != nil {
		return k, err
	}
	meant := initiators(sides)
	if !meant.opened() {
		if meant, err = single("conversation "+id, sides, "--owner", func(r side) string { return "at " + r.owner }); err != nil {
			return k, err
		}
	}
	exchanges := slices.DeleteFunc(slices.Clone(meant.exchanges), func(x store.Exchange) bool { return with != "" && x.Peer != with })
	if len(exchanges) == 0 && with != "" {
		return k, fmt.Errorf("conversation %s of %s with %s: %w", id, meant.owner, with, store.ErrNotFound)
	}
	if !slices.ContainsFunc(exchanges, func(x store.Exchange) bool { return !x.State.Done() }) {
		return k, fmt.Errorf("conversation %s has ended: there is nothing to cancel", id)
	}
	return store.Key{Owner: meant.owner, Conversation: id, Peer: with}, nil
}
