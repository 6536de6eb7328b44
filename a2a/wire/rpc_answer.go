package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// EncodeResult is the JSON-RPC answer with a result, on one line: the body of a
// response, or the data of one event of a stream. The id is the request's, nil
// for null.
func EncodeResult(id json.RawMessage, result Object) []byte {
	c := codec{writing: true, out: make([]byte, 0, 1024)}
	c.out = append(appendID(c.out, id), `,"result":`...)
	c.write(result)
	return append(c.out, '}')
}

// EncodeError is the JSON-RPC answer with an error, on one line. What is no
// *Error becomes Internal with a fixed text. A nil id stands for null.
func EncodeError(id json.RawMessage, err error) []byte {
	e := Public(err)
	c := codec{writing: true}
	c.out = append(appendID(c.out, id), `,"error":`...)
	c.write(&rpcError{code: e.Kind.Code(), message: e.text(), data: e.details()})
	return append(c.out, '}')
}

// appendID begins an answer.
func appendID(out []byte, id json.RawMessage) []byte {
	out = append(out, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(out, "null"...)
	}
	return appendRaw(out, id)
}

// DecodeAnswer reads a JSON-RPC answer, or the data of one event of a stream,
// to the request with that id. The error is a *Error: the server's own, or
// InvalidAgentResponse if the answer is not one to this request.
func DecodeAnswer(body []byte, id string, into Object) error {
	if err := check(body); err != nil {
		return asAnswer(err)
	}
	text := trim(bytes.Clone(body))
	var a rpcAnswer
	if err := newReader().decode(text, &a); err != nil {
		return asAnswer(err)
	}
	if a.version != "2.0" {
		return Errorf(InvalidAgentResponse, "answer is not JSON-RPC 2.0")
	}
	// A server that could not read the request does not know its id.
	if ours := a.id != nil && a.id[0] == '"' && unquote(a.id) == id; !ours && (a.fault == nil || a.id != nil && !isNull(a.id)) {
		return Errorf(InvalidAgentResponse, "answer is to another request")
	}
	switch {
	case (a.fault == nil) == (a.result == nil):
		return Errorf(InvalidAgentResponse, "answer has not exactly one of result and error")
	case a.fault != nil:
		return a.fault.read()
	}
	c := newReader()
	c.enter(step{"result", -1})
	return asAnswer(c.decode(a.result, into))
}

type rpcAnswer struct {
	version    string
	id, result json.RawMessage
	fault      *rpcError
}

func (a *rpcAnswer) fields(c *codec) {
	c.text("jsonrpc", &a.version, kept)
	c.value("id", &a.id)
	c.value("result", &a.result)
	maybe(c, "error", &a.fault)
	if a.fault != nil && string(a.result) == "null" {
		a.result = nil // some write both members
	}
}

// rpcError is the error of an answer. Its code is kept as it came, since codes
// are negative and count is not.
type rpcError struct {
	code    int
	message string
	data    []Metadata
}

func (e *rpcError) fields(c *codec) {
	if c.writing {
		code, _ := json.Marshal(e.code)
		c.value("code", (*json.RawMessage)(&code))
		c.text("message", &e.message, kept)
		details(c, "data", &e.data)
		return
	}
	if value, ok := c.find("code"); ok {
		n, whole := integer(value)
		if !whole || n < math.MinInt32 {
			c.fail("code", "expected a whole number, got %s", shown(value))
		}
		e.code = n
	}
	c.text("message", &e.message, kept)
	details(c, "data", &e.data)
}

// read is the error that a client sees.
func (e *rpcError) read() *Error {
	kind, known := kindOfCode(e.code)
	return readError(kind, known, e.message, e.data)
}

// Public is what a client is told of an error: a *Error as it is, and Internal
// with a fixed text for anything else.
func Public(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Errorf(Internal, "internal error")
}
