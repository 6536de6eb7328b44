package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// enter folds one entry and exports what it says.
func (e *exporter) enter(entry store.Entry) error {
	if e.foreign(entry.Peer) {
		_, err := e.apply(entry)
		return err
	}
	late := e.fenced // before this entry
	if err := e.hole(entry); err != nil {
		return err
	}
	out, err := e.apply(entry)
	if err != nil {
		return err
	}
	switch entry.Kind {
	case store.Bound:
		e.exportGather()
		return nil
	case store.Reduced:
		e.exportResult(entry)
		return nil
	case store.Concluded:
		if e.fence == nil {
			e.exportLocalFence(entry)
		}
		return nil
	case store.Fired:
		if e.reduction == nil { // after it, a timer only ends the wait for a member in the step of the decision
			e.trigger = nil
		}
		return nil
	case store.Noted: // no act: it led to nothing
		return nil
	}
	m := out.message
	switch {
	case entry.Kind == store.Rejected || !out.kept:
		e.setTrigger(nil, m)
	case m.ReceiptKind() == envelope.Ack:
		e.exportAck(entry, m)
	case m.ReceiptKind() != "":
		e.setTrigger(nil, m)
	case entry.Kind == store.Sent && m.Header().Group != nil:
		e.setTrigger(e.exportCopy(entry, m), m)
	case entry.Kind == store.Sent && e.reduction != nil && m.Act() == envelope.Cancel:
		e.exportAct(entry, out) // to a member that is not needed any more: it leads to nothing
	case !late || entry.Kind == store.Sent:
		e.setTrigger(e.exportAct(entry, out), m)
	}
	return nil
}

// setTrigger notes what may have led to what comes next. A fence leads to nothing.
func (e *exporter) setTrigger(id *string, m *envelope.Envelope) {
	if m.Header().Fence == nil {
		e.trigger = id
	}
}

// hole finds a number that is missing before the message of an entry.
func (e *exporter) hole(entry store.Entry) error {
	if entry.Kind != store.Sent && entry.Kind != store.Received {
		return nil
	}
	x := e.exchanges[entry.Peer]
	m, err := e.read(entry)
	if err != nil {
		return err
	}
	before, closed := x.Received, x.Closed || m.Act() == envelope.Cancel
	if entry.Kind == store.Sent {
		before, closed = x.Sent, false
	}
	if m.ReceiptKind() != "" || closed || m.Seq() <= before+1 {
		return nil
	}
	return &HoleError{Sender: m.Sender(), Receiver: m.Receiver(), Seq: before + 1}
}

// exportAct appends a message and returns its id.
func (e *exporter) exportAct(entry store.Entry, out folded) *string {
	m := out.message
	x := e.message(entry, m)
	if out.accepted && x.Kind == Contribution && e.binding != nil && e.binding.Gather != nil {
		x.GatherID = &e.binding.Gather.ID
	}
	return e.append(x, m)
}

// exportCopy appends the first copy of a group; the others only add their receivers to it.
func (e *exporter) exportCopy(entry store.Entry, m *envelope.Envelope) *string {
	id := m.Header().Group.ID
	at, known := e.groups[id]
	if !known {
		x := e.message(entry, m)
		x.MessageID = id
		if x.Kind == TerminalFence {
			x.CausationID = e.trigger
			if e.result != nil && e.trigger != nil {
				x.CausationID = e.result
			}
			e.fenceAt = len(e.trace.Messages)
		}
		e.groups[id] = len(e.trace.Messages)
		return e.append(x, m)
	}
	x := &e.trace.Messages[at]
	x.Audience = append(x.Audience, m.Receiver())
	slices.Sort(x.Audience)
	e.ids[m.ID()] = id
	return &x.MessageID
}

// exportAck appends a receipt of the fence.
func (e *exporter) exportAck(entry store.Entry, m *envelope.Envelope) {
	x := e.message(entry, m)
	x.PayloadType, x.PayloadDigest = ackPayload, e.trace.Messages[e.fenceAt].PayloadDigest
	e.append(x, m)
	e.acked = append(e.acked, m.Sender())
}

// message is the trace's form of one that was sent or accepted.
func (e *exporter) message(entry store.Entry, m *envelope.Envelope) Message {
	h := m.Header()
	x := e.own(entry, h.MessageID, Kind(m.TraceKind()), List[string]{h.Receiver})
	x.SenderPrincipalRef, x.SenderBodyGeneration, x.CorrelationID = h.Sender, h.SenderGeneration, &h.CorrelationID
	x.PayloadType, x.PayloadDigest = h.Schema, "sha256:"+h.ContentDigest
	if !h.ReplyBy.IsZero() {
		x.ExpiresAt = At(h.ReplyBy)
	}
	if cause, exported := e.ids[h.InReplyTo]; exported {
		x.CausationID = &cause
	}
	return x
}

// own is a message of the initiator that was not sent, or the frame of any.
func (e *exporter) own(entry store.Entry, id string, kind Kind, audience List[string]) Message {
	return Message{
		MessageID: id, ProtocolID: e.trace.ProtocolID, ConversationID: e.trace.ConversationID, Epoch: e.trace.Epoch,
		SenderPrincipalRef: e.owner, SenderBodyGeneration: e.generations[e.owner], Audience: audience,
		AudienceLabels: List[string]{e.capability}, Scope: e.trace.Scope, Kind: kind, CorrelationID: &e.trace.Scope,
		ObservedAt: At(entry.At), VerificationReceiptRef: fmt.Sprintf("log:%d", entry.Index),
	}
}

// append numbers a message. m is nil if none was sent.
func (e *exporter) append(x Message, m *envelope.Envelope) *string {
	if m != nil {
		e.ids[m.ID()] = x.MessageID
		if e.generations[m.Sender()] == 0 {
			e.generations[m.Sender()] = m.Header().SenderGeneration
		}
		if by := m.ReplyBy(); by.After(e.lastReplyBy) {
			e.lastReplyBy = by
		}
	}
	e.sequences[x.SenderPrincipalRef]++
	x.SenderSequence = e.sequences[x.SenderPrincipalRef]
	e.trace.Messages = append(e.trace.Messages, x)
	return &x.MessageID
}

func (e *exporter) exportGather() {
	g := e.binding.Gather
	if g == nil {
		return
	}
	x := Gather{GatherID: g.ID, Membership: g.Members, Policy: Policy(g.Policy), InputKind: Contribution, Reducer: Reducer(g.Reducer),
		DeadlineAt: At(g.Deadline)}
	if g.Policy == protocol.PolicyQuorum {
		x.Quorum = new(int64(g.Quorum))
	}
	e.trace.Gathers = append(e.trace.Gathers, x)
}

// exportResult exports the result of a gather, unless it is just what the only contributor said.
func (e *exporter) exportResult(entry store.Entry) {
	if len(e.reduction.Inputs) < 2 {
		return
	}
	x := e.own(entry, entry.MessageID, GatherResult, slices.Clone(e.binding.Members))
	x.CausationID = e.trigger
	x.PayloadType, x.PayloadDigest = e.resultType(), "sha256:"+e.reduction.ValueDigest
	e.result = e.append(x, nil)
}

// resultType is the name of what the gather came to: that of its contract, as a result.
func (e *exporter) resultType() string {
	if name, err := protocol.ParseName(e.trace.Messages[0].PayloadType); err == nil {
		return name.Result()
	}
	return e.trace.Messages[0].PayloadType
}

// exportLocalFence exports the record of the end of a conversation that has no fence to send.
func (e *exporter) exportLocalFence(entry store.Entry) {
	id := entry.MessageID
	if id == "" {
		id = "fence:" + e.conversation
	}
	x := e.own(entry, id, TerminalFence, List[string]{e.owner})
	x.CausationID = e.trigger
	sum := sha256.Sum256(entry.Note)
	x.PayloadType, x.PayloadDigest = protocol.FenceSchema, "sha256:"+hex.EncodeToString(sum[:])
	e.fenceAt = len(e.trace.Messages)
	e.append(x, nil)
}
