package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The elements of an error's details that are known here (google.rpc's error
// model) and the domain of the protocol's reasons.
const (
	typePrefix     = "type.googleapis.com/google.rpc."
	errorInfoType  = typePrefix + "ErrorInfo"
	badRequestType = typePrefix + "BadRequest"
	retryInfoType  = typePrefix + "RetryInfo"
	domain         = "a2a-protocol.org"
)

// text is the error's message on the wire: with the place, for those who read
// only that.
func (e *Error) text() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// details are the elements of the error's data: first what it is, then where
// and when, then what the server adds.
func (e *Error) details() []Metadata {
	info := Metadata{"@type": quoted(errorInfoType), "reason": quoted(string(e.Kind)), "domain": quoted(domain)}
	if len(e.Info) > 0 {
		info["metadata"] = encodeStrings(e.Info)
	}
	list := []Metadata{info}
	if e.Field != "" {
		violation := encodeStrings(map[string]string{"field": e.Field, "description": e.Message})
		list = append(list, Metadata{"@type": quoted(badRequestType), "fieldViolations": slices.Concat([]byte("["), violation, []byte("]"))})
	}
	if e.RetryAfter > 0 {
		list = append(list, Metadata{"@type": quoted(retryInfoType), "retryDelay": quoted(formatDuration(e.RetryAfter))})
	}
	return append(list, e.Details...)
}

func quoted(s string) json.RawMessage { return appendString(nil, s) }

func encodeStrings(m map[string]string) json.RawMessage {
	c := codec{writing: true, out: []byte("{")}
	for _, k := range sorted(m) {
		v := m[k]
		c.text(k, &v, kept)
	}
	return append(c.out, '}')
}

// readError is the error of which a server said that. The kind is what its code
// or status meant; the reason of its ErrorInfo counts unless that was sure.
func readError(kind Kind, sure bool, message string, details []Metadata) *Error {
	e := &Error{Kind: kind, Message: message}
	for _, d := range details {
		switch text(d["@type"]) {
		case errorInfoType:
			reason := Kind(text(d["reason"]))
			if _, known := reason.status(); known && !sure && text(d["domain"]) == domain {
				e.Kind, sure = reason, true
			}
			e.Info = decodeStrings(d["metadata"])
		case badRequestType:
			if !sure {
				e.Kind = InvalidParams
			}
			e.readViolation(d["fieldViolations"])
		case retryInfoType:
			e.RetryAfter = duration(text(d["retryDelay"]))
		default:
			e.Details = append(e.Details, d)
		}
	}
	return e
}

// readViolation takes the place of the first fault, and its description when
// the message is ours, which repeats both.
func (e *Error) readViolation(list json.RawMessage) {
	if len(list) == 0 || list[0] != '[' {
		return
	}
	for v := range elements(list) {
		first := decodeStrings(v)
		e.Field = first["field"]
		if (&Error{Field: e.Field, Message: first["description"]}).text() == e.Message {
			e.Message = first["description"]
		}
		return
	}
}

// text is a string of a checked text, "" for anything else.
func text(value json.RawMessage) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	return unquote(value)
}

// decodeStrings are the members of an object that are strings.
func decodeStrings(object json.RawMessage) map[string]string {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	var m map[string]string
	for _, x := range appendMembers(nil, object) {
		if x.value[0] == '"' {
			if m == nil {
				m = map[string]string{}
			}
			m[string(x.name)] = unquote(x.value)
		}
	}
	return m
}

// formatDuration is a google.protobuf.Duration; no float64 could hold all of it.
func formatDuration(d time.Duration) string {
	fraction := strings.TrimRight(fmt.Sprintf(".%09d", d%time.Second), ".0")
	return strconv.FormatInt(int64(d/time.Second), 10) + fraction + "s"
}

// duration reads a google.protobuf.Duration such as 1.5s; what is none, or is
// negative, is 0.
func duration(s string) time.Duration {
	seconds, ok := strings.CutSuffix(s, "s")
	if !ok || strings.Trim(seconds, "0123456789.") != "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return d
}

// details reads and writes an error's data. It is generous: one object stands
// for an array of it, and what is no object is passed over.
func details(c *codec, name string, v *[]Metadata) {
	if c.writing {
		c.array(name, len(*v), optional, func(i int) { c.out = (*v)[i].append(c.out) })
		return
	}
	value, ok := c.find(name)
	if !ok {
		return
	}
	add := func(value []byte) {
		if value[0] == '{' {
			*v = append(*v, readMetadata(value))
		}
	}
	if value[0] != '[' {
		add(value)
		return
	}
	for e := range elements(value) {
		add(e)
	}
}
