package protocol

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

// as reports whether err is of the type, and what it carries.
func as[E error](end func(E) Ending) func(error) (Ending, bool) {
	return func(err error) (Ending, bool) {
		e, ok := errors.AsType[E](err)
		if !ok {
			return Ending{}, false
		}
		return end(e), true
	}
}

func TestEveryOutcomeHasItsOwnError(t *testing.T) {
	kinds := map[string]func(error) (Ending, bool){
		"refused":        as(func(e *RefusedError) Ending { return e.Ending }),
		"rejected":       as(func(e *RejectedError) Ending { return e.Ending }),
		"withdrawn":      as(func(e *WithdrawnError) Ending { return e.Ending }),
		"failed":         as(func(e *FailedError) Ending { return e.Ending }),
		"not-understood": as(func(e *NotUnderstoodError) Ending { return e.Ending }),
		"cancelled":      as(func(e *CancelledError) Ending { return e.Ending }),
		"expired":        as(func(e *ExpiredError) Ending { return e.Ending }),
		"unknown":        as(func(e *UnknownError) Ending { return e.Ending }),
		"blocked":        as(func(e *BlockedError) Ending { return e.Ending }),
		"orphaned":       as(func(e *OrphanedError) Ending { return e.Ending }),
	}
	for _, c := range []struct {
		outcome Outcome
		misread bool
		code    envelope.Code
		want    string
	}{
		{Refused, false, envelope.CodePermanent, "refused"},
		{Refused, false, envelope.CodeDeadline, "expired"},
		{Refused, true, envelope.CodeValidation, "not-understood"},
		{Rejected, false, envelope.CodePermanent, "rejected"},
		{Withdrawn, false, envelope.CodePermanent, "withdrawn"},
		{Failed, false, envelope.CodeDeadline, "failed"},
		{Cancelled, false, "", "cancelled"},
		{Expired, false, envelope.CodeDeadline, "expired"},
		{TimedOut, false, "", "expired"},
		{Unknown, false, envelope.CodeDeadline, "unknown"},
		{Blocked, false, envelope.CodeDeadline, "blocked"},
		{Orphaned, false, envelope.CodeDeadline, "orphaned"},
	} {
		x := opened(RequestV1, Initiator)
		x.State, x.Misread = State(donePrefix+string(c.outcome)), c.misread
		if c.code != "" {
			x.Error = envelope.NewError(c.code, "word")
			x.Error.Detail = &envelope.Detail{Pointer: "/content/a", Want: "b", Got: "c"}
		}
		err := x.Err()
		for name, is := range kinds {
			end, ok := is(err)
			if ok != (name == c.want) {
				t.Errorf("%s is %T, want %s", c.outcome, err, c.want)
			}
			if ok && (end.Conversation != conversation || end.Peer != flights || end.Code != c.code) {
				t.Errorf("%s: %+v", c.outcome, end)
			}
		}
		if !strings.HasPrefix(err.Error(), flights+" ") || c.code != "" && !strings.HasSuffix(err.Error(), "(word) at /content/a, expected b, got c") {
			t.Errorf("%s: %v", c.outcome, err)
		}
	}
}

func TestWhatEndedOkOrHasNotEndedIsNoError(t *testing.T) {
	for _, state := range []State{Start, "requested", "agreed", cancelling, "done:ok", "done:accepted", "done:ended", "done:closed"} {
		x := opened(RequestV1, Initiator)
		x.State = state
		if err := x.Err(); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestARealRefusalTellsWhatThePeerTold(t *testing.T) {
	x := newSealer(t).drive(opened(RequestV1, Initiator), "!request", Misunderstood)
	e, ok := errors.AsType[*NotUnderstoodError](x.Err())
	if !ok || e.Pointer != "/content/flight" || e.Want != "a flight" || e.Got != "null" || e.Reason != "overloaded" {
		t.Errorf("%+v", x.Err())
	}
}

func TestATimerThatEndsAnExchangeSaysSo(t *testing.T) {
	for _, c := range []struct {
		protocol string
		role     Role
		state    State
		want     string
	}{
		{ContractNetV1, Initiator, "done:timed_out", "did not start in time: deadline (lapsed)"},
		{ContractNetV1, Initiator, "done:unknown", "did not answer in time, the outcome is unknown: deadline (lapsed)"},
		{ContractNetV1, Participant, "done:expired", "did not start in time: deadline (lapsed)"},
		{GatherV1, Initiator, "done:blocked", "did not acknowledge the fence: deadline (lapsed)"},
		{GatherV1, Participant, "done:orphaned", "never closed its gather: deadline (lapsed)"},
	} {
		s := newSealer(t)
		table := mustLookup(t, c.protocol).Table(c.role)
		way := path(table, c.state)
		if c.state == "done:expired" {
			way = path(table, "lapsed")
			way = append(way, "#grace")
		}
		x := s.drive(opened(c.protocol, c.role), way...)
		if err := x.Err(); err == nil || err.Error() != x.Peer+" "+c.want {
			t.Errorf("%s %s: %v", c.protocol, c.state, err)
		}
	}
}

func TestOnlyTheseOutcomesAreWhatWasAskedFor(t *testing.T) {
	for _, o := range []Outcome{OK, Accepted, Ended, Refused, Rejected, Withdrawn, Failed, Cancelled, Expired, TimedOut, Unknown, Closed, Blocked, Orphaned, ""} {
		if want := o == OK || o == Accepted || o == Ended; o.OK() != want {
			t.Errorf("%q: %t", o, o.OK())
		}
	}
}
