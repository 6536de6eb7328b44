package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// side is what a store has of a conversation from one agent's side.
type side struct {
	owner, id string
	log       []store.Entry
	exchanges []store.Exchange
}

// readSides reads the sides of a conversation in the store at path: that of one
// owner, or of all who have one.
func readSides(c *cobra.Command, path, owner, id string) (sides []side, err error) {
	uri, err := ownerURI(owner)
	if err != nil {
		return nil, err
	}
	s, err := inspect(c.Context(), path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return sidesOf(c.Context(), s, uri, id)
}

// sidesOf reads the sides of a conversation: that of one owner, or of all who
// have one when owner is "".
func sidesOf(ctx context.Context, s store.Store, owner, id string) (sides []side, err error) {
	owners := []string{owner}
	if owner == "" {
		if owners, err = s.Owners(ctx); err != nil {
			return nil, err
		}
	}
	for _, owner := range owners {
		log, err := s.Log(ctx, owner, id, 0)
		if err != nil {
			return nil, err
		}
		exchanges, err := s.Exchanges(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		if len(log) > 0 || len(exchanges) > 0 {
			sides = append(sides, side{owner, id, log, exchanges})
		}
	}
	if len(sides) == 0 {
		return nil, fmt.Errorf("conversation %s: %w", id, store.ErrNotFound)
	}
	return sides, nil
}

// initiators is the side that opened the conversation; the first one if the
// store has none that did.
func initiators(sides []side) side {
	for _, r := range sides {
		if r.opened() {
			return r
		}
	}
	return sides[0]
}

// opened goes by the rows and by the log: one of the two may have been lost.
func (r side) opened() bool {
	if len(r.log) > 0 && (r.log[0].Kind == store.Sent || r.log[0].Kind == store.Bound) {
		return true
	}
	return slices.ContainsFunc(r.exchanges, func(x store.Exchange) bool { return x.State.Role == protocol.Initiator })
}
