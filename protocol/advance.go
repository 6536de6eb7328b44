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

// Event is what the input is in the notation of the tables.
func (in Input) Event() Event { return in.event }

// Message is the act or receipt that goes out or comes in, nil for a timer.
func (in Input) Message() *envelope.Envelope { return in.message }

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
	// Acknowledge: send the receipt ack that answers the fence, in this step.
	Acknowledge Doing = "acknowledge"
	// Decide: look at the conversation as a whole, since what this exchange
	// could give to the decision is in or its time is over: award, or reduce
	// the gather and fence it.
	Decide Doing = "decide"
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
	if refuses(x, in.event) && !x.opens(in.message.InReplyTo()) {
		return laterNack(x, in.message)
	}
	if in.event.Fires() {
		if due, running := x.Timers()[in.timer]; !running || now.Before(due) {
			return x, []Output{{Do: Absorb}}, nil
		}
		if out, handled := fire(table, x, in.timer); handled {
			x.Lapsed = x.Lapsed || in.timer == TimerReplyBy
			return x, out, nil
		}
	}
	to, ok := table.Next(x.State, in.event)
	if !ok || x.spent(in.event) {
		if x.Done() && in.event.Receives() && hears(table, in.event) {
			x = x.clone()
			x.consume(in)
			return x, []Output{{Do: Absorb}}, nil
		}
		return x, nil, table.Judge(x, in.event)
	}
	if in.event == acked && in.message.InReplyTo() != x.Fence { // an ack of anything else closes nothing
		return x, nil, &Violation{Reason: illegal, Role: x.Role, State: x.State, Event: acked}
	}
	from := x.State
	x = x.clone()
	x.record(now, in)
	if in.alive() && hears(table, TimerLease.Firing()) {
		x.LeaseBy = now.Add(Lease)
	}
	x.State = to
	return x, follow(x, from, in), nil
}

// alive reports whether the input starts the lease or shows that the peer is
// alive.
func (in Input) alive() bool { return in.event.Receives() || in.event == "!agree" }

// opens reports whether the owner's act with that id is one that starts
// something new, so that refusing it is an answer of its own.
func (x Exchange) opens(id string) bool { return id == x.Opening || x.Call != "" && id == x.Call }

// refuses reports whether the event is a receipt that refuses an act for good.
// A participant's act is never misread: its content is refused with a nack.
func refuses(x Exchange, on Event) bool {
	return on == Nacked || on == Misunderstood && x.Role == Initiator
}

// laterNack handles a final nack of an act after the opening one. What a
// participant said stands, and so do a cancel and a fence.
func laterNack(x Exchange, nack *envelope.Envelope) (Exchange, []Output, error) {
	id := nack.InReplyTo()
	if x.Done() || x.Role == Participant || id == x.Cancel || id == x.Fence {
		return x, []Output{{Do: Absorb}}, nil
	}
	if !x.Answerable(id) {
		return x, nil, &Violation{Reason: illegal, Role: x.Role, State: x.State, Event: Nacked}
	}
	x = x.clone()
	x.State = State(donePrefix + string(Failed))
	x.Error = nack.Err()
	return x, []Output{{Do: End}}, nil
}

// Judge is nil when the exchange may see the event in its present state, else
// the violation.
func (t *Table) Judge(x Exchange, on Event) *Violation {
	if _, ok := t.Next(x.State, on); ok && !x.spent(on) || x.Done() && on.Receives() && hears(t, on) {
		return nil
	}
	reason := illegal
	if !hears(t, on) {
		reason = "wrong-role"
	}
	return &Violation{Reason: reason, Role: x.Role, State: x.State, Event: on}
}

// hears reports whether any state of the table has a row for the event.
func hears(table *Table, on Event) bool { return table.heard[on] }

// Void ends the exchange over a terminal act of the peer whose content cannot
// be used: it failed, and told says why. The act's number is consumed.
func Void(x Exchange, e *envelope.Envelope, told *envelope.Error) Exchange {
	x = Consume(x, e)
	x.State = State(donePrefix + string(Failed))
	x.Error = told
	return x
}
