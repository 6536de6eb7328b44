package wire

import (
	"bytes"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Run("events", func(t *testing.T) { rapid.Check(t, returns(drawEvent)) })
	t.Run("cards", func(t *testing.T) { rapid.Check(t, returns(drawCard)) })
	t.Run("pages", func(t *testing.T) {
		rapid.Check(t, returns(func(t *rapid.T) ListTasksResponse {
			return ListTasksResponse{several(t, drawTask), drawText(t), drawCount(t), drawCount(t)}
		}))
	})
	t.Run("configurations", func(t *testing.T) {
		rapid.Check(t, returns(func(t *rapid.T) ListPushConfigsResponse {
			return ListPushConfigsResponse{several(t, drawPush), drawText(t)}
		}))
	})
	t.Run("answers", func(t *testing.T) {
		rapid.Check(t, returns(func(t *rapid.T) SendMessageResponse {
			if rapid.Bool().Draw(t, "message") {
				m := drawMessage(t)
				return SendMessageResponse{Message: &m}
			}
			task := drawTask(t)
			return SendMessageResponse{Task: &task}
		}))
	})
}

// returns is the property that an object comes back from its JSON, which is one
// line, and is written the same again.
func returns[T any, P objectOf[T]](draw func(*rapid.T) T) func(*rapid.T) {
	return func(t *rapid.T) {
		want := draw(t)
		text := Encode(P(&want))
		if bytes.ContainsAny(text, "\r\n") {
			t.Fatalf("more than one line: %s", text)
		}
		var got T
		if err := Decode(text, P(&got)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got\n%#v, want\n%#v", got, want)
		}
		if again := Encode(P(&got)); !bytes.Equal(again, text) {
			t.Fatalf("got %s, want %s", again, text)
		}
	}
}

func TestARequestIsTheSameByEveryBinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCall(t)
		r, err := ParseRequest(EncodeRequest("1", c.method, c.request))
		if err != nil {
			t.Fatal(err)
		}
		byRPC := c.empty()
		if err := r.Decode(byRPC); err != nil || r.Method != c.method || !reflect.DeepEqual(byRPC, c.request) {
			t.Fatalf("by JSON-RPC %s %#v (%v), want %s %#v", r.Method, byRPC, err, c.method, c.request)
		}
		method, target, body := EncodeREST(c.method, c.request)
		path, query, _ := strings.Cut(target, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		route, err := ParseRoute(method, path)
		if err != nil {
			t.Fatalf("%s %s: %v", method, target, err)
		}
		byREST := c.empty()
		if err := route.Decode(values, body, byREST); err != nil || route.Method != c.method || !reflect.DeepEqual(byREST, c.request) {
			t.Fatalf("by %s %s %s %#v (%v), want %#v", method, target, body, byREST, err, c.request)
		}
	})
}
