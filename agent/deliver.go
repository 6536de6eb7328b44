package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
)

// ErrUnreadable: the bytes are no envelope that could be answered.
var ErrUnreadable = errors.New("the message cannot be read or answered")

// errNoTask: a carrier brings mail to a mailbox that nobody could read.
var errNoTask = errors.New("mail for a mailbox names no task")

// ErrKnown: the message under which a conversation was to be opened was accepted
// before, in another one.
var ErrKnown = errors.New("the message is known")

// Mail is an envelope as a carrier brings it.
type Mail struct {
	// Envelope is its bytes, as they came: the digest is over them.
	Envelope []byte
	// Caller is the agent that the carrier itself has proved its caller to be, ""
	// if none. It counts only for an envelope that carries no token.
	Caller string
	// Loopback: the carrier's caller is on this machine. The key of a sender that
	// nobody here knows is then taken from its token, and kept.
	Loopback bool
	// Task is what the carrier calls the exchange, "" if it has no name for it.
	Task string
	// Mailbox: the sender reads under Task, which is not "", what the receiver
	// says, so nothing is sent to it. Task and Mailbox count when the envelope opens
	// an exchange; afterwards that stays what it is.
	Mailbox bool
	// New: who brings the envelope has just given its conversation the id that it
	// has, so that it is not known here; the id may be the idempotency key too, and is
	// then claimed by nobody. The message itself may be known: that is ErrKnown
	// then, and nothing was done. It is remembered as Terms say, and for as long as
	// its conversation where Retention is longer than that.
	New bool

	// unread: nobody reads receipts.
	unread bool
}

// Deliver takes one envelope from a carrier that knows nothing else about it:
// see Take.
func (h *Host) Deliver(ctx context.Context, data []byte) ([][]byte, error) {
	return h.Take(ctx, Mail{Envelope: data})
}

// Take takes one envelope from a carrier and returns the envelopes that
// answer it at once: a receipt, or the stored acts when the message was
// accepted before. It returns when what the message did is durable. An error
// means that there is no answer: the bytes are unreadable (ErrUnreadable), the
// receiver is not here (ErrUnknownPeer), the mailbox has no task or the host does
// not run.
func (h *Host) Take(ctx context.Context, m Mail) ([][]byte, error) {
	if _, err := h.live(); err != nil {
		return nil, err
	}
	if m.Mailbox && m.Task == "" {
		return nil, errNoTask
	}
	e, err := guard.Open(m.Envelope)
	if err != nil {
		return h.answerUnread(m.Envelope, err)
	}
	if h.agents[e.Receiver()] == nil {
		return nil, fmt.Errorf("delivering to %s: %w", e.Receiver(), ErrUnknownPeer)
	}
	if e.Auth() != "" || m.Caller == "" {
		m.Caller = h.authenticate(ctx, e, m.Loopback)
	}
	replies, err := h.receive(ctx, e, m)
	if err != nil {
		return nil, err
	}
	if e.ReceiptKind() != "" {
		return nil, nil // no receipt answers a receipt
	}
	return h.carry(replies, m.Caller)
}

// Accept is Take for a carrier that has sealed the envelope itself, in the name of
// m.Caller: a client that speaks another protocol. Such a client reads no receipts,
// so that none is made which says no more than that the message was taken. Of m all
// but the bytes counts. It returns when Take does, with the same errors but for
// ErrUnreadable, or ErrKnown.
func (h *Host) Accept(ctx context.Context, e *envelope.Envelope, m Mail) ([]*envelope.Envelope, error) {
	if _, err := h.live(); err != nil {
		return nil, err
	}
	if h.agents[e.Receiver()] == nil {
		return nil, fmt.Errorf("accepting a message for %s: %w", e.Receiver(), ErrUnknownPeer)
	}
	m.unread = true
	return h.receive(ctx, e, m)
}

// carry makes sealed replies ready for the carrier. Only a caller that proved
// who it is gets a token with them: anybody can write somebody's name into a
// message, and a token made out to that name would let him pass for us.
func (h *Host) carry(replies []*envelope.Envelope, caller string) ([][]byte, error) {
	var out [][]byte
	for _, r := range replies {
		token := ""
		if r.Receiver() == caller {
			var err error
			if token, err = h.Token(r.Sender(), r.Receiver()); err != nil {
				return nil, err
			}
		}
		out = append(out, r.Resend(r.Attempt(), token).Bytes())
	}
	return out, nil
}

// answerUnread answers what has a readable sender but a faulty shape.
func (h *Host) answerUnread(data []byte, err error) ([][]byte, error) {
	v, ok := errors.AsType[*guard.Violation](err)
	h.counts.add("violation.shape")
	if !ok || v.Answer == guard.Unreadable {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	nack, err := h.nackUnread(data, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return h.carry([]*envelope.Envelope{nack}, "")
}

func (h *Host) nackUnread(data []byte, v *guard.Violation) (*envelope.Envelope, error) {
	of, _ := envelope.Salvage(data)
	if h.agents[of.Receiver] == nil {
		return nil, ErrUnknownPeer
	}
	return envelope.Seal(envelope.Header{
		Receipt: envelope.Nack, Error: v.Told(), Sender: of.Receiver, Receiver: of.Sender, SenderGeneration: h.meta.Generation,
		MessageID: h.seam.id(), ConversationID: of.ConversationID, CorrelationID: of.ConversationID, InReplyTo: of.MessageID,
		Timestamp: h.seam.now(), Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{of.Sender}},
		Trace: envelope.Trace{Traceparent: h.seam.traceparent()},
	}, nil)
}
