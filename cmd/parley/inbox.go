package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// inboxRow is one line of inbox ls.
type inboxRow struct {
	Owner        string `json:"owner"`
	Peer         string `json:"peer"`
	MessageID    string `json:"message_id"`
	Conversation string `json:"conversation"`
	Seq          int64  `json:"seq"`
	Status       string `json:"status"`
	Attempt      int64  `json:"attempt"`
	Runs         int64  `json:"runs"`
	LeaseUntil   string `json:"lease_until,omitempty"`
	AcceptedAt   string `json:"accepted_at"`
	ExpiresAt    string `json:"expires_at,omitempty"`
}

func inboxRowOf(i store.Inbox) inboxRow {
	row := inboxRow{Owner: i.Recipient, Peer: i.Sender, MessageID: i.MessageID, Conversation: i.Conversation, Seq: i.Seq,
		Status: string(i.Status), Attempt: i.Attempt, Runs: i.Runs, AcceptedAt: moment(i.AcceptedAt), ExpiresAt: moment(i.ExpiresAt)}
	if i.Status == store.InProgress {
		row.LeaseUntil = moment(i.LeaseUntil)
	}
	return row
}

func (p process) inboxCommand() *cobra.Command {
	return group("inbox", "Look at the messages that agents have received", inboxLs(), inboxPeek())
}

func inboxLs() *cobra.Command {
	var db, owner string
	var limit int
	var open bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List received messages, the newest first",
		Long: `List the messages that agents have accepted, the one accepted last first. A
host may be running; nothing is written.

-o json prints {"inbox": [{"owner", "peer", "message_id", "conversation", "seq",
"status", "attempt", "runs", "lease_until", "accepted_at", "expires_at"}]}. The
owner received it, the peer sent it. The status is in-progress or settled; the
attempt rises each time the work on it is taken over, the runs when a host ended
out of order with the work in hand, and only what is in hand has a lease. After
expires_at the row may be forgotten.`,
		Example:           "  parley inbox ls --open",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			uri, err := ownerURI(owner)
			if err = errors.Join(err, bounded(limit)); err != nil {
				return err
			}
			return reading(c, db, func(s *sqlite.Store) error {
				found, err := s.Inboxes(c.Context(), uri, open, limit)
				if err != nil {
					return err
				}
				var list []inboxRow
				for _, f := range found {
					list = append(list, inboxRowOf(f))
				}
				return showList(c, "inbox", list, func() [][]string {
					rows := [][]string{{"OWNER", "FROM", "MESSAGE", "CONVERSATION", "SEQ", "STATUS", "ATTEMPT", "RUNS", "LEASE UNTIL", "ACCEPTED"}}
					for _, l := range list {
						rows = append(rows, []string{l.Owner, l.Peer, l.MessageID, l.Conversation, strconv.FormatInt(l.Seq, 10), l.Status,
							strconv.FormatInt(l.Attempt, 10), strconv.FormatInt(l.Runs, 10), l.LeaseUntil, l.AcceptedAt})
					}
					return rows
				})
			})
		},
	}
	dbFlag(c, &db)
	ownerFlag(c, &owner)
	limitFlag(c, &limit)
	c.Flags().BoolVar(&open, "open", false, "only those that are being worked on")
	return c
}

// peeked is what inbox peek prints.
type peeked struct {
	inboxRow
	Message *message `json:"message,omitempty"`
}

func inboxPeek() *cobra.Command {
	var db, owner, peer string
	var content bool
	c := &cobra.Command{
		Use:   "peek ID",
		Short: "Print a received message",
		Long: `Print a received message: its row in the inbox and its header; what it says only
with --content, and not if its labels have a privacy tag other than public and
internal. Looking changes nothing. Senders choose message ids, so two of them
can have used one: then --owner and --peer choose.

-o json prints {"owner", "peer", "message_id", "conversation", "seq", "status",
"attempt", "runs", "lease_until", "accepted_at", "expires_at", "message":
{"header", "content", "withheld"}}. Withheld are the tags for which the content stays away.
There is no message once its conversation was forgotten.`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeFrom(&db, 1, func(ctx context.Context, s store.Store) (names []string, err error) {
			found, err := s.Inboxes(ctx, "", false, completions)
			for _, f := range found {
				names = append(names, described(f.MessageID, string(f.Status)+", from "+f.Sender))
			}
			return names, err
		}),
		RunE: func(c *cobra.Command, args []string) error {
			return reading(c, db, func(s *sqlite.Store) error {
				row, err := received(c.Context(), s, owner, peer, args[0])
				if err != nil {
					return err
				}
				out := peeked{inboxRow: inboxRowOf(row)}
				stored, err := s.Message(c.Context(), store.Key{Owner: row.Recipient, Conversation: row.Conversation, Peer: row.Sender}, store.Received, row.MessageID)
				if errors.Is(err, store.ErrNotFound) {
					stored, err = store.Entry{}, nil
				}
				if err != nil {
					return err
				}
				if out.Message, err = shownMessage(stored.Envelope, content); err != nil {
					return fmt.Errorf("message %s: %w", row.MessageID, err)
				}
				return show(c, out, func() [][]string {
					r := out.inboxRow
					rows := [][]string{{"FIELD", "VALUE"}, {"inbox of", r.Owner}, {"status", r.Status}, {"attempt", strconv.FormatInt(r.Attempt, 10)},
						{"runs", strconv.FormatInt(r.Runs, 10)}}
					if r.LeaseUntil != "" {
						rows = append(rows, []string{"lease until", r.LeaseUntil})
					}
					return append(append(rows, []string{"accepted", r.AcceptedAt}, []string{"kept until", cmp.Or(r.ExpiresAt, "its conversation is forgotten")}), out.Message.rows()...)
				})
			})
		},
	}
	dbFlag(c, &db)
	ownerFlag(c, &owner)
	peerFlag(c, &peer)
	contentFlag(c, &content)
	return c
}

func contentFlag(c *cobra.Command, content *bool) {
	c.Flags().BoolVar(content, "content", false, "with what it says, unless a privacy tag withholds that")
}

// received finds the inbox row of a message.
func received(ctx context.Context, s store.Store, owner, peer, id string) (one store.Inbox, err error) {
	recipient, err := ownerURI(owner)
	if err != nil {
		return one, err
	}
	sender, err := ownerURI(peer)
	if err != nil {
		return one, err
	}
	if recipient != "" && sender != "" {
		return s.Inbox(ctx, store.InboxKey{Recipient: recipient, Sender: sender, MessageID: id})
	}
	rows, err := s.Inboxes(ctx, recipient, false, reach)
	if err != nil {
		return one, err
	}
	var found []store.Inbox
	for _, r := range rows {
		if r.MessageID == id && (sender == "" || r.Sender == sender) {
			found = append(found, r)
		}
	}
	return single("message "+id+" in the inboxes", found, "--owner and --peer", func(i store.Inbox) string {
		return "of " + i.Recipient + " from " + i.Sender
	})
}
