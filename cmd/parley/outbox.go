package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// outboxRow is one line of outbox ls.
type outboxRow struct {
	Owner        string `json:"owner"`
	Peer         string `json:"peer"`
	MessageID    string `json:"message_id"`
	Conversation string `json:"conversation"`
	Status       string `json:"status"`
	Attempt      int    `json:"attempt"`
	Priority     string `json:"priority"`
	NextAt       string `json:"next_at,omitempty"`
	ExpiresAt    string `json:"expires_at,omitempty"`
	LastError    string `json:"last_error,omitempty"`
}

func outboxRowOf(o store.Outbox) outboxRow {
	row := outboxRow{Owner: o.Owner, Peer: o.Receiver, MessageID: o.MessageID, Conversation: o.Conversation, Status: string(o.Status),
		Attempt: o.Attempt, Priority: o.Priority, ExpiresAt: moment(o.ExpiresAt), LastError: o.LastError}
	if row.Priority == "" {
		row.Priority = "normal"
	}
	if o.Status == store.Pending {
		row.NextAt = moment(o.NextAt)
	}
	return row
}

// outboxStatuses are the words of --status.
func outboxStatuses() []string {
	return []string{string(store.Pending), string(store.Delivered), string(store.Returned), string(store.Dropped), string(store.Dead)}
}

func (p process) outboxCommand() *cobra.Command {
	return group("outbox", "Look at the messages that agents send, and send one now", outboxLs(), p.outboxRetry())
}

func outboxLs() *cobra.Command {
	var db, owner string
	var limit int
	var words []string
	c := &cobra.Command{
		Use:   "ls",
		Short: "List outgoing messages, the newest first",
		Long: `List the messages that agents send, the one committed last first. A host may be
running; nothing is written.

-o json prints {"outbox": [{"owner", "peer", "message_id", "conversation",
"status", "attempt", "priority", "next_at", "expires_at", "last_error"}]}. The
owner sends it to the peer. The status is
  pending    to be sent, or sent again, at next_at
  delivered  the peer has it
  returned   the peer refused it for good
  dropped    a cancel overtook it before it was ever sent
  dead       it was given up: see parley dlq ls
After expires_at it would no longer help.`,
		Example:           "  parley outbox ls --status pending",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			uri, err := ownerURI(owner)
			if err = errors.Join(err, bounded(limit)); err != nil {
				return err
			}
			var statuses []store.OutboxStatus
			for _, word := range words {
				if !slices.Contains(outboxStatuses(), word) {
					return &usageError{fmt.Errorf("status %q: want %s", word, choices(outboxStatuses()))}
				}
				statuses = append(statuses, store.OutboxStatus(word))
			}
			return reading(c, db, func(s *sqlite.Store) error {
				found, err := s.Outboxes(c.Context(), uri, limit, statuses...)
				if err != nil {
					return err
				}
				var list []outboxRow
				for _, f := range found {
					list = append(list, outboxRowOf(f))
				}
				return showList(c, "outbox", list, func() [][]string {
					rows := [][]string{{"OWNER", "TO", "MESSAGE", "CONVERSATION", "STATUS", "PRIORITY", "ATTEMPT", "NEXT", "EXPIRES", "LAST ERROR"}}
					for _, l := range list {
						rows = append(rows, []string{l.Owner, l.Peer, l.MessageID, l.Conversation, l.Status, l.Priority,
							strconv.Itoa(l.Attempt), l.NextAt, l.ExpiresAt, l.LastError})
					}
					return rows
				})
			})
		},
	}
	dbFlag(c, &db)
	ownerFlag(c, &owner)
	limitFlag(c, &limit)
	c.Flags().StringSliceVar(&words, "status", nil, "only those that are "+choices(outboxStatuses())+"; several are separated by commas (default: all)")
	complete(c, "status", outboxStatuses())
	return c
}

func (p process) outboxRetry() *cobra.Command {
	var a asking
	var owner string
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Have a pending message sent now",
		Long: `Ask the host to send a pending message now instead of at its next time. What
stands before it in its line still leaves first, its attempts still count, and
its expiry stays. A message that was given up is a dead letter: see parley dlq.

` + askingHelp,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeFrom(&a.db, 1, func(ctx context.Context, s store.Store) (names []string, err error) {
			found, err := s.Outboxes(ctx, "", completions, store.Pending)
			for _, f := range found {
				names = append(names, described(f.MessageID, "to "+f.Receiver))
			}
			return names, err
		}),
		RunE: func(c *cobra.Command, args []string) error {
			return p.ask(c, a, func(s *sqlite.Store) (wish, error) {
				row, err := outgoing(c.Context(), s, owner, args[0])
				if err != nil {
					return wish{}, err
				}
				switch row.Status {
				case store.Pending:
				case store.Dead:
					return wish{}, fmt.Errorf("message %s was given up: see parley dlq requeue", row.MessageID)
				default:
					return wish{}, fmt.Errorf("message %s is not pending: it was %s", row.MessageID, row.Status)
				}
				return wish{Command: store.Command{Verb: store.VerbRetry, Owner: row.Owner, Conversation: row.Conversation, Peer: row.Receiver, MessageID: row.MessageID}}, nil
			})
		},
	}
	ownerFlag(c, &owner)
	askingFlags(c, &a)
	return c
}

// outgoing finds the outbox row of a message.
func outgoing(ctx context.Context, s store.Store, owner, id string) (one store.Outbox, err error) {
	uri, err := ownerURI(owner)
	if err != nil {
		return one, err
	}
	owners := []string{uri}
	if uri == "" {
		if owners, err = s.Owners(ctx); err != nil {
			return one, err
		}
	}
	var found []store.Outbox
	for _, owner := range owners {
		row, err := s.OutboxRow(ctx, owner, id)
		switch {
		case err == nil:
			found = append(found, row)
		case !errors.Is(err, store.ErrNotFound):
			return one, err
		}
	}
	return single("message "+id+" in the outboxes", found, "--owner", func(o store.Outbox) string { return "of " + o.Owner })
}
