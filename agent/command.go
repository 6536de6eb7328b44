package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

const (
	// pollEvery is how often the host looks for commands of operators.
	pollEvery    = time.Second
	commandBatch = 32
)

// order is a command that the host is about to carry out.
type order struct {
	*Host
	store.Command
	now time.Time
}

// cannot is why a command is not carried out, for the operator.
type cannot string

func (c cannot) Error() string { return string(c) }

// obey carries out what operators ask for, until the host ends. One that is
// about to leaves it to the next.
func (h *Host) obey() {
	for ctx := h.running; ctx.Err() == nil; h.pause(ctx, pollEvery) {
		if h.opening(ctx) != nil {
			continue
		}
		waiting, err := h.store.Commands(ctx, h.owners, commandBatch)
		if err != nil && ctx.Err() == nil {
			h.report(ctx, StoreFailed, store.Key{}, err)
		}
		for _, c := range waiting {
			h.carryOut(ctx, c)
		}
	}
}

// carryOut does what a command asks for and answers it: in one transaction, or
// with an error when nothing was done. What cannot even be answered, as on a full
// disk, is met again.
func (h *Host) carryOut(ctx context.Context, c store.Command) {
	o := &order{Host: h, Command: c, now: h.seam.now()}
	said, err := o.run(ctx)
	if ctx.Err() != nil || errors.Is(err, store.ErrDuplicate) {
		return // it was answered before
	}
	if err != nil {
		answered := h.store.Commit(ctx, store.WriteSet{Answers: []store.CommandAnswer{{ID: c.ID, At: o.now, Error: err.Error()}}})
		if answered != nil {
			if ctx.Err() == nil {
				h.report(ctx, StoreFailed, store.Key{Owner: c.Owner, Conversation: c.Conversation, Peer: c.Peer}, answered, slog.String("command", c.ID))
			}
			return
		}
	}
	h.report(ctx, CommandObeyed, store.Key{Owner: c.Owner, Conversation: c.Conversation, Peer: c.Peer}, err, slog.String("command", c.ID),
		slog.String("verb", c.Verb), slog.String("by", c.By), slog.String("message", c.MessageID), slog.String("answer", said))
}

// run carries the command out; its error says that nothing was done.
func (o *order) run(ctx context.Context) (said string, err error) {
	switch {
	case o.Verb == store.VerbCancel:
		return o.callOff(ctx)
	case o.MessageID == "":
		return "", cannot("the command names no message")
	case o.Verb == store.VerbRetry:
		return o.retry(ctx)
	case o.Verb == store.VerbRequeue:
		return o.requeue(ctx)
	case o.Verb == store.VerbDrop:
		return o.drop(ctx)
	}
	return "", cannot(fmt.Sprintf("this host knows no command %q", o.Verb))
}

// answer makes the set answer the command.
func (o *order) answer(set *store.WriteSet, said string) {
	set.Answers = append(set.Answers, store.CommandAnswer{ID: o.ID, At: o.now, Answer: said})
}

// callOff cancels what the owner opened in a conversation, and ends what it was
// asked there as failed; its handler is told to stop.
func (o *order) callOff(ctx context.Context) (said string, err error) {
	read := func() ([]store.Exchange, error) {
		all, err := o.concerned(ctx)
		return slices.DeleteFunc(all, func(x store.Exchange) bool { return !cancellable(x.State) && !stoppable(x.State) }), err
	}
	taken, err := o.steps(ctx, o.now, read, func(all []*step) error {
		said = fmt.Sprintf("%d of its exchanges called off", len(all))
		for _, s := range all {
			if err := s.callOff(ctx); err != nil {
				return err
			}
		}
		o.answer(&all[0].set, said)
		return nil
	})
	if err == nil && len(taken) == 0 {
		err = cannot("nothing in conversation " + o.Conversation + " can be cancelled: it is unknown, has ended or is about to")
	}
	return said, err
}

// concerned are the exchanges that the command is about.
func (o *order) concerned(ctx context.Context) ([]store.Exchange, error) {
	if o.Conversation == "" {
		return nil, cannot("the command names no conversation")
	}
	all, err := o.store.Exchanges(ctx, o.Owner, o.Conversation)
	if err != nil {
		return nil, fmt.Errorf("reading conversation %s: %w", o.Conversation, err)
	}
	return slices.DeleteFunc(all, func(x store.Exchange) bool { return o.Peer != "" && x.Peer != o.Peer }), nil
}

// stoppable reports whether the owner of the exchange works on it.
func stoppable(x protocol.Exchange) bool {
	return x.Role == protocol.Participant && !x.Done() && owes(x)
}

// callOff ends the owner's part in the exchange.
func (s *step) callOff(ctx context.Context) error {
	if cancellable(s.x.State) {
		s.decide = s.party()
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Cancel}})
	}
	k := s.x.Key
	s.after = append(s.after, func() { s.host.jobs.stop(k, errStop) })
	d := draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeCancelled, "operator")}
	if !s.fit(&d) {
		return errNothing
	}
	return s.utter(ctx, &d)
}

// retry has a message sent now.
func (o *order) retry(ctx context.Context) (said string, err error) {
	row, err := o.store.OutboxRow(ctx, o.Owner, o.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return "", cannot("no message " + o.MessageID + " stands in the outbox of " + o.Owner)
	}
	if err != nil {
		return "", err
	}
	return o.redrive(ctx, row)
}

// redrive gives a message that may still be sent another time. If its attempts
// were used up, it has as many again and is no dead letter any more.
func (o *order) redrive(ctx context.Context, row store.Outbox) (said string, err error) {
	if row.Status != store.Pending {
		return "", cannot("the message is " + string(row.Status))
	}
	if o.now.After(row.ExpiresAt) {
		return "", cannot("its time is over")
	}
	set := store.WriteSet{Redrive: []store.Redrive{{Owner: row.Owner, MessageID: row.MessageID, NextAt: o.now}}}
	if spent(row, row.Attempt) {
		set.Unbury = append(set.Unbury, deadKey(row))
	}
	said = "it is sent as soon as what stands before it is in"
	o.answer(&set, said)
	err = o.store.Commit(ctx, set)
	if errors.Is(err, store.ErrNotPending) {
		err = cannot("the message has just been settled")
	}
	if err == nil {
		o.broken.healed(row.Receiver) // whoever asks for it knows better
		o.poke()
	}
	return said, err
}

// drop forgets dead letters. A message that only waits for an operator is not
// sent any more.
func (o *order) drop(ctx context.Context) (said string, err error) {
	letters, err := o.letters(ctx)
	if err != nil {
		return "", err
	}
	var set store.WriteSet
	for _, l := range letters {
		set.Unbury = append(set.Unbury, l.DeadKey)
		if err := o.writeOff(ctx, &set, l); err != nil {
			return "", err
		}
	}
	said = fmt.Sprintf("%d dead letters dropped", len(letters))
	o.answer(&set, said)
	return said, o.store.Commit(ctx, set)
}

// writeOff ends the outbox row of a dead letter, if it still waits.
func (o *order) writeOff(ctx context.Context, set *store.WriteSet, l store.DeadLetter) error {
	if l.Source != store.DeadOutbox {
		return nil
	}
	row, err := o.store.OutboxRow(ctx, l.Owner, l.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil && row.Status == store.Pending {
		set.Deliveries = append(set.Deliveries, store.Delivery{Owner: row.Owner, MessageID: row.MessageID, Status: store.Dead,
			Attempt: row.Attempt, NextAt: row.NextAt, LastError: row.LastError})
	}
	return err
}

// letters are the dead letters that the command is about, at least one.
func (o *order) letters(ctx context.Context) ([]store.DeadLetter, error) {
	all, err := o.store.DeadLetters(ctx, o.Owner, maxLetters)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(all, func(l store.DeadLetter) bool {
		return l.MessageID != o.MessageID || o.Peer != "" && l.Peer != o.Peer || o.Source != "" && l.Source != o.Source
	})
	if len(list) == 0 {
		return nil, cannot("no message " + o.MessageID + " is among the dead letters of " + o.Owner)
	}
	return list, nil
}
