package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

const (
	// examined is how much of each kind a doctor looks at.
	examined = 1000
	// overdue is how late what is due may be before nobody seems to do it.
	overdue = time.Minute
	// stale is how long a message may be under way.
	stale = 10 * time.Minute
	// hopeless is how often in a row a webhook may fail.
	hopeless = 5
)

// examineWork looks at what waits in the store at path. What cannot be read is
// for the checks of the store to tell.
func (p process) examineWork(ctx context.Context, path string) (list []finding) {
	s, err := inspect(ctx, path)
	if err != nil {
		return nil
	}
	defer func() {
		if err := s.Close(); err != nil {
			list = append(list, finding{"work", statusFail, err.Error(), "try again"})
		}
	}()
	list, err = work(ctx, s, p.now())
	if err != nil {
		list = append(list, finding{"work", statusFail, err.Error(), "check the store with store check"})
	}
	return list
}

func work(ctx context.Context, s store.Store, now time.Time) ([]finding, error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return nil, err
	}
	letters, err := s.DeadLetters(ctx, "", examined)
	if err != nil {
		return nil, err
	}
	due, err := s.Due(ctx, owners, now.Add(-overdue), examined)
	if err != nil {
		return nil, err
	}
	commands, err := s.Commands(ctx, owners, examined)
	if err != nil {
		return nil, err
	}
	pending, err := s.Outboxes(ctx, "", examined, store.Pending)
	if err != nil {
		return nil, err
	}
	oldest, err := oldestOf(ctx, s, pending)
	if err != nil {
		return nil, err
	}
	callbacks, err := openCallbacks(ctx, s, owners)
	if err != nil {
		return nil, err
	}
	return []finding{deadLetters(letters), overdueConversations(due.Timers), waitingCommands(commands, now),
		outboxAge(pending, due.Outbox, oldest, now), failingWebhooks(callbacks)}, nil
}

// openCallbacks are the callbacks of the owners that were not told everything.
func openCallbacks(ctx context.Context, s store.Store, owners []string) (all []store.Callback, err error) {
	for _, owner := range owners {
		found, err := s.Callbacks(ctx, owner, "")
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// count is how many there are, for people.
func count(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + one
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// several is how many there are at least: a doctor stops counting somewhere.
func several(n int, one, many string) string {
	if n < examined {
		return count(n, one, many)
	}
	return fmt.Sprintf("%d or more %s", n, many)
}

func deadLetters(letters []store.DeadLetter) finding {
	f := finding{"work.dead-letters", statusOK, several(len(letters), "dead letter", "dead letters"), ""}
	if len(letters) > 0 {
		f.Status, f.Hint = statusWarn, "look with dlq ls; then dlq requeue or dlq drop"
		f.Text += ", the last one given up at " + moment(letters[0].At)
	}
	return f
}

func overdueConversations(timers []store.Timer) finding {
	late := map[string]bool{}
	for _, t := range timers {
		late[t.Conversation] = true
	}
	f := finding{"work.overdue", statusOK, several(len(late), "overdue conversation", "overdue conversations"), ""}
	if len(late) > 0 {
		f.Status, f.Hint = statusWarn, "deadlines are kept by a host: start it"
		f.Text += ", since " + moment(timers[0].At)
	}
	return f
}

func waitingCommands(commands []store.Command, now time.Time) finding {
	f := finding{"work.commands", statusOK, several(len(commands), "waiting command", "waiting commands"), ""}
	if len(commands) > 0 {
		f.Text += ", since " + moment(commands[0].At)
		if now.Sub(commands[0].At) > overdue {
			f.Status, f.Hint = statusWarn, "commands are carried out by a host: start it, or look with command ls"
		}
	}
	return f
}

// outboxAge says how long the oldest message has been under way.
func outboxAge(pending, due []store.Outbox, oldest, now time.Time) finding {
	f := finding{"work.outbox", statusOK, several(len(pending), "message under way", "messages under way"), ""}
	if !oldest.IsZero() {
		f.Text += ", the oldest of them since " + moment(oldest)
	}
	switch {
	case len(due) > 0:
		f.Status, f.Hint = statusWarn, "messages are sent by a host: start it"
		f.Text += ", " + several(len(due), "of them overdue", "of them overdue")
	case !oldest.IsZero() && now.Sub(oldest) > stale:
		f.Status, f.Hint = statusWarn, "look at the last errors with outbox ls --status pending"
	}
	return f
}

// failingWebhooks counts the webhooks that fail time after time. Where they are is
// their clients' affair, and may hold secrets.
func failingWebhooks(callbacks []store.Callback) finding {
	failing := slices.DeleteFunc(callbacks, func(c store.Callback) bool { return c.Attempt < hopeless })
	f := finding{"work.webhooks", statusOK, count(len(failing), "failing webhook", "failing webhooks"), ""}
	if len(failing) > 0 {
		worst := slices.MaxFunc(failing, func(a, b store.Callback) int { return a.Attempt - b.Attempt })
		f.Status, f.Hint = statusWarn, "whoever set it up must mend or delete it; the host's log says why it fails"
		f.Text += fmt.Sprintf(", one of %s for task %s %d times in a row", worst.Peer, worst.Task, worst.Attempt)
	}
	return f
}

// oldestOf is when the oldest of the messages, which stand newest first, was
// written; zero if that is no longer known.
func oldestOf(ctx context.Context, s store.Store, pending []store.Outbox) (time.Time, error) {
	if len(pending) == 0 {
		return time.Time{}, nil
	}
	last := pending[len(pending)-1]
	e, err := s.Message(ctx, last.Key(), store.Sent, last.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	return e.At, err
}
