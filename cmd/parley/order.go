package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store/sqlite"
)

func (p process) orderCommand() *cobra.Command {
	return group("command", "Look at what was asked of the host", orderLs(), orderShow())
}

func orderLs() *cobra.Command {
	var db, owner string
	var limit int
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the commands that wait for a host, the oldest first",
		Long: `List the commands that no host has carried out yet, the oldest first. A host may
be running; nothing is written.

-o json prints {"commands": [{"id", "verb", "owner", "conversation", "peer",
"message_id", "source", "by", "at", "status"}]}. The verb is cancel, retry,
requeue or drop, and the status is waiting.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			uri, err := ownerURI(owner)
			if err = errors.Join(err, bounded(limit)); err != nil {
				return err
			}
			return reading(c, db, func(s *sqlite.Store) error {
				owners := []string{uri}
				if uri == "" {
					if owners, err = s.Owners(c.Context()); err != nil {
						return err
					}
				}
				found, err := s.Commands(c.Context(), owners, limit)
				if err != nil {
					return err
				}
				var list []order
				for _, f := range found {
					list = append(list, orderOf(f))
				}
				return showList(c, "commands", list, func() [][]string { return orderRows(list) })
			})
		},
	}
	dbFlag(c, &db)
	ownerFlag(c, &owner)
	limitFlag(c, &limit)
	return c
}

func orderShow() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print a command and what the host made of it",
		Long: `Print a command and what the host made of it.

-o json prints {"id", "verb", "owner", "conversation", "peer", "message_id",
"source", "by", "at", "status", "done_at", "answer", "error"}. The status is
waiting, done or failed. The exit code is 1 if it failed.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return reading(c, db, func(s *sqlite.Store) error {
				asked, err := s.Command(c.Context(), args[0])
				if err != nil {
					return err
				}
				return answered(c, asked)
			})
		},
	}
	dbFlag(c, &db)
	return c
}
