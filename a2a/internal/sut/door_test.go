package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheDoorMakesTheKitsIdsUniqueAndNothingElse(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"JSON-RPC", `{"id":1,"params":{"message":{"messageId":"tck-a-1","parts":[{"data":{"n":1.50}}]}}}`,
			`{"id":1,"params":{"message":{"messageId":"tck-a-1-1","parts":[{"data":{"n":1.50}}]}}}`},
		{"HTTP+JSON", `{"message":{"messageId":"test-resubscribe"}}`, `{"message":{"messageId":"test-resubscribe-1"}}`},
		{"an id of somebody else", `{"message":{"messageId":"mine"}}`, `{"message":{"messageId":"mine"}}`},
		{"an id that is none", `{"message":{"messageId":7}}`, `{"message":{"messageId":7}}`},
		{"no message", `{"params":{"id":"tck-a-1"}}`, `{"params":{"id":"tck-a-1"}}`},
		{"no JSON", `{'message'`, `{'message'`},
		{"nothing", ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &door{inside: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })}
			w := httptest.NewRecorder()
			d.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/message:send", strings.NewReader(c.body)))
			if got := w.Body.String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheDoorCountsOn(t *testing.T) {
	d := &door{}
	first, second := string(d.unique([]byte(`{"message":{"messageId":"tck-a"}}`))), string(d.unique([]byte(`{"message":{"messageId":"tck-a"}}`)))
	if first == second {
		t.Errorf("both are %s", first)
	}
}
