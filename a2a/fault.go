package a2a

import (
	"errors"
	"net/http"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// fail answers with an error. What is not a *wire.Error stays in the log, under
// the id that the client is told.
func (v *visit) fail(err error) {
	e := v.told(err)
	v.failAs(v.binding.status(e), e)
}

// failAs is fail with a status that says more than the error's own.
func (v *visit) failAs(status int, e *wire.Error) {
	h := v.w.Header()
	if status == http.StatusUnauthorized {
		for _, c := range v.cfg.challenges() {
			h.Add("WWW-Authenticate", c)
		}
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", wire.FormatRetryAfter(e.RetryAfter))
	}
	v.w.send(status, v.binding.mediaType(), v.binding.failure(status, e))
}

// told is what the client is told of an error. The operator is told what is no fault of
// the client's.
func (v *visit) told(err error) *wire.Error {
	if e, known := errors.AsType[*wire.Error](err); known {
		return e
	}
	if v.r.Context().Err() != nil { // nobody may read it, and the log has no word of it
		return wire.Errorf(wire.Unavailable, "the call was broken off before its answer")
	}
	v.cfg.Log.ErrorContext(v.r.Context(), "request failed", "request", v.id, "error", err)
	if errors.Is(err, store.ErrFull) {
		return wire.Errorf(wire.Unavailable, "the agent cannot keep anything more now")
	}
	return v.incident()
}

// incident tells the client where the operator finds what happened.
func (v *visit) incident() *wire.Error {
	e := wire.Errorf(wire.Internal, "internal error, incident %s", v.id)
	e.Info = map[string]string{"incident": v.id}
	return e
}
