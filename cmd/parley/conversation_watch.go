package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// glance is how long a verb that waits for a host leaves the store alone.
const glance = 100 * time.Millisecond

func conversationWatch() *cobra.Command {
	var db, owner string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "watch ID",
		Short: "Print the log of a conversation as it grows, until it has ended",
		Long: `Print the entries of a conversation's log, a line each: those that are there,
then each one that comes, until the conversation has ended. The log is that of
the agent that opened it, unless --owner names another. The host may be running
or not; nothing is written.

-o jsonl prints {"index", "at", "kind", "event", "from", "to", "peer",
"message_id", "reason", "note"} a line, as conversation show does in its
entries. There is no -o json: a document would come at the end only.

The exit code is how it ended:
  0  COMPLETED or DISSENT_RECORDED; for a participant, any good outcome
  5  TIMED_OUT; for a participant expired, timed_out or unknown; or --timeout
     passed before there was an end
  1  any other end`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeConversation(&db, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			uri, err := ownerURI(owner)
			if err != nil {
				return err
			}
			if format(c) == formatJSON {
				return &usageError{fmt.Errorf("output %q: watch prints %s or %s", formatJSON, formatTable, formatJSONL)}
			}
			if timeout < 0 {
				return &usageError{fmt.Errorf("timeout %s: want at least 0", timeout)}
			}
			ctx, patience := c.Context(), c.Context()
			if timeout > 0 {
				bounded, cancel := context.WithTimeout(ctx, timeout)
				defer cancel()
				patience = bounded
			}
			s, err := inspect(ctx, db)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			sides, err := sidesOf(ctx, s, uri, args[0])
			if err != nil {
				return err
			}
			return watch(ctx, patience, s, initiators(sides), func(e store.Entry) error {
				if format(c) == formatJSONL {
					return writeLine(c.OutOrStdout(), printed(e, false))
				}
				return writeEntry(c.OutOrStdout(), e)
			})
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&owner, "owner", "", "whose log: a URI, or a name under local (default: whoever opened it)")
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long (default: never)")
	return c
}

// watch yields the entries of one side's log as they come and returns nil when
// the conversation has ended well. It looks at least once before its patience
// ends.
func watch(ctx, patience context.Context, s store.Store, of side, yield func(store.Entry) error) error {
	var seen int64
	var terminal protocol.Terminal
	for {
		// The exchanges first: the log read after them has what led there.
		exchanges, err := s.Exchanges(ctx, of.owner, of.id)
		if err != nil {
			return err
		}
		log, err := s.Log(ctx, of.owner, of.id, seen)
		if err != nil {
			return err
		}
		for _, e := range log {
			if err := yield(e); err != nil {
				return err
			}
			seen = e.Index
			if e.Kind == store.Concluded {
				var closing protocol.Closing
				if err := json.Unmarshal(e.Note, &closing); err != nil {
					return fmt.Errorf("conversation %s: entry %d: %w", of.id, e.Index, err)
				}
				terminal = closing.Terminal
			}
		}
		if len(exchanges) == 0 {
			return fmt.Errorf("the exchanges of conversation %s: %w", of.id, store.ErrNotFound)
		}
		if !slices.ContainsFunc(exchanges, func(x store.Exchange) bool { return !x.State.Done() }) {
			return ending(of.id, terminal, exchanges)
		}
		if err := pause(patience, glance); err != nil {
			return fmt.Errorf("conversation %s has not ended: %w", of.id, err)
		}
	}
}

// ending is how a conversation ended, nil if it came to what it was for. A
// participant's log has no terminal: its exchanges say it.
func ending(id string, terminal protocol.Terminal, exchanges []store.Exchange) error {
	how, good, late := string(terminal), true, false
	switch terminal {
	case protocol.TerminalCompleted, protocol.TerminalDissentRecorded:
	case protocol.TerminalTimedOut:
		good, late = false, true
	case "":
		for _, x := range exchanges {
			if o := x.State.Outcome(); !o.OK() {
				how, good = string(o), false
				late = late || o == protocol.Expired || o == protocol.TimedOut || o == protocol.Unknown
			}
		}
	default:
		good = false
	}
	switch text := fmt.Sprintf("conversation %s has ended: %s", id, how); {
	case late:
		return &timeoutError{text}
	case !good:
		return errors.New(text)
	}
	return nil
}

// writeEntry writes an entry on one line, in columns that most entries fit.
func writeEntry(w io.Writer, e store.Entry) error {
	p := printed(e, false)
	line := fmt.Sprintf("%-24s  %-9s  %-12s  %-24s  %s", p.At, printable(p.Kind), printable(p.Event), printable(around(p.From, p.To)), printable(p.Peer))
	for _, more := range []string{p.MessageID, p.Reason + string(p.Note)} {
		if more != "" {
			line = strings.TrimRight(line, " ") + "  " + printable(more)
		}
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// pause returns after d, or with the cause when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
