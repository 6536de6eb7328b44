package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// deadLetter is one line of dlq ls.
type deadLetter struct {
	Owner        string `json:"owner"`
	Source       string `json:"source"`
	Peer         string `json:"peer"`
	MessageID    string `json:"message_id"`
	Digest       string `json:"digest,omitempty"`
	Conversation string `json:"conversation"`
	Reason       string `json:"reason"`
	Attempts     int    `json:"attempts"`
	LastError    string `json:"last_error,omitempty"`
	At           string `json:"at"`
}

func deadLetterOf(d store.DeadLetter) deadLetter {
	out := deadLetter{Owner: d.Owner, Source: string(d.Source), Peer: d.Peer, MessageID: d.MessageID, Conversation: d.Conversation,
		Reason: d.Reason, Attempts: d.Attempts, LastError: d.LastError, At: moment(d.At)}
	if d.Digest != (envelope.Digest{}) {
		out.Digest = d.Digest.String()
	}
	return out
}

// deadSources are the words of --source.
func deadSources() []string {
	return []string{string(store.DeadOutbox), string(store.DeadInbox), string(store.DeadQuarantine)}
}

func (p process) dlqCommand() *cobra.Command {
	return group("dlq", "Look at the dead letters, try one again or forget it", dlqLs(), dlqShow(), p.dlqRequeue(), p.dlqDrop())
}

func dlqLs() *cobra.Command {
	var db, owner string
	var limit int
	c := &cobra.Command{
		Use:   "ls",
		Short: "List dead letters, the newest first",
		Long: `List the dead letters, which are messages that were given up, the one given up
last first. A host may be running; nothing is written.

-o json prints {"dead_letters": [{"owner", "source", "peer", "message_id",
"digest", "conversation", "reason", "attempts", "last_error", "at"}]}. The
source is
  outbox      it could not be delivered to the peer
  inbox       the work on it ended the host again and again
  quarantine  it contradicts another message of the peer; these have a digest
The reason is a word such as exhausted, expired, returned, poison or
equivocation.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			uri, err := ownerURI(owner)
			if err = errors.Join(err, bounded(limit)); err != nil {
				return err
			}
			return reading(c, db, func(s *sqlite.Store) error {
				found, err := s.DeadLetters(c.Context(), uri, limit)
				if err != nil {
					return err
				}
				var list []deadLetter
				for _, f := range found {
					list = append(list, deadLetterOf(f))
				}
				return showList(c, "dead_letters", list, func() [][]string {
					rows := [][]string{{"OWNER", "SOURCE", "PEER", "MESSAGE", "CONVERSATION", "REASON", "ATTEMPTS", "GIVEN UP", "LAST ERROR"}}
					for _, l := range list {
						rows = append(rows, []string{l.Owner, l.Source, l.Peer, l.MessageID, l.Conversation, l.Reason,
							strconv.Itoa(l.Attempts), l.At, l.LastError})
					}
					return rows
				})
			})
		},
	}
	dbFlag(c, &db)
	ownerFlag(c, &owner)
	limitFlag(c, &limit)
	return c
}

// letterFlags are what tells dead letters of one message id apart.
type letterFlags struct{ owner, peer, source string }

func (f *letterFlags) add(c *cobra.Command) {
	ownerFlag(c, &f.owner)
	peerFlag(c, &f.peer)
	c.Flags().StringVar(&f.source, "source", "", "only from there: "+choices(deadSources())+" (default: all)")
	complete(c, "source", deadSources())
}

// find returns the dead letter of a message. Quarantined messages of one id
// count as one, of which the newest is returned, where all is set.
func (f *letterFlags) find(ctx context.Context, s store.Store, id string, digest string, all bool) (one store.DeadLetter, err error) {
	owner, err := ownerURI(f.owner)
	if err != nil {
		return one, err
	}
	peer, err := ownerURI(f.peer)
	if err != nil {
		return one, err
	}
	if f.source != "" && !slices.Contains(deadSources(), f.source) {
		return one, &usageError{fmt.Errorf("source %q: want %s", f.source, choices(deadSources()))}
	}
	letters, err := s.DeadLetters(ctx, owner, reach)
	if err != nil {
		return one, err
	}
	var found []store.DeadLetter
	for _, l := range letters {
		if l.MessageID != id || peer != "" && l.Peer != peer || f.source != "" && string(l.Source) != f.source ||
			digest != "" && l.Digest.String() != digest {
			continue
		}
		if all && slices.ContainsFunc(found, func(o store.DeadLetter) bool { return o.Owner == l.Owner && o.Peer == l.Peer && o.Source == l.Source }) {
			continue
		}
		found = append(found, l)
	}
	return single("message "+id+" among the dead letters", found, "--owner, --peer, --source or --digest", func(l store.DeadLetter) string {
		place := fmt.Sprintf("%s of %s, peer %s", l.Source, l.Owner, l.Peer)
		if l.Digest != (envelope.Digest{}) {
			place += ", digest " + l.Digest.String()
		}
		return place
	})
}

func completeLetter(db *string) cobra.CompletionFunc {
	return completeFrom(db, 1, func(ctx context.Context, s store.Store) (names []string, err error) {
		found, err := s.DeadLetters(ctx, "", completions)
		for _, f := range found {
			names = append(names, described(f.MessageID, string(f.Source)+", "+f.Reason))
		}
		return names, err
	})
}

// shownLetter is what dlq show prints.
type shownLetter struct {
	deadLetter
	Message *message `json:"message,omitempty"`
}

func dlqShow() *cobra.Command {
	var db, digest string
	var f letterFlags
	var content bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print a dead letter",
		Long: `Print a dead letter: why it was given up, and its header; what it says only with
--content, and not if its labels have a privacy tag other than public and
internal. A message id can stand in several places: then --owner, --peer,
--source and --digest choose.

-o json prints {"owner", "source", "peer", "message_id", "digest",
"conversation", "reason", "attempts", "last_error", "at", "message": {"header",
"content", "withheld"}}. Withheld are the tags for which the content stays away.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeLetter(&db),
		RunE: func(c *cobra.Command, args []string) error {
			return reading(c, db, func(s *sqlite.Store) error {
				letter, err := f.find(c.Context(), s, args[0], digest, false)
				if err != nil {
					return err
				}
				out := shownLetter{deadLetter: deadLetterOf(letter)}
				if out.Message, err = shownMessage(letter.Envelope, content); err != nil {
					return fmt.Errorf("message %s: %w", letter.MessageID, err)
				}
				return show(c, out, func() [][]string {
					l := out.deadLetter
					rows := [][]string{{"FIELD", "VALUE"}, {"owner", l.Owner}, {"source", l.Source}, {"peer", l.Peer}, {"reason", l.Reason},
						{"attempts", strconv.Itoa(l.Attempts)}, {"given up", l.At}}
					if l.LastError != "" {
						rows = append(rows, []string{"last error", l.LastError})
					}
					if l.Digest != "" {
						rows = append(rows, []string{"digest", l.Digest})
					}
					return append(rows, out.Message.rows()...)
				})
			})
		},
	}
	dbFlag(c, &db)
	f.add(c)
	c.Flags().StringVar(&digest, "digest", "", "only the quarantined message with this digest")
	contentFlag(c, &content)
	return c
}

func (p process) dlqRequeue() *cobra.Command {
	return p.dlqVerb(store.VerbRequeue, "Try a dead letter again", `Ask the host to try a dead letter from the outbox again. While its exchange goes
on it is sent again. If it opened an exchange that has ended, a new conversation
asks for the same thing under the same key, so that what was done after all is
not done twice. What was received only its sender can send again: the host says
so, and the exit code is 1.`, "Try %s again?")
}

func (p process) dlqDrop() *cobra.Command {
	return p.dlqVerb(store.VerbDrop, "Forget a dead letter", `Ask the host to forget a dead letter. It does not come back; the log of its
conversation stays as it is. Quarantined messages of one id go together.`, "Forget %s? It does not come back.")
}

// dlqVerb asks the host for something to be done with a dead letter.
func (p process) dlqVerb(verb, short, long, question string) *cobra.Command {
	var a asking
	var f letterFlags
	c := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Long: long + `

On a terminal it asks first, and a no exits with 1; without a terminal --yes must
say that it is meant.

` + askingHelp,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeLetter(&a.db),
		RunE: func(c *cobra.Command, args []string) error {
			return p.ask(c, a, func(s *sqlite.Store) (wish, error) {
				l, err := f.find(c.Context(), s, args[0], "", true)
				if err != nil {
					return wish{}, err
				}
				what := fmt.Sprintf("message %s (%s of %s, peer %s, %s after %d attempts)", l.MessageID, l.Source, l.Owner, l.Peer, l.Reason, l.Attempts)
				return wish{
					Command:  store.Command{Verb: verb, Owner: l.Owner, Conversation: l.Conversation, Peer: l.Peer, MessageID: l.MessageID, Source: l.Source},
					question: fmt.Sprintf(question, what),
				}, nil
			})
		},
	}
	f.add(c)
	askingFlags(c, &a)
	c.Flags().BoolVarP(&a.yes, "yes", "y", false, "do not ask whether it is meant")
	return c
}
