package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// askingHelp is what the help of every verb says that asks the host.
const askingHelp = `The command is kept in the store and carried out by its host, at once if one
runs, else when one is started. Without an answer within --timeout the exit code
is 5, and the command stands: parley command show tells what became of it.
--no-wait does not wait, --dry-run says what would be asked and asks nothing.

-o json prints {"id", "verb", "owner", "conversation", "peer", "message_id",
"source", "by", "at", "status", "done_at", "answer", "error"}. The status is
planned (--dry-run), waiting, done or failed; what failed has an error and exits
with 1.`

// asking are the flags of a verb that asks the host.
type asking struct {
	db                  string
	timeout             time.Duration
	noWait, dryRun, yes bool
}

func askingFlags(c *cobra.Command, a *asking) {
	dbFlag(c, &a.db)
	c.Flags().DurationVar(&a.timeout, "timeout", 5*time.Second, "wait this long for the host's answer")
	c.Flags().BoolVar(&a.noWait, "no-wait", false, "do not wait for the host's answer")
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "only say what would be asked")
}

// wish is a command before it is asked, with the question whether it is meant.
type wish struct {
	store.Command
	question string // none if it can do no harm
}

// The statuses of a command.
const (
	orderPlanned = "planned"
	orderWaiting = "waiting"
	orderDone    = "done"
	orderFailed  = "failed"
)

// order is a command as it is printed.
type order struct {
	ID           string `json:"id,omitempty"`
	Verb         string `json:"verb"`
	Owner        string `json:"owner"`
	Conversation string `json:"conversation,omitempty"`
	Peer         string `json:"peer,omitempty"`
	MessageID    string `json:"message_id,omitempty"`
	Source       string `json:"source,omitempty"`
	By           string `json:"by"`
	At           string `json:"at,omitempty"`
	Status       string `json:"status"`
	DoneAt       string `json:"done_at,omitempty"`
	Answer       string `json:"answer,omitempty"`
	Error        string `json:"error,omitempty"`
}

func orderOf(c store.Command) order {
	out := order{ID: c.ID, Verb: c.Verb, Owner: c.Owner, Conversation: c.Conversation, Peer: c.Peer, MessageID: c.MessageID,
		Source: string(c.Source), By: c.By, At: moment(c.At), DoneAt: moment(c.DoneAt), Answer: c.Answer, Error: c.Error}
	switch {
	case c.ID == "":
		out.Status = orderPlanned
	case c.DoneAt.IsZero():
		out.Status = orderWaiting
	case c.Error != "":
		out.Status = orderFailed
	default:
		out.Status = orderDone
	}
	return out
}

func orderRows(list []order) [][]string {
	rows := [][]string{{"COMMAND", "VERB", "OWNER", "ABOUT", "BY", "ASKED", "STATUS", "ANSWER"}}
	for _, o := range list {
		about := o.MessageID
		switch {
		case about == "" && o.Peer == "":
			about = o.Conversation
		case about == "":
			about = o.Conversation + " with " + o.Peer
		}
		rows = append(rows, []string{o.ID, o.Verb, o.Owner, about, o.By, o.At, o.Status, o.Answer + o.Error})
	}
	return rows
}

func showOrder(c *cobra.Command, o order) error {
	return show(c, o, func() [][]string { return orderRows([]order{o}) })
}

// ask looks with find for what is wished, keeps it as a command for the host
// and waits for the answer.
func (p process) ask(c *cobra.Command, a asking, find func(*sqlite.Store) (wish, error)) error {
	if a.timeout <= 0 {
		return &usageError{fmt.Errorf("timeout %s: want more than 0; --no-wait does not wait", a.timeout)}
	}
	if a.dryRun && a.noWait {
		return &usageError{errors.New("--dry-run asks nothing: there is no answer for --no-wait to leave out")}
	}
	return reading(c, a.db, func(s *sqlite.Store) error {
		w, err := find(s)
		if err != nil {
			return err
		}
		w.By = p.user
		if a.dryRun {
			return showOrder(c, orderOf(w.Command))
		}
		if w.question != "" && !a.yes {
			if err := p.confirm(c.Context(), w.question); err != nil {
				return err
			}
		}
		w.ID, w.At = p.newID(), p.now().UTC()
		if err := sqlite.Post(c.Context(), a.db, w.Command); err != nil {
			return err
		}
		if a.noWait {
			return showOrder(c, orderOf(w.Command))
		}
		return await(c, s, w.ID, a.timeout)
	})
}

// await prints a command when the host has answered it, or as it stands when
// the time is over.
func await(c *cobra.Command, s store.Store, id string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	for {
		asked, err := s.Command(context.WithoutCancel(ctx), id)
		if err != nil {
			return err
		}
		if !asked.DoneAt.IsZero() {
			return answered(c, asked)
		}
		switch err := pause(ctx, glance); {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded):
			return errors.Join(showOrder(c, orderOf(asked)), &timeoutError{fmt.Sprintf(
				"no host answered within %s: the command stands and is carried out when a host runs on the store", timeout)})
		default:
			return errors.Join(showOrder(c, orderOf(asked)), err)
		}
	}
}

// answered prints what the host made of a command. What failed is an error.
func answered(c *cobra.Command, asked store.Command) error {
	err := showOrder(c, orderOf(asked))
	if err == nil && asked.Error != "" {
		err = fmt.Errorf("the host could not %s: %s", asked.Verb, asked.Error)
	}
	return err
}

// errNotMeant is what a verb ends with whose question was answered with no.
var errNotMeant = errors.New("nothing was changed")

// confirm asks on the terminal whether it is meant.
func (p process) confirm(ctx context.Context, question string) error {
	if !p.terminal {
		return &usageError{errors.New("there is no terminal to ask whether it is meant: use --yes")}
	}
	fmt.Fprint(p.stderr, printable(question), " [y/N] ")
	said, err := readLine(ctx, p.stdin)
	if err != nil {
		return err
	}
	if said = strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		return errNotMeant
	}
	return nil
}

// readLine reads a line of r, or until ctx ends: nobody may ever answer.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	type input struct {
		line string
		err  error
	}
	done := make(chan input, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(r, 256)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		done <- input{line, err}
	}()
	select {
	case in := <-done:
		return in.line, in.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
