package protocol

import (
	"time"

	"github.com/parley-agents/parley/envelope"
)

// record notes in x what the input carries, before the state moves.
func (x *Exchange) record(now time.Time, in Input) {
	switch {
	case in.event.Fires():
		switch in.timer {
		case TimerCancelBy, TimerGrace, TimerLease, TimerAckBy:
			x.Error = envelope.NewError(envelope.CodeDeadline, "lapsed")
		}
	case in.event.Sends():
		x.recordSent(now, in)
	default:
		x.consume(in)
		x.recordReceived(now, in)
	}
}

func (x *Exchange) recordSent(now time.Time, in Input) {
	e := in.message
	if e.ReceiptKind() != "" {
		x.recordReceipt(e)
		return
	}
	x.Messages++
	x.Sent = e.Seq()
	if e.Status() != envelope.Partial || x.Protocol == GatherV1 { // a fence answers the contribution
		x.Asked = append(x.Asked, e.ID())
	}
	switch e.Act() {
	case envelope.Cancel:
		x.Cancel, x.CancelBy = e.ID(), now.Add(CancelWindow)
		x.CancelAsked = x.Role == Initiator && !x.Lapsed
	case envelope.Refuse, envelope.Failure:
		x.Error = e.Err()
	default:
		if x.State == Start {
			x.fix(e)
		}
		if in.event == "!"+fence {
			x.Fence, x.AckBy = e.ID(), now.Add(AckWindow)
		}
		x.renegotiate(e)
	}
}

// renegotiate notes what a cfp, a proposal or an award of a contract net says
// about rounds and time.
func (x *Exchange) renegotiate(e *envelope.Envelope) {
	if x.Protocol != ContractNetV1 {
		return
	}
	switch e.Act() {
	case envelope.CFP:
		if x.Round++; x.Round > 1 {
			x.Call = e.ID()
		}
		x.ReplyBy = e.ReplyBy()
	case envelope.Propose:
		x.ReplyBy = e.ReplyBy()
	case envelope.Agree:
		x.Award, x.ReplyBy = e.ID(), e.ReplyBy()
	}
}

// recordReceipt notes why an exchange is refused. An ack says nothing.
func (x *Exchange) recordReceipt(e *envelope.Envelope) {
	if e.ReceiptKind() != envelope.Ack {
		x.Misread = e.ReceiptKind() == envelope.NotUnderstood
		x.Error = e.Err()
	}
}

func (x *Exchange) recordReceived(now time.Time, in Input) {
	e := in.message
	if in.event == Nacked || e.ReceiptKind() != "" {
		x.recordReceipt(e)
		return
	}
	x.Messages++
	switch e.Act() {
	case envelope.Cancel:
		x.Cancel, x.CancelBy = e.ID(), now.Add(CancelWindow)
		if x.State != ackit {
			x.Trigger = e.ID()
		}
	case envelope.Refuse, envelope.Failure:
		x.Error = e.Err()
		x.Trigger = e.ID()
	default:
		if in.event == fenced {
			x.Fence, x.Trigger = e.ID(), e.ID()
			return
		}
		if x.Opening == "" {
			x.recordOpening(now, e)
		}
		if x.settling() {
			return
		}
		x.Trigger = e.ID()
		x.renegotiate(e)
	}
}

// fix notes what the opening act fixes.
func (x *Exchange) fix(e *envelope.Envelope) {
	x.Opening, x.ReplyBy, x.Capability = e.ID(), e.ReplyBy(), e.Capability()
	if g, ok := e.Gather(); ok {
		x.Gather = g.ID
	}
}

func (x *Exchange) recordOpening(now time.Time, e *envelope.Envelope) {
	x.fix(e)
	if p, err := Lookup(x.Protocol); err == nil && p.runtimeAgrees {
		x.AgreeBy = now.Add(AgreeAfter)
	}
}

// Consume moves the cursor of received sequence numbers past an authentic
// message that was refused, if it is next in order. It changes nothing else: a
// refused cancel does not close its sender's sequence, and a number that comes
// too early leaves no hole.
func Consume(x Exchange, e *envelope.Envelope) Exchange {
	x = x.clone()
	if e.Seq() == x.Received+1 {
		x.Received++
	}
	return x
}

// consume notes the number and the generation of an accepted message.
func (x *Exchange) consume(in Input) {
	e := in.message
	if in.event == Nacked || e.ReceiptKind() != "" {
		return
	}
	if x.PeerGeneration == 0 {
		x.PeerGeneration = e.SenderGeneration()
	}
	if e.Act() == envelope.Cancel {
		x.Closed = true
	}
	x.Received = max(x.Received, e.Seq())
}
