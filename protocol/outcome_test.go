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
	for _, state := range []State{Start, "requested", "agreed", cancelling, "done:ok"} {
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
