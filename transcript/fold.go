package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// equivocation is the reason of a rejected message that consumed nothing: its number or id was another's.
const equivocation = "equivocation"

// States of the initiator's row of a gather.
const (
	open        protocol.State = "open"
	contributed protocol.State = "contributed"
	abstained   protocol.State = "abstained"
)

// fold takes the entries of one log, one at a time, through the transition tables. It knows nothing of what the entries
// say that they led to.
type fold struct {
	owner, conversation, protocol string
	exchanges                     map[string]protocol.Exchange // by peer
	voided                        map[string]bool              // peers whose exchange ended over content that nobody kept
	final                         map[string]string            // by peer: the message that ended the exchange
	endedAt                       map[string]time.Time         // by peer
	correlation                   map[string]string            // by peer: that of the first message
	sent, received                map[string][]protocol.Numbered
	binding                       *protocol.Binding
	accepted                      []protocol.Contribution
	reduction                     *protocol.Reduction
	fence                         *envelope.Fence
	acks                          []string
	initiates                     bool // one of the exchanges at least is the owner's
	fenced, concluded             bool
	terminal                      protocol.Terminal
}

// folded is what one entry came to.
type folded struct {
	from, to protocol.State
	message  *envelope.Envelope // nil for a timer and for what belongs to no exchange
	before   protocol.Exchange
	kept     bool // the message counts: nothing absorbed it and no fence came before it
	accepted bool // the message is a contribution or an abstention that the gather counts
}

// newFold starts at nothing. The rows say only which exchanges there are, and how many rounds each may have, which is
// configuration.
func newFold(owner, conversation string, rows []store.Exchange) *fold {
	f := &fold{
		owner: owner, conversation: conversation, exchanges: map[string]protocol.Exchange{}, voided: map[string]bool{},
		final: map[string]string{}, endedAt: map[string]time.Time{}, correlation: map[string]string{}, sent: map[string][]protocol.Numbered{}, received: map[string][]protocol.Numbered{},
	}
	for _, row := range rows {
		x := protocol.Open(row.State.Protocol, conversation, owner, row.Peer, row.State.Role)
		x.MaxRounds = row.State.MaxRounds
		f.exchanges[row.Peer] = x
		f.protocol = x.Protocol
		f.initiates = f.initiates || x.Role == protocol.Initiator
	}
	return f
}

// apply takes the fold one entry further. Its errors are of type *Divergence.
func (f *fold) apply(e store.Entry) (folded, error) {
	switch e.Kind {
	case store.Bound:
		return folded{}, f.bind(e)
	case store.Reduced:
		return folded{}, f.reduce(e)
	case store.Concluded:
		return folded{}, f.conclude(e)
	}
	x, ok := f.exchanges[e.Peer]
	if !ok {
		return folded{}, diverges(e, "exchange", "an entry of "+e.Peer, "no such exchange")
	}
	out := folded{from: x.State, to: x.State, before: x}
	switch e.Kind {
	case store.Fired:
		return f.fire(e, x, out)
	case store.Absent:
		return f.bar(e, x, out)
	case store.Noted:
		return out, heard(e)
	}
	m, err := f.read(e)
	if err != nil {
		return out, err
	}
	out.message = m
	if e.Kind == store.Rejected {
		out.to = f.refuse(e, x, m)
		return out, nil
	}
	return f.advance(e, x, out)
}

// fire moves an exchange by a timer, which must run.
func (f *fold) fire(e store.Entry, x protocol.Exchange, out folded) (folded, error) {
	timer, fires := strings.CutPrefix(string(e.Event), "#")
	if _, runs := x.Timers()[protocol.Timer(timer)]; !fires || !runs {
		return out, diverges(e, "timer", string(e.Event), "no such timer runs in "+string(x.State))
	}
	next, outputs, err := protocol.Advance(x, e.At, protocol.Fire(protocol.Timer(timer)))
	if err != nil {
		return out, diverges(e, "transition", transition(e.From, e.To), err.Error())
	}
	if absorbs(outputs) {
		return out, diverges(e, "timer", "fired at "+e.At.UTC().Format(time.RFC3339Nano), "not due yet")
	}
	f.exchanges[e.Peer], out.to = next, next.State
	f.ended(e, x, next)
	return out, nil
}

// bar ends an exchange of which nothing had come.
func (f *fold) bar(e store.Entry, x protocol.Exchange, out folded) (folded, error) {
	n, err := note[protocol.Absence](e)
	if err != nil {
		return out, err
	}
	next := protocol.Tombstone(x)
	if next.State == x.State {
		return out, diverges(e, "transition", transition(e.From, e.To), "something of it had come")
	}
	f.exchanges[e.Peer], out.to = next, next.State
	f.correlation[e.Peer] = n.Correlation
	f.ended(e, x, next)
	return out, nil
}

// heard holds an entry to what is noted: a message that nobody asked for, which moves nothing.
func heard(e store.Entry) error {
	if e.MessageID == "" || len(e.Envelope) > 0 || !json.Valid(e.Note) {
		return diverges(e, "note", "what a peer said beside its exchange", "something else")
	}
	return nil
}

func absorbs(outputs []protocol.Output) bool {
	return slices.ContainsFunc(outputs, func(o protocol.Output) bool { return o.Do == protocol.Absorb })
}

// advance moves an exchange by a message that was sent or accepted.
func (f *fold) advance(e store.Entry, x protocol.Exchange, out folded) (folded, error) {
	m := out.message
	if x.Role == protocol.Initiator && (x.Protocol == protocol.GatherV1 || x.Protocol == protocol.ContractNetV1) && !f.bound(x.Protocol) {
		return out, diverges(e, "binding", "nothing", "what "+x.Protocol+" is bound to")
	}
	in := protocol.Receive(m)
	switch {
	case e.Kind == store.Sent:
		in = protocol.Send(m)
	case m.ReceiptKind() == envelope.Nack:
		in = protocol.Refusal(m)
	}
	next, outputs, err := protocol.Advance(x, e.At, in)
	if err != nil {
		return out, diverges(e, "transition", transition(e.From, e.To), err.Error())
	}
	f.exchanges[e.Peer], out.to = next, next.State
	f.ended(e, x, next)
	out.kept = !absorbs(outputs) && (e.Kind == store.Sent || !f.fenced || m.ReceiptKind() == envelope.Ack)
	out.accepted = out.kept && x.Protocol == protocol.GatherV1 && x.State == open && (next.State == contributed || next.State == abstained)
	f.keep(e, out)
	return out, nil
}

// keep notes what of a message is part of the state.
func (f *fold) keep(e store.Entry, out folded) {
	m := out.message
	if !out.kept {
		return
	}
	if out.accepted {
		f.accepted = append(f.accepted, protocol.Contribute(m))
	}
	if m.ReceiptKind() != "" {
		if m.ReceiptKind() == envelope.Ack {
			f.acks = append(f.acks, m.Sender())
		}
		return
	}
	act := protocol.Numbered{Seq: m.Seq(), Digest: m.Digest()}
	if e.Kind == store.Sent {
		f.sent[e.Peer] = append(f.sent[e.Peer], act)
	} else {
		f.received[e.Peer] = append(f.received[e.Peer], act)
	}
	if fence := m.Header().Fence; fence != nil && !f.foreign(e.Peer) {
		f.fence, f.fenced = fence, true
	}
}

// foreign tells whether the exchange with the peer is one that a stranger opened under the id of a conversation of the
// owner's. It moves like any other and is part of the state, but nothing that concerns the conversation as a whole.
func (f *fold) foreign(peer string) bool {
	return peer != "" && f.initiates && f.exchanges[peer].Role != protocol.Initiator
}

func (f *fold) ended(e store.Entry, before, after protocol.Exchange) {
	if !before.Done() && after.Done() {
		f.final[e.Peer], f.endedAt[e.Peer] = e.MessageID, e.At
	}
}

// refuse does what a rejected message does: it moves the cursor, and if it was a last word that could not be used, it
// ends the exchange.
func (f *fold) refuse(e store.Entry, x protocol.Exchange, m *envelope.Envelope) protocol.State {
	switch {
	case e.From != e.To:
		f.voided[e.Peer], f.endedAt[e.Peer] = true, e.At
		x = protocol.Void(x, m, envelope.NewError(envelope.CodeValidation, e.Reason))
	case e.Reason != equivocation:
		x = protocol.Consume(x, m)
	}
	f.exchanges[e.Peer] = x
	return x.State
}

// read decodes the message of an entry and holds it to what the entry says of it.
func (f *fold) read(e store.Entry) (*envelope.Envelope, error) {
	m, err := envelope.Decode(e.Envelope)
	if err != nil {
		return nil, diverges(e, "envelope", "a message", err.Error())
	}
	sender, receiver, on := e.Peer, f.owner, protocol.Receiving(m)
	if e.Kind == store.Sent {
		sender, receiver, on = f.owner, e.Peer, protocol.Sending(m)
	}
	if e.Kind == store.Received && m.ReceiptKind() == envelope.Nack {
		on = protocol.Nacked
	}
	for _, c := range []struct{ what, recorded, read string }{
		{"message id", e.MessageID, m.ID()}, {"digest", e.Digest.String(), m.Digest().String()}, {"event", string(e.Event), string(on)},
		{"sender", sender, m.Sender()}, {"receiver", receiver, m.Receiver()}, {"conversation", f.conversation, m.Conversation()},
	} {
		if c.recorded != c.read {
			return nil, diverges(e, c.what, c.recorded, c.read)
		}
	}
	if f.correlation[e.Peer] == "" {
		f.correlation[e.Peer] = m.Correlation()
	}
	if e.Kind != store.Rejected && m.Protocol() != f.exchanges[e.Peer].Protocol {
		return nil, diverges(e, "protocol", f.exchanges[e.Peer].Protocol, m.Protocol())
	}
	return m, nil
}

func (f *fold) bind(e store.Entry) error {
	b, err := note[protocol.Binding](e)
	if err != nil {
		return err
	}
	if b.Gather != nil {
		if err := b.Gather.Validate(); err != nil {
			return diverges(e, "binding", "a gather", err.Error())
		}
	}
	f.binding = &b
	return nil
}

// bound tells whether it was fixed who takes part, and in which gather.
func (f *fold) bound(name string) bool {
	return f.binding != nil && f.binding.Protocol == name && (f.binding.Gather != nil) == (name == protocol.GatherV1)
}

// reduce makes the decision again and holds the record of it to that.
func (f *fold) reduce(e store.Entry) error {
	recorded, err := note[protocol.Reduction](e)
	if err != nil {
		return err
	}
	if f.binding == nil || f.binding.Gather == nil {
		return diverges(e, "reduction", "a gather's", "no gather")
	}
	d := f.binding.Gather.Decide(f.accepted, e.At)
	r, err := f.binding.Gather.Reduce(d)
	if err != nil {
		return diverges(e, "reduction", "a value", err.Error())
	}
	made := d.Reduction(r, f.cancelAsked())
	for _, c := range []struct {
		what           string
		recorded, made any
	}{
		{"proposed", recorded.Proposed, made.Proposed}, {"inputs", recorded.Inputs, made.Inputs}, {"dissent", recorded.Dissent, made.Dissent},
		{"abstained", recorded.Abstained, made.Abstained}, {"missing", recorded.Missing, made.Missing},
		{"answered", recorded.Answered, made.Answered}, {"value digest", recorded.ValueDigest, made.ValueDigest},
		{"value", string(recorded.Value), string(made.Value)}, {"gather", recorded.Gather, made.Gather},
	} {
		if was, is := fmt.Sprint(c.recorded), fmt.Sprint(c.made); was != is {
			return diverges(e, "reduction: "+c.what, was, is)
		}
	}
	f.reduction = &made
	return nil
}

func (f *fold) cancelAsked() bool {
	for _, x := range f.exchanges {
		if x.Role == protocol.Initiator && x.CancelAsked {
			return true
		}
	}
	return false
}

// conclude makes out how the conversation ended and holds the record of it to that.
func (f *fold) conclude(e store.Entry) error {
	recorded, err := note[protocol.Closing](e)
	if err != nil {
		return err
	}
	terminal, over := f.end()
	if !over {
		return diverges(e, "terminal", string(recorded.Terminal), "an exchange is live")
	}
	if terminal != recorded.Terminal {
		return diverges(e, "terminal", string(recorded.Terminal), string(terminal))
	}
	f.terminal, f.fenced, f.concluded = terminal, true, true
	return nil
}

// end is how the conversation ended; false while an exchange that the owner opened goes on.
func (f *fold) end() (protocol.Terminal, bool) {
	c := protocol.Conclusion{Reduction: f.reduction}
	if f.binding != nil {
		c.Awards = f.binding.Awards
	}
	for _, x := range f.exchanges {
		if x.Role == protocol.Initiator {
			c.Exchanges = append(c.Exchanges, x)
		}
	}
	return c.Terminal()
}

// note reads what an entry without a message says.
func note[T any](e store.Entry) (T, error) {
	var n T
	d := json.NewDecoder(bytes.NewReader(e.Note))
	d.DisallowUnknownFields()
	err := d.Decode(&n)
	if err == nil {
		if _, after := d.Token(); !errors.Is(after, io.EOF) {
			err = errors.New("data after the note")
		}
	}
	if err != nil {
		return n, diverges(e, "note", fmt.Sprintf("a %T", n), err.Error())
	}
	return n, nil
}
