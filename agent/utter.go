package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// draft is an act before it is sealed: what was decided, without anything
// that only the runtime may write.
type draft struct {
	act     protocol.Utterance
	content []byte
	err     *envelope.Error
	model   *authorship
	// id is the message id; "" means a fresh one. An act that a second run of
	// the work would make again has one that follows from the work.
	id string
	// replyBy and key are those of a call, a proposal or an award.
	replyBy time.Time
	key     string
	// gather and fence are of a gather's acts, group and salt of copies.
	gather *envelope.Gather
	fence  *envelope.Fence
	group  *envelope.Group
	salt   []byte
}

// authorship says which model made an act and what its turn had read.
type authorship struct {
	provenance envelope.Provenance
	integrity  envelope.Integrity
}

// utter seals an act of the exchange's owner, moves the exchange by it and
// puts it into the outbox. Where the table wants the runtime's agree first,
// both go in this one step.
func (s *step) utter(ctx context.Context, d *draft) error {
	p, err := protocol.Lookup(s.x.State.Protocol)
	if err != nil {
		return err
	}
	table := p.Table(s.x.State.Role)
	state := s.x.State.State
	if _, legal := table.Next(state, d.event()); !legal && p.RuntimeAgrees() && state == "received" {
		if err := s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Agree}}); err != nil {
			return err
		}
	}
	e, err := s.sealAct(ctx, d)
	if err != nil {
		return err
	}
	return s.emit(ctx, e, d.replyBy)
}

func (s *step) sealAct(ctx context.Context, d *draft) (*envelope.Envelope, error) {
	var header envelope.Header
	if err := s.header(ctx, d, &header); err != nil {
		return nil, err
	}
	content := d.content
	if content == nil {
		content = []byte("{}")
	}
	e, err := envelope.Seal(header, content)
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", d.act.Performative, err)
	}
	return e, nil
}

func (d *draft) event() protocol.Event {
	if d.fence != nil {
		return "!fence"
	}
	switch d.act.Status {
	case envelope.Partial:
		return "!inform~"
	case envelope.Cancelled:
		return "!inform.c"
	}
	return protocol.Event("!" + string(d.act.Performative))
}

// emit commits a sealed act: log entry, state and outbox row. What its peer reads
// in the mailbox has been delivered by that.
func (s *step) emit(ctx context.Context, e *envelope.Envelope, expires time.Time) error {
	if e.Act() == envelope.Cancel {
		s.set.DropUnsent = append(s.set.DropUnsent, s.x.Key)
	}
	if err := s.apply(ctx, protocol.Send(e)); err != nil {
		return err
	}
	if !s.x.Mailbox {
		s.post(e, expires)
	}
	return nil
}

// post puts a sealed act into the outbox.
func (s *step) post(e *envelope.Envelope, expires time.Time) {
	if expires.IsZero() {
		expires = s.x.State.ReplyBy
	}
	if last := s.now.Add(protocol.CancelWindow + ackWindow); expires.Before(last) {
		expires = last
	}
	s.set.Outbox = append(s.set.Outbox, hinted(store.Outbox{
		Owner: s.x.Owner, MessageID: e.ID(), Conversation: s.x.Conversation, Receiver: s.x.Peer,
		Status: store.Pending, NextAt: s.now, ExpiresAt: expires, Overtakes: e.Act() == envelope.Cancel,
	}, e.Header()))
}

// header fills in what the runtime writes: ids, order, time, trace and
// governance. An answer takes them from the act that it answers.
func (s *step) header(ctx context.Context, d *draft, h *envelope.Header) error {
	opening, err := s.open(ctx)
	if err != nil {
		return err
	}
	*h = envelope.Header{
		V: opening.Version(), Performative: d.act.Performative, Status: d.act.Status, Error: d.err,
		Protocol: opening.Protocol(), Schema: s.schemaOf(d, opening), Capability: opening.Capability(),
		Sender: s.x.Owner, Receiver: s.x.Peer, Actor: opening.Actor(), Tenant: authority(s.x.Owner),
		MessageID: d.id, ConversationID: opening.Conversation(), CorrelationID: opening.Correlation(),
		InReplyTo: s.x.State.Trigger, Seq: s.x.State.Sent + 1, Hop: opening.Hop(),
		ReplyBy: d.replyBy, IdempotencyKey: d.key, Gather: d.gather, Fence: d.fence, Group: d.group,
		Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{s.x.Peer}},
	}
	if s.x.State.Role == protocol.Participant {
		h.Actor = s.x.Owner
	}
	if h.MessageID == "" {
		h.MessageID = s.host.seam.id()
	}
	if d.act.Performative == envelope.Cancel || h.InReplyTo == "" {
		h.InReplyTo = s.x.State.Opening
	}
	if d.model != nil {
		h.Provenance = &d.model.provenance
		h.Labels.Integrity = h.Labels.Integrity.Min(d.model.integrity)
	}
	s.host.stamp(h, s.now, opening.Trace())
	if d.salt != nil {
		h.Salt = d.salt
	}
	return nil
}

// stamp writes what is this host's and this moment's on every message.
func (h *Host) stamp(e *envelope.Header, now time.Time, trace envelope.Trace) {
	e.SenderGeneration = h.meta.Generation
	e.Timestamp = now
	e.Attempt = 1
	e.Auth = ""
	e.ContentDigest = ""
	e.Trace = trace
	e.Trace.Traceparent = h.seam.child(trace.Traceparent)
	if e.Receipt == "" {
		e.Salt = h.seam.bytes(16)
	}
}

// schemaOf is the name of the schema of what an act carries, in the version
// that its author declares.
func (s *step) schemaOf(d *draft, opening *envelope.Envelope) string {
	switch d.act.Performative {
	case envelope.Agree:
		return protocol.AgreeSchema
	case envelope.Refuse:
		return protocol.RefusalSchema
	case envelope.Failure:
		return protocol.FailureSchema
	case envelope.Cancel:
		return protocol.CancelSchema
	}
	if d.act.Status == envelope.Cancelled {
		return protocol.CancelSchema
	}
	if d.fence != nil {
		return protocol.FenceSchema
	}
	c := guard.Contract{Protocol: opening.Protocol()}
	if o := s.offered(opening); o != nil {
		c.Name = o.Name
	} else if name, err := protocol.ParseName(opening.Schema()); err == nil {
		c.Name = name
	} else {
		return opening.Schema()
	}
	schema, _ := c.Carries(d.act)
	return schema
}

// offered is what the owner answers the opening act with; nil if it does not, or
// was not asked.
func (s *step) offered(opening *envelope.Envelope) *offer {
	if s.x.State.Role != protocol.Participant {
		return nil
	}
	return s.host.agents[s.x.Owner].lookup(opening.Capability())
}

// seal makes a receipt for e. It has no number and changes no state by itself.
func (s *step) seal(kind envelope.Receipt, e *envelope.Envelope, told *envelope.Error) (*envelope.Envelope, error) {
	header := e.Receipt(kind, told)
	header.MessageID = s.host.seam.id()
	header.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{e.Sender()}}
	s.host.stamp(&header, s.now, e.Trace())
	r, err := envelope.Seal(header, nil)
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", kind, err)
	}
	return r, nil
}

// ackWindow is how long after a deadline the last receipts may still arrive.
const ackWindow = 10 * time.Second
