package agent

import (
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
)

// Decision is a handler's decided ending: an act and what the peer is told.
type Decision struct {
	Act    envelope.Performative
	Code   envelope.Code
	Reason string
	// pointer and want say where a model's output stayed wrong.
	pointer, want string
}

func (d *Decision) Error() string { return fmt.Sprintf("%s: %s (%s)", d.Act, d.Code, d.Reason) }

// Refuse is the error of a handler that will not do what was asked. The reason
// is a lower-case word that the peer sees. After work was shown to have
// started it is sent as a failure with the same code.
func Refuse(code envelope.Code, reason string) error {
	return &Decision{Act: envelope.Refuse, Code: code, Reason: reason}
}

// Fail is the error of a handler that tried and could not. The reason is a
// lower-case word that the peer sees.
func Fail(code envelope.Code, reason string) error {
	return &Decision{Act: envelope.Failure, Code: code, Reason: reason}
}

// Errors of a host, for errors.Is.
var (
	// ErrStopped: the host is not running.
	ErrStopped = errors.New("the host is not running")
	// ErrUnknownPeer: nobody in the directory has that name.
	ErrUnknownPeer = errors.New("no agent of that name is known")
	// ErrSelf: an agent cannot open an exchange with itself.
	ErrSelf = errors.New("an agent cannot ask itself")
	// ErrPast: the deadline has passed before anything was sent.
	ErrPast = errors.New("the deadline has passed already")
)

// errStop, errLapsed and errSpent are why a handler's context ended.
var (
	errSpent  = errors.New("the conversation has had the time that its budget gives it")
	errStop   = errors.New("the peer cancelled the exchange")
	errLapsed = errors.New("the deadline of the exchange has passed")
)

// told is the error member of the act.
func (d *Decision) told() *envelope.Error {
	e := envelope.NewError(d.Code, d.Reason)
	if d.pointer != "" {
		e.Detail = &envelope.Detail{Pointer: d.pointer, Want: d.want}
	}
	return e
}
