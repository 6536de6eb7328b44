package protocol

import (
	"fmt"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// Input is one thing that happens to an exchange. Make it with Send, Receive,
// Refusal or Fire.
type Input struct {
	event   Event
	message *envelope.Envelope
	timer   Timer
}

// Send is the owner's act going out.
func Send(e *envelope.Envelope) Input { return Input{event: Sending(e), message: e} }

// Receive is an act, or the receipt not-understood, coming in from the peer. A
// not-understood that does not answer the opening act is no more than a final
// nack.
func Receive(e *envelope.Envelope) Input { return Input{event: Receiving(e), message: e} }

// Refusal is a final nack from the peer. One that answers the opening act
// ends the exchange as refused, one that answers a later act ends it as
// failed; the nack of a cancel changes nothing.
func Refusal(nack *envelope.Envelope) Input { return Input{event: Nacked, message: nack} }

// Fire is a timer coming due. The time given to Advance with it is the time
// at which it was due, not when it was looked at.
func Fire(t Timer) Input { return Input{event: t.Firing(), timer: t} }

// Doing says what an Output asks of the runtime.
type Doing string

// What Advance may ask for.
const (
	// Work: start the handler of the accepted opening act.
	Work Doing = "work"
	// Stop: tell the running handler to stop.
	Stop Doing = "stop"
	// Utter: seal and send the act that the output describes, in this step.
	Utter Doing = "utter"
	// Absorb: the input came too late to matter; count it.
	Absorb Doing = "absorb"
	// End: the exchange has ended.
	End Doing = "end"
)

// Output is one thing that the runtime must do after a step.
type Output struct {
	Do    Doing
	Act   Utterance
	Error *envelope.Error
}

// Violation says that an input has no row in the table. The exchange is
// unchanged.
type Violation struct {
	// Reason is "illegal-transition" or "wrong-role".
	Reason string
	Role   Role
	State  State
	Event  Event
}

const illegal = "illegal-transition"

func (v *Violation) Error() string {
	return fmt.Sprintf("%s: %s may not see %q in state %q", v.Reason, v.Role, v.Event, v.State)
}

// Advance moves the exchange by one input and says what must follow. It is
// pure: the same arguments give the same results, and x itself is not
// changed. An input outside the table gives a *Violation, an unknown protocol
// an *UnsupportedError; in both cases the returned exchange equals x.
//
// Advance does not judge identity, order, time or content: what it is given
// has passed the guard.
func Advance(x Exchange, now time.Time, in Input) (Exchange, []Output, error) {
	p, err := Lookup(x.Protocol)
	if err != nil {
		return x, nil, err
	}
	table := p.Table(x.Role)
	if refuses(x, in.event) && in.message.InReplyTo() != x.Opening {
		return laterNack(x, in.message)
	}
	if in.event.Fires() {
		if due, running := x.Timers()[in.timer]; !running || now.Before(due) {
			return x, []Output{{Do: Absorb}}, nil
		}
		if out, handled := fire(table, x, in.timer); handled {
			return x, out, nil
		}
	}
	to, ok := table.Next(x.State, in.event)
	if !ok {
		if x.Done() && in.event.Receives() && hears(table, in.event) {
			return consume(x.clone(), in), []Output{{Do: Absorb}}, nil
		}
		return x, nil, table.Judge(x, in.event)
	}
	from := x.State
	x = record(x.clone(), now, in)
	x.State = to
	return x, follow(x, from, in), nil
}

// refuses reports whether the event is a receipt that refuses an act for good.
// A participant's act is never misread: its content is refused with a nack.
func refuses(x Exchange, on Event) bool {
	return on == Nacked || on == Misunderstood && x.Role == Initiator
}

// laterNack handles a final nack of an act after the opening one. What a
// participant said stands, and so does a cancel.
func laterNack(x Exchange, nack *envelope.Envelope) (Exchange, []Output, error) {
	id := nack.InReplyTo()
	if x.Done() || x.Role == Participant || id == x.Cancel {
		return x, []Output{{Do: Absorb}}, nil
	}
	if !x.Answerable(id) {
		return x, nil, &Violation{Reason: illegal, Role: x.Role, State: x.State, Event: Nacked}
	}
	x = x.clone()
	x.State = State(donePrefix + string(Failed))
	x.Error = nack.Header().Error
	return x, []Output{{Do: End}}, nil
}

// fire handles the timers whose effect is an act rather than a row.
func fire(table *Table, x Exchange, t Timer) (out []Output, handled bool) {
	switch {
	case t == TimerAgree:
		return []Output{{Do: Utter, Act: Utterance{Performative: envelope.Agree}}}, true
	case t == TimerReplyBy && x.Role == Initiator:
		return []Output{{Do: Utter, Act: Utterance{Performative: envelope.Cancel}}}, true
	case t == TimerCancelBy && x.Role == Participant:
		return []Output{{Do: Stop}, {Do: Utter, Act: Utterance{Performative: envelope.Failure},
			Error: envelope.NewError(envelope.CodeCancelled, "lapsed")}}, true
	}
	return nil, false
}

// record notes in x what the input carries, before the state moves.
func record(x Exchange, now time.Time, in Input) Exchange {
	switch {
	case in.event.Fires():
		if in.timer == TimerCancelBy {
			x.Error = envelope.NewError(envelope.CodeDeadline, "lapsed")
		}
		return x
	case in.event.Sends():
		return recordSent(x, now, in.message)
	}
	return recordReceived(consume(x, in), now, in)
}

func recordSent(x Exchange, now time.Time, e *envelope.Envelope) Exchange {
	if e.ReceiptKind() != "" {
		x.Misread = e.ReceiptKind() == envelope.NotUnderstood
		x.Error = e.Header().Error
		return x
	}
	x.Messages++
	x.Sent = e.Seq()
	if e.Status() != envelope.Partial {
		x.Asked = append(x.Asked, e.ID())
	}
	switch e.Act() {
	case envelope.Cancel:
		x.Cancel, x.CancelBy = e.ID(), now.Add(CancelWindow)
	case envelope.Refuse, envelope.Failure:
		x.Error = e.Header().Error
	default:
		if x.State == Start {
			x.Opening, x.ReplyBy, x.Capability = e.ID(), e.ReplyBy(), e.Header().Capability
		}
	}
	return x
}

func recordReceived(x Exchange, now time.Time, in Input) Exchange {
	e := in.message
	if in.event == Nacked || e.ReceiptKind() != "" {
		x.Misread = e.ReceiptKind() == envelope.NotUnderstood
		x.Error = e.Header().Error
		return x
	}
	x.Messages++
	switch e.Act() {
	case envelope.Cancel:
		x.Cancel, x.Trigger = e.ID(), e.ID()
		x.CancelBy = now.Add(CancelWindow)
	case envelope.Refuse, envelope.Failure:
		x.Error = e.Header().Error
		x.Trigger = e.ID()
	default:
		if x.State != cancelling { // there the next act answers the cancel
			x.Trigger = e.ID()
		}
		if x.Opening == "" {
			x.Opening, x.ReplyBy, x.Capability = e.ID(), e.ReplyBy(), e.Header().Capability
			x.AgreeBy = now.Add(AgreeAfter)
		}
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
		x.PeerGeneration = e.Header().SenderGeneration
	}
	if e.Act() == envelope.Cancel {
		x.Closed = true
	}
	x.Received = max(x.Received, e.Seq())
	return x
}

// follow lists what must be done after x moved from one state to another.
func follow(x Exchange, from State, in Input) []Output {
	var out []Output
	if x.Role == Participant {
		switch {
		case in.event.Receives() && in.message.Act() == envelope.Cancel && from == Start:
			// Nothing was started: the cancel is confirmed at once, and a
			// late opening act will find the exchange ended.
			return append(out, Output{Do: Utter, Act: Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}})
		case in.event.Receives() && in.message.Act() == envelope.Cancel:
			out = append(out, Output{Do: Stop})
		case in.event.Receives() && from == Start:
			out = append(out, Output{Do: Work})
		case in.timer == TimerReplyBy && x.State == "overdue":
			out = append(out, Output{Do: Stop}, Output{Do: Utter, Act: Utterance{Performative: envelope.Refuse},
				Error: envelope.NewError(envelope.CodeDeadline, "lapsed")})
		case in.timer == TimerReplyBy && x.State == "failing":
			out = append(out, Output{Do: Stop}, Output{Do: Utter, Act: Utterance{Performative: envelope.Failure},
				Error: envelope.NewError(envelope.CodeDeadline, "lapsed")})
		}
	}
	if x.Done() {
		out = append(out, Output{Do: End})
	}
	return out
}

// Judge is nil when the exchange may see the event in its present state, else
// the violation.
func (t *Table) Judge(x Exchange, on Event) *Violation {
	if _, ok := t.Next(x.State, on); ok || x.Done() && on.Receives() && hears(t, on) {
		return nil
	}
	reason := illegal
	if !hears(t, on) {
		reason = "wrong-role"
	}
	return &Violation{Reason: reason, Role: x.Role, State: x.State, Event: on}
}

// hears reports whether any state of the table has a row for the event.
func hears(table *Table, on Event) bool {
	for _, r := range table.rows {
		if r.On == on {
			return true
		}
	}
	return false
}

// Void ends the exchange over a terminal act of the peer whose content cannot
// be used: it failed, and told says why. The act's number is consumed.
func Void(x Exchange, e *envelope.Envelope, told *envelope.Error) Exchange {
	x = Consume(x, e)
	x.State = State(donePrefix + string(Failed))
	x.Error = told
	return x
}
