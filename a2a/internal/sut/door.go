package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// door makes the message ids of the kit unique. A run of the kit sends the
// same id for many messages that it means as different ones, and a server that
// tells duplicates by their id (A2A 1.0 section 3.3.1) answers them with the first
// one's task.
type door struct {
	inside http.Handler
	n      atomic.Int64
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = d.unique(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Del("Content-Length")
	}
	d.inside.ServeHTTP(w, r)
}

// unique gives the message in a request an id of its own: that of its message
// with a number. Anything else comes back as it is.
func (d *door) unique(body []byte) []byte {
	for _, path := range [][]string{{"params", "message", "messageId"}, {"message", "messageId"}} {
		if changed, ok := edit(body, path, d.number); ok {
			return changed
		}
	}
	return body
}

// number is what takes the place of a message id, which is a JSON string.
func (d *door) number(id json.RawMessage) (json.RawMessage, bool) {
	var s string
	if json.Unmarshal(id, &s) != nil || !strings.HasPrefix(s, "tck-") && !strings.HasPrefix(s, "test-") {
		return nil, false
	}
	b, err := json.Marshal(fmt.Sprintf("%s-%d", s, d.n.Add(1)))
	return b, err == nil
}

// edit changes the value at the path in a JSON object; ok is false when there is
// none, or nothing to change.
func edit(object json.RawMessage, path []string, change func(json.RawMessage) (json.RawMessage, bool)) (json.RawMessage, bool) {
	if len(path) == 0 {
		return change(object)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members[path[0]] == nil {
		return nil, false
	}
	changed, ok := edit(members[path[0]], path[1:], change)
	if !ok {
		return nil, false
	}
	members[path[0]] = changed
	b, err := json.Marshal(members)
	return b, err == nil
}
