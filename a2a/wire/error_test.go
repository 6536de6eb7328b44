package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEveryKindIsOnTheWireAsTheSpecificationHasIt(t *testing.T) {
	for _, tt := range []struct {
		kind           Kind
		code, http     int
		status, reason string
		overRPC        int
	}{
		{TaskNotFound, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", 200},
		{TaskNotCancelable, -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", 200},
		{PushNotificationNotSupported, -32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED", 200},
		{UnsupportedOperation, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", 200},
		{ContentTypeNotSupported, -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", 200},
		{InvalidAgentResponse, -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE", 200},
		{ExtendedCardNotConfigured, -32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 200},
		{ExtensionSupportRequired, -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", 200},
		{VersionNotSupported, -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", 200},
		{ParseError, -32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR", 200},
		{InvalidRequest, -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", 200},
		{MethodNotFound, -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND", 200},
		{InvalidParams, -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", 200},
		{Internal, -32603, 500, "INTERNAL", "INTERNAL", 200},
		{Unauthenticated, -31401, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", 401},
		{PermissionDenied, -31403, 403, "PERMISSION_DENIED", "PERMISSION_DENIED", 403},
		{Overloaded, -31429, 429, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 429},
		{Unavailable, -31503, 503, "UNAVAILABLE", "UNAVAILABLE", 503},
	} {
		info := fmt.Sprintf(`[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","reason":%q}]`, tt.reason)
		err := fmt.Errorf("wrapped: %w", Errorf(tt.kind, "why"))
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"why","data":%s}}`, tt.code, info)
		if got := string(EncodeError(json.RawMessage("1"), err)); got != want {
			t.Errorf("JSON-RPC: got %s, want %s", got, want)
		}
		want = fmt.Sprintf(`{"error":{"code":%d,"status":%q,"message":"why","details":%s}}`, tt.http, tt.status, info)
		if code, got := EncodeStatus(err); code != tt.http || string(got) != want {
			t.Errorf("HTTP+JSON: got %d %s, want %s", code, got, want)
		}
		if tt.kind.Code() != tt.code || tt.kind.HTTPStatus() != tt.http || tt.kind.RPCStatus() != tt.overRPC {
			t.Errorf("%s: code %d, HTTP %d, over JSON-RPC %d", tt.kind, tt.kind.Code(), tt.kind.HTTPStatus(), tt.kind.RPCStatus())
		}
	}
}

func TestAFaultOfTheServerTellsNothing(t *testing.T) {
	err := errors.New("sql: password is hunter2")
	_, rest := EncodeStatus(err)
	for _, body := range []string{string(EncodeError(json.RawMessage("1"), err)), string(rest)} {
		if strings.Contains(body, "sql") || !strings.Contains(body, `"message":"internal error"`) {
			t.Errorf("got %s", body)
		}
	}
}

func TestAnErrorSaysItsPlaceItsWaitAndWhatTheServerAdds(t *testing.T) {
	e := &Error{Kind: InvalidParams, Message: "expected more", Field: "message.parts", RetryAfter: 1500 * time.Millisecond,
		Info:    map[string]string{"taskId": "t"},
		Details: []Metadata{{"@type": json.RawMessage(`"type.googleapis.com/google.protobuf.Struct"`), "value": json.RawMessage(`{"n":1}`)}}}
	details := `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","metadata":{"taskId":"t"},"reason":"INVALID_PARAMS"},` +
		`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"description":"expected more","field":"message.parts"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"},` +
		`{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"n":1}}]`
	want := `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"message.parts: expected more","details":` + details + `}}`
	if _, got := EncodeStatus(e); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnErrorComesBackByBothBindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &Error{
			Kind:       rapid.SampledFrom(statuses).Draw(t, "kind").kind,
			Message:    drawText(t),
			Field:      drawText(t),
			RetryAfter: time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "wait")),
			Info:       optionally(rapid.MapOfN(rapid.String(), rapid.String(), 1, 2)).Draw(t, "info"),
			Details: optionally(rapid.Just([]Metadata{{"@type": json.RawMessage(`"x"`), "n": json.RawMessage(`9007199254740993`)}})).
				Draw(t, "details"),
		}
		got := DecodeAnswer(EncodeError(json.RawMessage(`"1"`), want), "1", new(Empty))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("by JSON-RPC got %#v, want %#v", got, want)
		}
		if got := DecodeStatus(EncodeStatus(want)); !reflect.DeepEqual(got, want) {
			t.Fatalf("by HTTP+JSON got %#v, want %#v", got, want)
		}
	})
}

func TestAnErrorOfAnotherServerIsReadAsFarAsItGoes(t *testing.T) {
	info := func(reason, domain string) string {
		return `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","domain":"` + domain + `"}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		want       Error
	}{
		{"the specification's example", `{"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"task-123"}}]}}`,
			404, Error{Kind: TaskNotFound, Message: "gone", Info: map[string]string{"taskId": "task-123"}}},
		{"a status of version 1.0.0", `{"error":{"code":415,"status":"INVALID_ARGUMENT","message":"no","details":[` + info("CONTENT_TYPE_NOT_SUPPORTED", "a2a-protocol.org") + `]}}`, 415, Error{Kind: ContentTypeNotSupported, Message: "no"}},
		{"another domain", `{"error":{"message":"no","details":[` + info("TASK_NOT_FOUND", "example.com") + `]}}`, 404, Error{Kind: MethodNotFound, Message: "no"}},
		{"a reason nobody knows", `{"error":{"message":"no","details":[` + info("BAD_MOOD", "a2a-protocol.org") + `]}}`, 503, Error{Kind: Unavailable, Message: "no"}},
		{"only where", `{"error":{"message":"Invalid","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.parts","description":"At least one part is required"}]}]}}`,
			400, Error{Kind: InvalidParams, Message: "Invalid", Field: "message.parts"}},
		{"no details", `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}`, 400, Error{Kind: InvalidParams, Message: "no"}},
		{"details that are no list", `{"error":{"message":"no","details":` + info("TASK_NOT_FOUND", "a2a-protocol.org") + `}}`, 400, Error{Kind: TaskNotFound, Message: "no"}},
		{"details that are no objects", `{"error":{"message":"no","details":[1,null,"x"]}}`, 400, Error{Kind: InvalidRequest, Message: "no"}},
		{"a wait that is none", `{"error":{"message":"no","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"-5s"}]}}`, 429, Error{Kind: Overloaded, Message: "no"}},
		{"a page of a proxy", `<html>`, 502, Error{Kind: Unavailable, Message: "HTTP status 502"}},
		{"another JSON", `[1]`, 404, Error{Kind: MethodNotFound, Message: "HTTP status 404"}},
		{"nothing", ``, 401, Error{Kind: Unauthenticated, Message: "HTTP status 401"}},
		{"forbidden", `{}`, 403, Error{Kind: PermissionDenied, Message: "HTTP status 403"}},
		{"too fast", `{}`, 429, Error{Kind: Overloaded, Message: "HTTP status 429"}},
		{"too large", `{}`, 413, Error{Kind: InvalidRequest, Message: "HTTP status 413"}},
		{"broken", `{"error":{"message":5}}`, 500, Error{Kind: Internal, Message: "HTTP status 500"}},
		{"a redirect", ``, 302, Error{Kind: InvalidAgentResponse, Message: "HTTP status 302"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := DecodeStatus(tt.status, []byte(tt.body)); !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got %#v, want %#v", *got, tt.want)
			}
		})
	}
	var e *Error
	answer := `{"jsonrpc":"2.0","id":"1","error":{"code":-32000,"message":"no","data":` + info("UNAVAILABLE", "a2a-protocol.org") + `}}`
	if err := DecodeAnswer([]byte(answer), "1", new(Empty)); !errors.As(err, &e) || e.Kind != Unavailable {
		t.Errorf("a code nobody knows: got %v", err)
	}
	answer = `{"jsonrpc":"2.0","id":"1","error":{"code":-32002,"message":"no","data":` + info("TASK_NOT_FOUND", "a2a-protocol.org") + `}}`
	if err := DecodeAnswer([]byte(answer), "1", new(Empty)); !errors.As(err, &e) || e.Kind != TaskNotCancelable {
		t.Errorf("a code that everybody knows: got %v", err)
	}
}
