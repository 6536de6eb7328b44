package wire

import (
	"bytes"
	"encoding/json"
)

// Request is a JSON-RPC 2.0 request (section 9.3).
type Request struct {
	// ID is the JSON of the id, a string, a number or null, as it came; null
	// when there is none to be read.
	ID     json.RawMessage
	Method Method
	params []byte
}

// ParseRequest reads a JSON-RPC request. With an error, a *Error, the request
// still carries the id if that could be read, for the answer. A batch is
// refused, and so is a notification: every operation has an answer.
func ParseRequest(body []byte) (Request, error) {
	r, err := parseRequest(body)
	if r.ID == nil {
		r.ID = json.RawMessage("null")
	}
	return r, err
}

// parseRequest is ParseRequest without an id where none could be read.
func parseRequest(body []byte) (r Request, err error) {
	if err := check(body); err != nil {
		return r, err
	}
	text := trim(bytes.Clone(body))
	if text[0] != '{' {
		return r, Errorf(InvalidRequest, "expected one request object, got %s", kindOf(text))
	}
	var version, id, method, params []byte
	var room [8]member
	for _, m := range appendMembers(room[:0], text) {
		switch string(m.name) {
		case "jsonrpc":
			version = m.value
		case "id":
			id = m.value
		case "method":
			method = m.value
		case "params":
			params = m.value
		}
	}
	if id == nil || kindOf(id) != "a string" && kindOf(id) != "a number" && !isNull(id) {
		return r, invalidRequest("id", "expected a string, a number or null", id)
	}
	r.ID = id
	if string(version) != `"2.0"` {
		return r, invalidRequest("jsonrpc", `expected "2.0"`, version)
	}
	if method == nil || method[0] != '"' {
		return r, invalidRequest("method", "expected a string", method)
	}
	r.Method = Method(unquote(method))
	if now, old := formerly(string(r.Method)); old {
		return r, Errorf(VersionNotSupported, "%s is a method of protocol 0.3; here is %s, where it is called %s", r.Method, Version, now)
	}
	if !r.Method.Known() {
		return r, Errorf(MethodNotFound, "there is no method of this name")
	}
	switch {
	case params == nil || isNull(params):
		r.params = []byte("{}")
	case params[0] != '{':
		return r, Errorf(InvalidParams, "expected params to be an object, got %s", kindOf(params))
	default:
		r.params = params
	}
	return r, nil
}

func invalidRequest(field, want string, got []byte) *Error {
	kind := "none"
	if got != nil {
		kind = kindOf(got)
	}
	e := Errorf(InvalidRequest, "%s, got %s", want, kind)
	e.Field = field
	return e
}

// Decode reads the parameters into the zero value of the method's request; it
// is [Decode] for them. Absent ones are empty.
func (r Request) Decode(into Object) error {
	if err := newReader().decode(r.params, into); err != nil {
		return err
	}
	return r.Method.complete(into)
}

// EncodeRequest is the JSON-RPC request of a client. The id is a text of its
// own choice.
func EncodeRequest(id string, m Method, params Object) []byte {
	c := codec{writing: true, out: make([]byte, 0, 512)}
	c.out = append(c.out, `{"jsonrpc":"2.0","id":`...)
	c.out = append(appendString(c.out, id), `,"method":`...)
	c.out = append(appendString(c.out, string(m)), `,"params":`...)
	c.write(params)
	return append(c.out, '}')
}
