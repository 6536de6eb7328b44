package a2a

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// binding is how answers look: JSON-RPC (section 9) or HTTP+JSON (section 11).
type binding interface {
	// mediaType is that of an answer that is no stream.
	mediaType() string
	// result and failure are the body of an answer, and the data of an event: one
	// line. status is that of an answer with the error; one with another has that in
	// its body.
	result(o wire.Object) []byte
	failure(status int, e *wire.Error) []byte
	status(e *wire.Error) int
	// faultEvent is the name of the event that ends a stream with an error, "" if
	// it is an event like any other.
	faultEvent() string
}

// jsonRPC answers the request with the id, null while that is not known.
type jsonRPC struct{ id *json.RawMessage }

func (jsonRPC) mediaType() string                     { return wire.RPCType }
func (b jsonRPC) result(o wire.Object) []byte         { return wire.EncodeResult(*b.id, o) }
func (b jsonRPC) failure(_ int, e *wire.Error) []byte { return wire.EncodeError(*b.id, e) }
func (jsonRPC) status(e *wire.Error) int              { return e.Kind.RPCStatus() }
func (jsonRPC) faultEvent() string                    { return "" }

// restful answers the request in the media type that its client reads.
type restful struct{ r *http.Request }

func (b restful) mediaType() string                      { return readable(b.r) }
func (restful) result(o wire.Object) []byte              { return wire.Encode(o) }
func (restful) failure(status int, e *wire.Error) []byte { return wire.EncodeStatusAs(status, e) }
func (restful) status(e *wire.Error) int                 { return e.Kind.HTTPStatus() }
func (restful) faultEvent() string                       { return "error" }

// readable is the media type in which a client of HTTP+JSON is answered: the
// protocol's own (section 11.2), unless it asks for plain JSON or, without a
// word on that, sends it.
func readable(r *http.Request) string {
	asked := ""
	for _, accepted := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		switch t, _, _ := mime.ParseMediaType(accepted); t {
		case wire.ContentType:
			return t
		case wire.RPCType:
			asked = t
		}
	}
	if asked == "" {
		asked, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	}
	if asked == wire.RPCType {
		return asked
	}
	return wire.ContentType
}
