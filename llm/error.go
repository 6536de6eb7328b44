package llm

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts the failures of a model by what a caller can do about them.
type ErrorKind string

// The kinds of Error.
const (
	ErrorRateLimit     ErrorKind = "rate-limit"     // wait for RetryAfter, then ask again
	ErrorUnavailable   ErrorKind = "unavailable"    // connection or server failed; ask again later
	ErrorBadRequest    ErrorKind = "bad-request"    // the same request will fail again
	ErrorOutputInvalid ErrorKind = "output-invalid" // the model's reply was unusable; Text may have it
	ErrorUnauthorized  ErrorKind = "unauthorized"   // the key is missing, wrong or not allowed
	ErrorCut           ErrorKind = "cut"            // the reply exceeded a size limit and was dropped
	ErrorSchemaRefused ErrorKind = "schema-refused" // ask again with a simpler mode or schema
)

// Error is a failed completion. Use errors.As to reach it. It wraps the context's
// error when the context ended the call, so errors.Is finds that.
type Error struct {
	Kind       ErrorKind
	Status     int           // HTTP status; 0 when no answer arrived
	RetryAfter time.Duration // how long the endpoint asked to wait; 0 when it did not
	// Text is the endpoint's own message, or, with ErrorOutputInvalid, what the
	// model wrote if the endpoint passed it on. It is untrusted.
	Text string
	Err  error // the cause; may be nil
}

// Error names the kind, the status and the endpoint's message, bounded in length.
func (e *Error) Error() string {
	s := "model: " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Text != "" {
		s += fmt.Sprintf(": %q", clip(e.Text, 300))
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	return e.Kind == ErrorRateLimit || e.Kind == ErrorUnavailable
}

// clip returns the first n runes of s.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// asError returns the Error in err, nil if there is none.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
