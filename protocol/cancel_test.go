package protocol

import (
	"reflect"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

func TestACancelBeforeItsRequestIsConfirmedAtOnceAndTheLateRequestIsAbsorbed(t *testing.T) {
	for _, p := range All() {
		if p.Name == GatherV1 {
			continue // there the fence ends it
		}
		s := newSealer(t)
		x := opened(p.Name, Participant)
		request, cancel := s.header(x, Event("?"+opening(p))), s.header(x, "?cancel")
		cancel.Seq, cancel.InReplyTo = 2, request.MessageID
		x, out, err := advanceUnchanged(t, x, noon, Receive(s.seal(cancel)))
		if err != nil {
			t.Fatal(err)
		}
		wantDoes(t, out, "utter inform.c")
		if x.Cancel != cancel.MessageID || x.Trigger != cancel.MessageID || !x.Closed || x.Received != 2 {
			t.Errorf("%+v", x)
		}
		x = s.drive(x, "!inform.c")
		if x.Outcome() != Cancelled || x.Opening != "" {
			t.Errorf("%+v", x)
		}
		next, out, err := Advance(x, noon, Receive(s.seal(request)))
		if err != nil || next.Received != 2 || next.State != x.State {
			t.Errorf("%v, %+v", err, next)
		}
		wantDoes(t, out, "absorb")
	}
}

func TestARequestThatItsCancelOvertookIsNoWorkWhileStopping(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Participant), "?cancel")
	in, now := s.input(x, "?request")
	next, out, err := Advance(x, now, in)
	if err != nil || next.State != cancelling || next.Trigger != x.Cancel || next.Opening == "" {
		t.Errorf("%v, %+v", err, next)
	}
	wantDoes(t, out)
}

func TestASecondRequestDoesNotTakeTheConfirmationFromTheCancel(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Participant), "?request", "?cancel")
	next := s.drive(x, "?request")
	if next.Trigger != x.Cancel || next.Opening != x.Opening {
		t.Errorf("%+v", next)
	}
}

func TestACancelStopsTheHandler(t *testing.T) {
	for _, after := range [][]Event{{"?request"}, {"?request", "!agree"}, {"?request", "!agree", "#reply-by"}, {"?request", "#reply-by"}} {
		s := newSealer(t)
		x := s.drive(opened(RequestV1, Participant), after...)
		in, now := s.input(x, "?cancel")
		next, out, err := Advance(x, now, in)
		if err != nil || next.State != cancelling {
			t.Errorf("after %v: %v, %s", after, err, next.State)
		}
		wantDoes(t, out, "stop")
	}
}

func TestACancelThatCrossesAnAnswerEndsAsTheAnswerSays(t *testing.T) {
	for _, c := range []struct {
		before []Event
		answer []Event
		want   Outcome
	}{
		{[]Event{"!request"}, []Event{"?refuse"}, Refused},
		{[]Event{"!request"}, []Event{"?not-understood"}, Refused},
		{[]Event{"!request"}, []Event{"?agree", "?inform.c"}, Cancelled},
		{[]Event{"!request"}, []Event{"?agree", "?inform"}, OK},
		{[]Event{"!request"}, []Event{"?agree", "?inform~", "?failure"}, Failed},
		{[]Event{"!request", "?agree"}, []Event{"?inform"}, OK},
		{[]Event{"!request", "?agree"}, []Event{"?inform~", "?inform.c"}, Cancelled},
		{[]Event{"!request", "?agree"}, []Event{"?failure"}, Failed},
		{[]Event{"!request", "?agree"}, []Event{"#cancel-by"}, Unknown},
	} {
		for _, p := range requests() {
			s := newSealer(t)
			x := s.drive(s.drive(s.drive(opened(p.Name, Initiator), c.before...), "!cancel"), c.answer...)
			if x.Outcome() != c.want {
				t.Errorf("%s: %v, cancel, %v: %s", p.Name, c.before, c.answer, x.State)
			}
		}
	}
}

func TestAFinalNackOfALaterActDependsOnTheAct(t *testing.T) {
	nack := func(s *sealer, x Exchange, id string, kind Event) Input {
		h := s.header(x, kind)
		h.InReplyTo = id
		if kind == Nacked {
			return Refusal(s.seal(h))
		}
		return Receive(s.seal(h))
	}
	for _, kind := range []Event{Nacked, Misunderstood} {
		s := newSealer(t)
		x := s.drive(opened(RequestV1, Initiator), "!request", "!cancel")
		next, out, err := Advance(x, noon, nack(s, x, x.Cancel, kind))
		if err != nil || !reflect.DeepEqual(next, x) {
			t.Errorf("%s of a cancel: %v, %+v", kind, err, next)
		}
		wantDoes(t, out, "absorb")

		x = s.drive(opened(RequestV1, Initiator), "!request", "?agree")
		award := "019535d9-3df7-79fb-b466-00000000aaaa" // as a protocol with awards has them
		x.Asked = append(x.Asked, award)
		next, out, err = advanceUnchanged(t, x, noon, nack(s, x, award, kind))
		if err != nil || next.Outcome() != Failed || next.Error.Code != envelope.CodeCapacity || next.Misread {
			t.Errorf("%s of a later act: %v, %+v", kind, err, next)
		}
		wantDoes(t, out, "end")

		next, out, err = Advance(x, noon, nack(s, x, "019535d9-3df7-79fb-b466-00000000bbbb", kind))
		if _, is := err.(*Violation); !is || !reflect.DeepEqual(next, x) || out != nil {
			t.Errorf("%s of what was never said: %v, %+v", kind, err, next)
		}
	}
	s := newSealer(t)
	y := s.drive(opened(RequestV1, Participant), "?request", "!agree", "!inform~")
	next, out, err := Advance(y, noon, nack(s, y, y.Asked[0], Nacked))
	if err != nil || !reflect.DeepEqual(next, y) {
		t.Errorf("nack of a participant's act: %v, %+v", err, next)
	}
	wantDoes(t, out, "absorb")
}

func TestVoidEndsTheExchangeAsFailed(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Initiator), "!request", "?agree")
	told := envelope.NewError(envelope.CodeValidation, "schema")
	next := Void(x, s.seal(s.header(x, "?inform")), told)
	if next.Outcome() != Failed || next.Error != told || next.Received != x.Received+1 || next.Messages != x.Messages {
		t.Errorf("%+v", next)
	}
}

func TestConsumeMovesOnlyTheCursorAndOnlyByOne(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(RequestV1, Initiator), "!request", "?agree")
	for _, on := range []Event{"?inform", "?cancel", "?request", "?propose"} {
		want := x
		want.Received++
		if got := Consume(x, s.seal(s.header(x, on))); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", on, got, want)
		}
	}
	for _, seq := range []int64{1, 3, 500} {
		h := s.header(x, "?inform")
		h.Seq = seq
		if got := Consume(x, s.seal(h)); !reflect.DeepEqual(got, x) {
			t.Errorf("number %d: %+v", seq, got)
		}
	}
	if got := Consume(x, s.seal(s.header(x, Misunderstood))); !reflect.DeepEqual(got, x) {
		t.Errorf("receipt: %+v", got)
	}
}
