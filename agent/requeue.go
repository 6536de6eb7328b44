package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// requeue tries a dead letter again. If its exchange is live and the message may
// still be sent, it is; if the exchange has ended, what was asked is asked again
// in a conversation of its own.
func (o *order) requeue(ctx context.Context) (said string, err error) {
	letters, err := o.letters(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(letters, func(l store.DeadLetter) bool { return l.Source == store.DeadOutbox })
	if i < 0 {
		return "", cannot("it was received from " + letters[0].Peer + ", who alone can send it again")
	}
	l := letters[i]
	k := store.Key{Owner: l.Owner, Conversation: l.Conversation, Peer: l.Peer}
	x, err := o.store.Exchange(ctx, k)
	live := err == nil && !x.State.Done()
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
	}
	if !live {
		return o.askAgain(ctx, l)
	}
	row, err := o.store.OutboxRow(ctx, l.Owner, l.MessageID)
	if err != nil {
		return "", fmt.Errorf("reading the outbox row of %s: %w", l.MessageID, err)
	}
	if row.Status != store.Pending {
		return "", cannot("its exchange has not ended, and there the message is " + string(row.Status))
	}
	return o.redrive(ctx, row)
}

// askAgain opens a conversation that asks for what the dead letter asked for: the
// same content, contract and correlation under the same key, so that what was
// done after all is not done twice, with as much time as there was at first.
func (o *order) askAgain(ctx context.Context, l store.DeadLetter) (said string, err error) {
	e, err := envelope.Decode(l.Envelope)
	if err != nil {
		return "", cannot("its bytes were not kept: " + err.Error())
	}
	h := e.Header()
	switch {
	case h.Receipt != "" || e.InReplyTo() != "" || !slices.Contains([]envelope.Performative{envelope.Request, envelope.Propose}, e.Act()):
		return "", cannot("its exchange has ended, and it opened none: nobody would hear it")
	case h.Group != nil:
		return "", cannot("it is one of several copies, and their conversation has ended")
	}
	k := store.Key{Owner: l.Owner, Conversation: o.seam.id(), Peer: l.Peer}
	_, err = o.step(ctx, k, o.now, func(s *step) error {
		again, err := o.again(h, k, e)
		if err != nil {
			return err
		}
		said = "asked again in conversation " + k.Conversation
		if o.asked.get(k.Owner, h.Capability) == nil {
			said += "; what is answered can be read once somebody here asks under the same contract"
		}
		s.x.State = protocol.Open(h.Protocol, k.Conversation, k.Owner, k.Peer, protocol.Initiator)
		s.x.Correlation = h.CorrelationID
		s.opening = again
		s.set.Unbury = append(s.set.Unbury, l.DeadKey)
		if err := o.writeOff(ctx, &s.set, l); err != nil {
			return err
		}
		o.answer(&s.set, said)
		return s.emit(ctx, again, again.ReplyBy())
	})
	return said, err
}

// again is the opening act of e in the exchange k.
func (o *order) again(h envelope.Header, k store.Key, e *envelope.Envelope) (*envelope.Envelope, error) {
	h.MessageID, h.ConversationID, h.CausationID = o.seam.id(), k.Conversation, e.ID()
	h.Seq, h.Signatures = 1, nil
	h.ReplyBy = o.now.Add(h.ReplyBy.Sub(e.Timestamp()))
	o.stamp(&h, o.now, h.Trace)
	again, err := envelope.Seal(h, e.Content())
	if err != nil {
		return nil, fmt.Errorf("asking %s again: %w", k.Peer, err)
	}
	return again, nil
}
