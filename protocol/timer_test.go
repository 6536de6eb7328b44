package protocol

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
)

func TestTimersRunOnlyInTheStatesTheyBelongTo(t *testing.T) {
	agreeBy, replyBy, cancelBy := noon.Add(100*time.Millisecond), noon.Add(time.Minute), noon.Add(5*time.Second)
	for _, c := range []struct {
		role  Role
		after []Event
		want  map[Timer]time.Time
	}{
		{Initiator, nil, map[Timer]time.Time{}},
		{Initiator, []Event{"!request"}, map[Timer]time.Time{TimerReplyBy: replyBy}},
		{Initiator, []Event{"!request", "?agree"}, map[Timer]time.Time{TimerReplyBy: replyBy}},
		{Initiator, []Event{"!request", "!cancel"}, map[Timer]time.Time{TimerCancelBy: cancelBy}},
		{Initiator, []Event{"!request", "?refuse"}, nil},
		{Participant, []Event{"?request"}, map[Timer]time.Time{TimerAgree: agreeBy, TimerReplyBy: replyBy}},
		{Participant, []Event{"?request", "!agree"}, map[Timer]time.Time{TimerReplyBy: replyBy}},
		{Participant, []Event{"?request", "?cancel"}, map[Timer]time.Time{TimerCancelBy: cancelBy}},
		{Participant, []Event{"?request", "#reply-by"}, map[Timer]time.Time{}},
		{Participant, []Event{"?request", "!refuse"}, nil},
	} {
		for _, protocol := range []string{RequestV1, QueryV1} {
			if got := newSealer(t).drive(opened(protocol, c.role), c.after...).Timers(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s %s after %v: %v, want %v", protocol, c.role, c.after, got, c.want)
			}
		}
	}
}

func TestATimerThatIsEarlyOrDoesNotRunIsAbsorbed(t *testing.T) {
	for _, c := range []struct {
		role  Role
		after []Event
		timer Timer
		at    time.Time
	}{
		{Participant, []Event{"?request"}, TimerAgree, noon.Add(99 * time.Millisecond)},
		{Participant, []Event{"?request"}, TimerReplyBy, noon.Add(time.Minute - 1)},
		{Participant, []Event{"?request", "?cancel"}, TimerCancelBy, noon.Add(5*time.Second - 1)},
		{Participant, []Event{"?request", "!agree"}, TimerAgree, noon.Add(time.Hour)},
		{Initiator, []Event{"!request"}, TimerReplyBy, noon.Add(time.Minute - 1)},
		{Initiator, []Event{"!request"}, TimerAgree, noon.Add(time.Hour)},
		{Initiator, []Event{"!request"}, TimerCancelBy, noon.Add(time.Hour)},
		{Initiator, []Event{"!request", "?refuse"}, TimerReplyBy, noon.Add(time.Hour)},
		{Initiator, nil, TimerReplyBy, noon.Add(time.Hour)},
		{Initiator, []Event{"!request"}, "lease", noon.Add(time.Hour)},
	} {
		x := newSealer(t).drive(opened(RequestV1, c.role), c.after...)
		next, out, err := Advance(x, c.at, Fire(c.timer))
		if err != nil || !reflect.DeepEqual(next, x) {
			t.Errorf("%s after %v: %v, %+v", c.timer, c.after, err, next)
		}
		wantDoes(t, out, "absorb")
	}
}

func TestATimerAsksForWhatTheOwnerMustSay(t *testing.T) {
	for _, c := range []struct {
		role  Role
		after []Event
		timer Timer
		state State
		want  []string
	}{
		{Participant, []Event{"?request"}, TimerAgree, "received", []string{"utter agree"}},
		{Participant, []Event{"?request"}, TimerReplyBy, "overdue", []string{"stop", "utter refuse (deadline lapsed)"}},
		{Participant, []Event{"?request", "!agree"}, TimerReplyBy, "failing", []string{"stop", "utter failure (deadline lapsed)"}},
		{Participant, []Event{"?request", "?cancel"}, TimerCancelBy, cancelling, []string{"stop", "utter failure (cancelled lapsed)"}},
		{Initiator, []Event{"!request"}, TimerReplyBy, "requested", []string{"utter cancel"}},
		{Initiator, []Event{"!request", "?agree"}, TimerReplyBy, "agreed", []string{"utter cancel"}},
		{Initiator, []Event{"!request", "!cancel"}, TimerCancelBy, "done:unknown", []string{"end"}},
	} {
		s := newSealer(t)
		x := s.drive(opened(RequestV1, c.role), c.after...)
		next, out, err := advanceUnchanged(t, x, x.Timers()[c.timer], Fire(c.timer))
		if err != nil || next.State != c.state {
			t.Errorf("%s after %v: %v, state %s", c.timer, c.after, err, next.State)
		}
		wantDoes(t, out, c.want...)
		for _, o := range out {
			if o.Do != Utter {
				continue
			}
			if _, ok := mustLookup(t, RequestV1).Table(c.role).Next(next.State, Event("!"+o.Act.word())); !ok {
				t.Errorf("%s after %v: %s has no row in %s", c.timer, c.after, o.Act.word(), next.State)
			}
		}
	}
}

func TestAnAnswerAtTheLastMomentStandsBeforeTheTimer(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(QueryV1, Participant), "?request", "!inform")
	next, out, err := Advance(x, noon.Add(time.Minute), Fire(TimerReplyBy))
	if err != nil || next.Outcome() != OK {
		t.Errorf("%v, %s", err, next.State)
	}
	wantDoes(t, out, "absorb")
}

func TestTheCancelWindowStartsWhenTheCancelIsSent(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Initiator), "!request")
	at := noon.Add(time.Minute)
	x, _, err := Advance(x, at, Send(s.seal(s.header(x, "!cancel"))))
	if err != nil || x.Timers()[TimerCancelBy] != at.Add(CancelWindow) {
		t.Errorf("%v, %v", err, x.Timers())
	}
	x, _, err = Advance(x, at.Add(CancelWindow), Fire(TimerCancelBy))
	if err != nil || x.Outcome() != Unknown || x.Error.Code != envelope.CodeDeadline {
		t.Errorf("%v, %+v", err, x)
	}
}

func mustLookup(t *testing.T, name string) *Protocol {
	t.Helper()
	p, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheNextAlarmIsTheEarliestTimerThatRuns(t *testing.T) {
	first, second := noon.Add(time.Second), noon.Add(time.Second+1)
	for _, c := range []struct {
		state          State
		agreeBy, reply time.Time
		want           Alarm // none if its timer is ""
	}{
		{"received", first, second, Alarm{TimerAgree, first}},
		{"received", second, first, Alarm{TimerReplyBy, first}},
		{"received", first, first, Alarm{TimerAgree, first}},
		{"received", time.Time{}, second, Alarm{TimerReplyBy, second}},
		{"agreed", first, second, Alarm{TimerReplyBy, second}},
		{"agreed", first, time.Time{}, Alarm{}},
		{"done:ok", first, second, Alarm{}},
	} {
		x := opened(RequestV1, Participant)
		x.State, x.AgreeBy, x.ReplyBy = c.state, c.agreeBy, c.reply
		if got, runs := x.NextAlarm(); got != c.want || runs != (c.want.Timer != "") {
			t.Errorf("%s, to agree by %v and reply by %v: %+v, %v, want %+v", c.state, c.agreeBy, c.reply, got, runs, c.want)
		}
	}
}

// A store tells of the next timer only, so one that left itself behind would keep the
// others from firing for ever.
func TestAnAlarmThatHasFiredIsNotTheNextOne(t *testing.T) {
	for _, p := range All() {
		for _, role := range []Role{Initiator, Participant} {
			for state := range p.Table(role).next {
				x := opened(p.Name, role)
				x.State, x.Opening = state, "opening"
				x.AgreeBy, x.CancelBy, x.AckBy, x.LeaseBy, x.ReplyBy = noon, noon.Add(1), noon.Add(2), noon.Add(3), noon.Add(4)
				next, runs := x.NextAlarm()
				if !runs {
					continue
				}
				after, out, err := Advance(x, next.At, Fire(next.Timer))
				if err != nil {
					t.Errorf("%s %s in %s: %s: %v", p.Name, role, state, next.Timer, err)
				}
				if again, _ := after.NextAlarm(); again == next && !slices.ContainsFunc(out, func(o Output) bool { return o.Do == Utter || o.Do == Decide }) {
					t.Errorf("%s %s in %s: %s is still the next one, and nothing follows from it: %+v", p.Name, role, state, next.Timer, out)
				}
			}
		}
	}
}
