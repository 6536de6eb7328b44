package a2a

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// isJSON refuses a body that does not say that it is one of ours. No form of a
// web page can say so.
func (v *visit) isJSON() error {
	if t := mediaTypeOf(v.r.Header.Get("Content-Type")); t != wire.RPCType && t != wire.ContentType {
		return wire.Errorf(wire.ContentTypeNotSupported, "the body must be %s or %s", wire.RPCType, wire.ContentType)
	}
	return nil
}

// mediaTypeOf is the media type that a header names, "" if it names none.
func mediaTypeOf(header string) string {
	if header == wire.RPCType || header == wire.ContentType {
		return header
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return t
}

// expectBody gives a body its time to come: also one that nobody will read, which
// the http.Server reads to its end before it goes on. Where there is none, what
// the connection waits for is its client's end, and that has no deadline.
func (v *visit) expectBody() {
	if v.r.ContentLength != 0 {
		_ = v.w.control.SetReadDeadline(soon(v.cfg.Timeouts.Body))
	}
}

// readAhead is how much room a body gets at once that says how long it is:
// nobody holds more by a promise.
const readAhead = 64 << 10

// body reads the request's body. One that is too large is refused before it is
// read, if it says how long it is, and its connection is not used again.
func (v *visit) body() ([]byte, bool) {
	if v.r.ContentLength > v.cfg.MaxBody {
		v.refuseBody()
		return nil, false
	}
	var data bytes.Buffer
	data.Grow(int(min(max(v.r.ContentLength, 0), readAhead)) + bytes.MinRead)
	_, err := data.ReadFrom(http.MaxBytesReader(v.w.ResponseWriter, v.r.Body, v.cfg.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		v.refuseBody()
		return nil, false
	}
	if err != nil {
		status, told := http.StatusBadRequest, "the body cannot be read whole"
		if errors.Is(err, os.ErrDeadlineExceeded) {
			status, told = http.StatusRequestTimeout, "the body did not come whole in time"
		}
		v.w.Header().Set("Connection", "close")
		v.failAs(status, wire.Errorf(wire.InvalidRequest, "%s", told))
		return nil, false
	}
	_ = v.w.control.SetReadDeadline(time.Time{})
	return data.Bytes(), true
}

func (v *visit) refuseBody() {
	v.w.Header().Set("Connection", "close")
	v.failAs(http.StatusRequestEntityTooLarge, wire.Errorf(wire.InvalidRequest, "the body is too large: at most %d bytes", v.cfg.MaxBody))
}
