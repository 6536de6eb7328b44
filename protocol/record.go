package protocol

import (
	"time"

	"github.com/parley-agents/parley/envelope"
)

// record notes in x what the input carries, before the state moves.
func record(x Exchange, now time.Time, in Input) Exchange {
	switch {
	case in.event.Fires():
		switch in.timer {
		case TimerCancelBy, TimerGrace, TimerLease, TimerAckBy:
			x.Error = envelope.NewError(envelope.CodeDeadline, "lapsed")
		}
		return x
	case in.event.Sends():
		return recordSent(x, now, in)
	}
	return recordReceived(consume(x, in), now, in)
}

func recordSent(x Exchange, now time.Time, in Input) Exchange {
	e := in.message
	if e.ReceiptKind() != "" {
		return recordReceipt(x, e)
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
		x.Error = e.Header().Error
	default:
		if x.State == Start {
			x = fixed(x, e)
		}
		if in.event == "!"+fence {
			x.Fence, x.AckBy = e.ID(), now.Add(AckWindow)
		}
		x = renegotiate(x, e)
	}
	return x
}

// renegotiate notes what a cfp, a proposal or an award of a contract net says
// about rounds and time.
func renegotiate(x Exchange, e *envelope.Envelope) Exchange {
	if x.Protocol != ContractNetV1 {
		return x
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
	return x
}

// recordReceipt notes why an exchange is refused. An ack says nothing.
func recordReceipt(x Exchange, e *envelope.Envelope) Exchange {
	if e.ReceiptKind() != envelope.Ack {
		x.Misread = e.ReceiptKind() == envelope.NotUnderstood
		x.Error = e.Header().Error
	}
	return x
}

func recordReceived(x Exchange, now time.Time, in Input) Exchange {
	e := in.message
	if in.event == Nacked || e.ReceiptKind() != "" {
		return recordReceipt(x, e)
	}
	x.Messages++
	switch e.Act() {
	case envelope.Cancel:
		x.Cancel, x.CancelBy = e.ID(), now.Add(CancelWindow)
		if x.State != ackit {
			x.Trigger = e.ID()
		}
	case envelope.Refuse, envelope.Failure:
		x.Error = e.Header().Error
		x.Trigger = e.ID()
	default:
		if in.event == fenced {
			x.Fence, x.Trigger = e.ID(), e.ID()
			return x
		}
		if x.Opening == "" {
			x = recordOpening(x, now, e)
		}
		if x.settling() {
			return x
		}
		x.Trigger = e.ID()
		x = renegotiate(x, e)
	}
	return x
}

// fixed notes what the opening act fixes.
func fixed(x Exchange, e *envelope.Envelope) Exchange {
	x.Opening, x.ReplyBy, x.Capability = e.ID(), e.ReplyBy(), e.Capability()
	if g, ok := e.Gather(); ok {
		x.Gather = g.ID
	}
	return x
}

func recordOpening(x Exchange, now time.Time, e *envelope.Envelope) Exchange {
	x = fixed(x, e)
	if p, err := Lookup(x.Protocol); err == nil && p.runtimeAgrees {
		x.AgreeBy = now.Add(AgreeAfter)
	}
	return x
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
func consume(x Exchange, in Input) Exchange {
	e := in.message
	if in.event == Nacked || e.ReceiptKind() != "" {
		return x
	}
	if x.PeerGeneration == 0 {
		x.PeerGeneration = e.SenderGeneration()
	}
	if e.Act() == envelope.Cancel {
		x.Closed = true
	}
	x.Received = max(x.Received, e.Seq())
	return x
}
