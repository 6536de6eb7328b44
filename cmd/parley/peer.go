package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func (p process) peerCommand() *cobra.Command {
	return group("peer", "Look at agents elsewhere and at the keys that they are known by", peerCard(), peerLs(), p.peerUnpin())
}

// pinned is the key that an agent elsewhere is known by.
type pinned struct {
	URI         string `json:"uri"`
	Fingerprint string `json:"fingerprint"`
	From        string `json:"from"`
	At          string `json:"at"`
}

func pinnedOf(p store.Pin) pinned {
	return pinned{URI: p.URI, Fingerprint: a2a.Fingerprint(p.Key), From: p.From, At: moment(p.At)}
}

func pinnedRows(list []pinned) [][]string {
	rows := [][]string{{"AGENT", "KEY", "MET AT", "WHEN"}}
	for _, l := range list {
		rows = append(rows, []string{l.URI, l.Fingerprint, l.From, l.At})
	}
	return rows
}

func peerLs() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the keys that agents elsewhere are known by",
		Long: `List the keys that agents elsewhere are known by, by the agents' URIs. A key is
kept when its agent is first met, and the agent must show it from then on. A host
may be running; nothing is written.

-o json prints {"peers": [{"uri", "fingerprint", "from", "at"}]}. It was met at
the URL from, or on loopback, at that time.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return reading(c, db, func(s *sqlite.Store) error {
				found, err := s.Pins(c.Context())
				if err != nil {
					return err
				}
				var list []pinned
				for _, f := range found {
					list = append(list, pinnedOf(f))
				}
				return showList(c, "peers", list, func() [][]string { return pinnedRows(list) })
			})
		},
	}
	dbFlag(c, &db)
	return c
}

func (p process) peerUnpin() *cobra.Command {
	var db string
	var dryRun, yes bool
	c := &cobra.Command{
		Use:   "unpin URI",
		Short: "Forget the key that an agent is known by",
		Long: `Forget the key that an agent elsewhere is known by: the next key that it shows is
kept in its place. Do so when whoever runs the agent says that its key has
changed; then compare what parley peer card prints with what they say. A host
may be running, and takes the next key when it next reads the agent's card. On a
terminal the verb asks whether it is meant; --yes does not ask, --dry-run only
says what would be forgotten.

-o json prints {"uri", "fingerprint", "from", "at"}: what was forgotten.`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeFrom(&db, 1, func(ctx context.Context, s store.Store) (names []string, err error) {
			found, err := s.Pins(ctx)
			for _, f := range found {
				names = append(names, described(f.URI, "met at "+f.From))
			}
			return names, err
		}),
		RunE: func(c *cobra.Command, args []string) error {
			uri, err := ownerURI(args[0])
			if err != nil {
				return err
			}
			if uri == "" {
				return &usageError{errors.New("want the URI of an agent")}
			}
			var known store.Pin
			err = reading(c, db, func(s *sqlite.Store) error {
				known, err = s.Pinned(c.Context(), uri)
				return err
			})
			if err != nil {
				return err
			}
			if !dryRun {
				if !yes {
					if err := p.confirm(c.Context(), fmt.Sprintf("Forget the key %s of %s?", a2a.Fingerprint(known.Key), uri)); err != nil {
						return err
					}
				}
				if err := sqlite.Unpin(c.Context(), db, uri); err != nil {
					return err
				}
			}
			one := pinnedOf(known)
			return show(c, one, func() [][]string { return pinnedRows([]pinned{one}) })
		},
	}
	dbFlag(c, &db)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be forgotten")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask whether it is meant")
	return c
}
