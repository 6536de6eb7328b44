package protocol

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/envelope"
)

func TestAdvanceTakesEveryRowOfEveryTable(t *testing.T) {
	for _, p := range All() {
		for _, row := range rowsOf(p) {
			t.Run(p.Name+" "+row.String(), func(t *testing.T) {
				s := newSealer(t)
				x := s.in(p.Name, row.Role, row.From)
				in, now := s.input(x, row.On)
				next, out, err := advanceUnchanged(t, x, now, in)
				if err != nil {
					t.Fatal(err)
				}
				if next.State != row.To {
					t.Errorf("led to %s", next.State)
				}
				if ended := slices.Contains(does(out), "end"); ended != row.To.Done() {
					t.Errorf("outputs %q", does(out))
				}
			})
		}
	}
}

// events are all that a table or a peer may come up with.
var events = func() (list []Event) {
	for _, a := range envelope.Performatives() {
		list = append(list, Event("!"+a), Event("?"+a))
	}
	list = append(list, "!inform~", "?inform~", "!inform.c", "?inform.c", "!fence", "?fence", "!ack", "?ack", "?nack", "?not-understood", "!not-understood", Nacked)
	for _, t := range []Timer{TimerAgree, TimerReplyBy, TimerCancelBy, TimerGrace, TimerLease, TimerGatherBy, TimerAckBy} {
		list = append(list, t.Firing())
	}
	return list
}()

// expected is what the table says about an event; ok is false for a violation.
func expected(p *Protocol, x Exchange, on Event) (to State, ok bool) {
	table := p.Table(x.Role)
	if on == Nacked && (x.Role == Participant || x.Done()) {
		return x.State, true
	}
	if on.Fires() {
		if _, running := x.Timers()[Timer(on[1:])]; !running {
			return x.State, true
		}
	}
	if to, ok := table.Next(x.State, on); ok && !x.spent(on) {
		return to, true
	}
	known := slices.ContainsFunc(table.Rows(), func(r Row) bool { return r.On == on })
	return x.State, on.Fires() || x.Done() && on.Receives() && known
}

func TestNoOtherEventMovesAnExchange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSealer(t)
		p := rapid.SampledFrom(All()).Draw(t, "protocol")
		x := opened(p.Name, rapid.SampledFrom([]Role{Initiator, Participant}).Draw(t, "role"))
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			on := rapid.SampledFrom(events).Draw(t, "event")
			to, ok := expected(p, x, on)
			in, now := s.input(x, on)
			next, out, err := advanceUnchanged(t, x, now, in)
			again, outAgain, errAgain := Advance(x, now, in)
			if !reflect.DeepEqual(next, again) || !reflect.DeepEqual(out, outAgain) || !reflect.DeepEqual(err, errAgain) {
				t.Fatalf("%s in %s gave two answers", on, x.State)
			}
			if next.State != to {
				t.Fatalf("%s in %s led to %s, the table says %s", on, x.State, next.State, to)
			}
			if ok != (err == nil) {
				t.Fatalf("%s in %s: %v", on, x.State, err)
			}
			if !ok {
				checkViolation(t, p, x, next, out, on, err)
			}
			x = next
		}
	})
}

func checkViolation(t *rapid.T, p *Protocol, x, next Exchange, out []Output, on Event, err error) {
	v, is := errors.AsType[*Violation](err)
	if !is || !reflect.DeepEqual(next, x) || out != nil {
		t.Fatalf("%s in %s: error %v, outputs %v, exchange %+v", on, x.State, err, out, next)
	}
	want := Violation{Reason: "wrong-role", Role: x.Role, State: x.State, Event: on}
	if slices.ContainsFunc(p.Table(x.Role).Rows(), func(r Row) bool { return r.On == on }) {
		want.Reason = "illegal-transition"
	}
	if x.Opening == "" && refuses(x, on) {
		want.Event = Nacked // it refuses what was never said
	}
	if *v != want {
		t.Fatalf("%s in %s: violation %+v, want %+v", on, x.State, *v, want)
	}
}

func TestAViolationNamesTheRoleTheStateAndTheEvent(t *testing.T) {
	s := newSealer(t)
	x := s.in(RequestV1, Initiator, "requested")
	in, now := s.input(x, "?inform")
	_, _, err := Advance(x, now, in)
	if err == nil || err.Error() != `illegal-transition: initiator may not see "?inform" in state "requested"` {
		t.Error(err)
	}
}

func TestAnUnknownProtocolIsUnsupported(t *testing.T) {
	x := opened("auction/v7", Initiator)
	next, out, err := Advance(x, noon, Fire(TimerReplyBy))
	if u, ok := errors.AsType[*UnsupportedError](err); !ok || u.Protocol != "auction/v7" || !strings.Contains(err.Error(), "auction/v7") {
		t.Error(err)
	}
	if !reflect.DeepEqual(next, x) || out != nil || x.Timers() != nil {
		t.Errorf("exchange %+v, outputs %v, timers %v", next, out, x.Timers())
	}
}

func TestADoneExchangeAbsorbsWhatComesLate(t *testing.T) {
	for _, c := range []struct {
		role  Role
		state State
		on    Event
	}{
		{Initiator, "done:ok", "?inform"}, {Initiator, "done:ok", "?inform~"}, {Initiator, "done:unknown", "?inform"},
		{Initiator, "done:unknown", "?failure"}, {Initiator, "done:cancelled", "?agree"}, {Initiator, "done:refused", Misunderstood},
		{Initiator, "done:failed", Nacked}, {Participant, "done:ok", "?cancel"}, {Participant, "done:cancelled", "?request"},
		{Participant, "done:ok", Nacked},
	} {
		s := newSealer(t)
		x := s.in(RequestV1, c.role, c.state)
		in, now := s.input(x, c.on)
		next, out, err := Advance(x, now, in)
		if err != nil || next.State != c.state || next.Messages != x.Messages || !reflect.DeepEqual(next.Error, x.Error) {
			t.Errorf("%s in %s: %v, %+v", c.on, c.state, err, next)
		}
		wantDoes(t, out, "absorb")
	}
}

func TestTheCountersFollowWhatWasSaid(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Initiator), "!request", "?agree", "?inform~", "?inform~")
	if x.Sent != 1 || x.Received != 3 || x.Messages != 4 || x.PeerGeneration != 7 || x.Capability != capability || x.Closed {
		t.Errorf("%+v", x)
	}
	if !x.Answerable(x.Opening) || x.ReplyBy != noon.Add(time.Minute) || len(x.Asked) != 1 {
		t.Errorf("%+v", x)
	}
	y := s.drive(opened(RequestV1, Participant), "?request", "!agree", "!inform~", "?cancel")
	if y.Sent != 2 || y.Received != 2 || y.Messages != 4 || !y.Closed || y.Trigger != y.Cancel || len(y.Asked) != 1 {
		t.Errorf("%+v", y)
	}
	if y.CancelBy != noon.Add(CancelWindow) || y.AgreeBy != noon.Add(AgreeAfter) {
		t.Errorf("%+v", y)
	}
}
