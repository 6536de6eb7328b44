package a2a

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAClientOfHTTPAndJSONIsAnsweredInWhatItReads(t *testing.T) {
	const own, plain = "application/a2a+json", "application/json"
	for _, c := range []struct{ name, accept, sent, want string }{
		{"that does not say", "", "", own},
		{"that takes anything", "*/*", "", own},
		{"that takes anything and sends the protocol's own", "*/*", own, own},
		{"that takes anything and sends plain JSON", "*/*", plain + "; charset=utf-8", plain},
		{"that asks for plain JSON", plain, own, plain},
		{"that asks for plain JSON among others", "text/html, application/json;q=0.8", "", plain},
		{"that asks for both", "application/json, application/a2a+json", plain, own},
		{"that asks for a stream and sends plain JSON", "text/event-stream", plain, plain},
		{"that says what cannot be read", ";;,", ";;", own},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/message:send", strings.NewReader("{}"))
			if c.accept != "" {
				r.Header.Set("Accept", c.accept)
			}
			r.Header.Set("Content-Type", c.sent)
			if got := readable(r); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
