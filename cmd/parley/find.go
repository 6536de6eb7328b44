package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// reach is how many rows a verb looks through for a message id, the newest
// first.
const reach = 100_000

// single returns the only element of found. Ids are given whole: those of one
// moment differ only near their end, so that what is the only one with its
// beginning today need not be tomorrow. One id can still stand in several
// places; then flags must say which.
func single[T any](what string, found []T, flags string, place func(T) string) (one T, err error) {
	switch len(found) {
	case 0:
		return one, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	case 1:
		return found[0], nil
	}
	var places []string
	for _, f := range found {
		places = append(places, place(f))
	}
	return one, &usageError{fmt.Errorf("%s stands in %d places: choose with %s: %s", what, len(found), flags, strings.Join(places, "; "))}
}

// reading opens the store at path for reading, runs do and closes it again.
func reading(c *cobra.Command, path string, do func(*sqlite.Store) error) (err error) {
	s, err := inspect(c.Context(), path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// limitFlag adds the flag that bounds a list.
func limitFlag(c *cobra.Command, limit *int) { c.Flags().IntVar(limit, "limit", 20, "at most so many") }

// ownerFlag adds a flag that names an agent.
func ownerFlag(c *cobra.Command, owner *string) {
	c.Flags().StringVar(owner, "owner", "", "only of this agent: its URI, or its name under local (default: all)")
}

// peerFlag adds a flag that names the other side.
func peerFlag(c *cobra.Command, peer *string) {
	c.Flags().StringVar(peer, "peer", "", "only with this agent: its URI, or its name under local (default: all)")
}

// bounded checks a limit.
func bounded(limit int) error {
	if limit < 1 {
		return &usageError{fmt.Errorf("limit %d: want at least 1", limit)}
	}
	return nil
}
