package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// EncodeStatus is the body of an HTTP+JSON answer with an error (section 11.6)
// and the HTTP status that goes with it. What is no *Error becomes Internal with
// a fixed text.
func EncodeStatus(err error) (code int, body []byte) {
	e := Public(err)
	code = e.Kind.HTTPStatus()
	return code, EncodeStatusAs(code, e)
}

// EncodeStatusAs is the body of EncodeStatus for an answer whose HTTP status says
// more than the error's own, such as 413: the body names the same one.
func EncodeStatusAs(code int, err error) []byte {
	e := Public(err)
	s, _ := e.Kind.status()
	c := codec{writing: true, out: []byte(`{"error":`)}
	c.write(&restError{code: code, status: s.grpc, message: e.text(), details: e.details()})
	return append(c.out, '}')
}

// DecodeStatus reads an HTTP+JSON answer with an error. It never fails: what
// the body does not say, or cannot be read in it, the status must.
func DecodeStatus(code int, body []byte) *Error {
	kind := kindOfStatus(code)
	var r restBody
	if check(body) == nil {
		var c codec
		if c.decode(bytes.Clone(body), &r) != nil {
			r = restBody{}
		}
	}
	if r.err == nil {
		return Errorf(kind, "HTTP status %d", code)
	}
	if r.err.status == "INVALID_ARGUMENT" {
		kind = InvalidParams
	}
	return readError(kind, false, r.err.message, r.err.details)
}

type restBody struct{ err *restError }

func (b *restBody) fields(c *codec) { maybe(c, "error", &b.err) }

type restError struct {
	code            int
	status, message string
	details         []Metadata
}

func (e *restError) fields(c *codec) {
	if c.writing {
		code := json.RawMessage(strconv.Itoa(e.code))
		c.value("code", &code)
	}
	c.text("status", &e.status, kept)
	c.text("message", &e.message, kept)
	details(c, "details", &e.details)
}
