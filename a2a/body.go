package a2a

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// isJSON refuses a body that does not say that it is one of ours. No form of a
// web page can say so.
func (v *visit) isJSON() error {
	t, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if err != nil || t != wire.RPCType && t != wire.ContentType {
		return wire.Errorf(wire.ContentTypeNotSupported, "the body must be %s or %s", wire.RPCType, wire.ContentType)
	}
	return nil
}

// expectBody gives a body its time to come: also one that nobody will read, which
// the http.Server reads to its end before it goes on. Where there is none, what
// the connection waits for is its client's end, and that has no deadline.
func (v *visit) expectBody() {
	if v.r.ContentLength != 0 {
		_ = v.w.control.SetReadDeadline(soon(v.cfg.Timeouts.Body))
	}
}

// body reads the request's body. One that is too large is refused before it is
// read, if it says how long it is, and its connection is not used again.
func (v *visit) body() ([]byte, bool) {
	if v.r.ContentLength > v.cfg.MaxBody {
		v.refuseBody()
		return nil, false
	}
	data, err := io.ReadAll(http.MaxBytesReader(v.w.ResponseWriter, v.r.Body, v.cfg.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		v.refuseBody()
		return nil, false
	}
	if err != nil {
		v.w.Header().Set("Connection", "close")
		v.failAs(http.StatusRequestTimeout, wire.Errorf(wire.InvalidRequest, "the body did not come whole in time"))
		return nil, false
	}
	_ = v.w.control.SetReadDeadline(time.Time{})
	return data, true
}

func (v *visit) refuseBody() {
	v.w.Header().Set("Connection", "close")
	v.failAs(http.StatusRequestEntityTooLarge, wire.Errorf(wire.InvalidRequest, "the body is too large: at most %d bytes", v.cfg.MaxBody))
}
