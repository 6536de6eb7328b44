package wire

import (
	"bytes"
	"crypto"
	"errors"
	"maps"
	"net/url"
	"slices"
	"testing"
)

// stable fails unless an object that was read is written in a way that is read
// and written the same.
func stable(t *testing.T, o, again Object) {
	t.Helper()
	text := Encode(o)
	if err := Decode(text, again); err != nil {
		t.Fatalf("%s was written and is not read: %v", text, err)
	}
	if second := Encode(again); !bytes.Equal(second, text) {
		t.Fatalf("%s was written, then %s", text, second)
	}
}

// typed fails unless an error is a *Error that says something.
func typed(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Message == "") {
		t.Fatalf("got a %T: %v", err, err)
	}
}

func FuzzDecode(f *testing.F) {
	kinds := slices.Sorted(maps.Keys(zero()))
	for i, name := range kinds {
		f.Add(i, Encode(full()[name]))
	}
	for _, text := range []string{good, part(`{"raw":"_-"}`), part(`{"data":null}`), with(`"task_id":"a","metadata":{"":[]}`)} {
		f.Add(slices.Index(kinds, "Message"), []byte(text))
	}
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		name := kinds[uint(i)%uint(len(kinds))]
		into := zero()[name]
		if err := Decode(data, into); err != nil {
			typed(t, err)
			return
		}
		stable(t, into, zero()[name])
	})
}

func request(m Method) Object {
	switch m {
	case SendMessage, SendStreamingMessage:
		return new(SendMessageRequest)
	case GetTask:
		return new(GetTaskRequest)
	case ListTasks:
		return new(ListTasksRequest)
	case CancelTask:
		return new(CancelTaskRequest)
	case SubscribeToTask:
		return new(SubscribeRequest)
	case CreatePushConfig:
		return new(PushConfig)
	case GetPushConfig, DeletePushConfig:
		return new(PushConfigRequest)
	case ListPushConfigs:
		return new(ListPushConfigsRequest)
	}
	return new(ExtendedCardRequest)
}

func FuzzParseRequest(f *testing.F) {
	for _, m := range methods {
		f.Add(EncodeRequest("1", m, request(m)))
	}
	f.Add(EncodeRequest("1", SendMessage, full()["SendMessageRequest"]))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"tasks/get","id":null}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseRequest(body)
		if answer := EncodeError(r.ID, Errorf(Internal, "x")); check(answer) != nil {
			t.Fatalf("the id makes the answer %s", answer)
		}
		if err != nil {
			typed(t, err)
			return
		}
		into := request(r.Method)
		if err := r.Decode(into); err != nil {
			typed(t, err)
			return
		}
		stable(t, into, request(r.Method))
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add(EncodeResult(quoted("1"), full()["Task"]))
	f.Add(EncodeError(quoted("1"), &Error{Kind: InvalidParams, Message: "m", Field: "f", RetryAfter: 1, Info: map[string]string{"a": "b"}}))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"1","error":{"code":-1e9,"data":{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[1]}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var task Task
		err := DecodeAnswer(body, "1", &task)
		var e *Error
		if err == nil {
			stable(t, &task, new(Task))
		} else if !errors.As(err, &e) || e.RetryAfter < 0 {
			t.Fatalf("got %#v", err)
		}
	})
}

func FuzzDecodeStatus(f *testing.F) {
	code, body := EncodeStatus(&Error{Kind: TaskNotFound, Message: "m", Field: "f", RetryAfter: 1, Details: []Metadata{{}}})
	f.Add(code, body)
	f.Add(503, []byte(`<html>`))
	f.Add(400, []byte(`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":[]},[]]}}`))
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		e := DecodeStatus(code, body)
		if _, known := e.Kind.status(); !known || e.RetryAfter < 0 {
			t.Fatalf("got %#v", e)
		}
		if _, again := EncodeStatus(e); check(again) != nil {
			t.Fatalf("written as %s", again)
		}
	})
}

func FuzzRoute(f *testing.F) {
	for _, m := range methods {
		method, target, body := EncodeREST(m, &PushConfig{Tenant: "a", TaskID: "t:x", ID: "c", URL: "u"})
		f.Add(method, target, "pageSize=1&status=2", body)
	}
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		r, err := ParseRoute(method, path)
		if err != nil {
			typed(t, err)
			return
		}
		// The client's path for what was read leads to the same place.
		other, back := r.path()
		if again, err := ParseRoute(other, back); err != nil || again != r {
			t.Fatalf("%s %q is %+v; %s %q is %+v (%v)", method, path, r, other, back, again, err)
		}
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		into := request(r.Method)
		if err := r.Decode(values, body, into); err != nil {
			typed(t, err)
			return
		}
		stable(t, into, request(r.Method))
	})
}

func FuzzVerifyCard(f *testing.F) {
	card := someCard()
	if err := SignCard(&card, edKey(1), "k"); err != nil {
		f.Fatal(err)
	}
	signed := Encode(&card)
	f.Add(signed)
	f.Add(Encode(full()["AgentCard"]))
	f.Add([]byte(`{"name":"a","supportedInterfaces":[{"url":"u","protocolBinding":"b"}],"securitySchemes":{"":[[{}]]},"signatures":[{"protected":"e30","signature":"AA"}]}`))
	want, err := signedBytes(signed)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := VerifyCard(data, func(SignatureHint) crypto.PublicKey { return edKey(1).Public() })
		if err != nil {
			return
		}
		if got, _ := signedBytes(trim(data)); !bytes.Equal(got, want) {
			t.Fatalf("%s verifies and says %s", data, got)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("1.0", "a,b")
	f.Add("", " ,")
	f.Fuzz(func(t *testing.T, version, extensions string) {
		typed(t, CheckVersion(version, ""))
		list := ParseExtensions([]string{extensions})
		if again := ParseExtensions([]string{FormatExtensions(list)}); !slices.Equal(again, list) {
			t.Fatalf("%q becomes %q", list, again)
		}
	})
}
