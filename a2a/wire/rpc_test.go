package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestARequestKeepsItsIDAsItCame(t *testing.T) {
	for _, id := range []string{`"a"`, `""`, `"\u0061"`, `7`, `-1.50`, `1e3`, `9007199254740993`, `null`} {
		r, err := ParseRequest([]byte(` {"params":{},"id":` + id + `,"method":"ListTasks","jsonrpc":"2.0","extra":[]}`))
		if err != nil || string(r.ID) != id || r.Method != ListTasks {
			t.Errorf("%s: got %s %s (%v)", id, r.ID, r.Method, err)
		}
		if got, want := string(EncodeResult(r.ID, &Empty{})), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAFaultyFrameIsRefusedByItsKind(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		kind       Kind
		id         string
		field      string
	}{
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"GetTask"`, ParseError, `null`, ""},
		{"empty", ``, ParseError, `null`, ""},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]`, InvalidRequest, `null`, ""},
		{"an empty batch", `[]`, InvalidRequest, `null`, ""},
		{"a text", `"hello"`, InvalidRequest, `null`, ""},
		{"no version", `{"id":1,"method":"GetTask"}`, InvalidRequest, `1`, "jsonrpc"},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`, InvalidRequest, `1`, "jsonrpc"},
		{"a version that is a number", `{"jsonrpc":2.0,"id":1,"method":"GetTask"}`, InvalidRequest, `1`, "jsonrpc"},
		{"no id", `{"jsonrpc":"2.0","method":"GetTask"}`, InvalidRequest, `null`, "id"},
		{"an object for an id", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, InvalidRequest, `null`, "id"},
		{"true for an id", `{"jsonrpc":"2.0","id":true,"method":"GetTask"}`, InvalidRequest, `null`, "id"},
		{"no method", `{"jsonrpc":"2.0","id":"x"}`, InvalidRequest, `"x"`, "method"},
		{"a number for a method", `{"jsonrpc":"2.0","id":"x","method":1}`, InvalidRequest, `"x"`, "method"},
		{"an unknown method", `{"jsonrpc":"2.0","id":"x","method":"DoIt"}`, MethodNotFound, `"x"`, ""},
		{"a method in lower case", `{"jsonrpc":"2.0","id":"x","method":"gettask"}`, MethodNotFound, `"x"`, ""},
		{"a method of 0.3", `{"jsonrpc":"2.0","id":"x","method":"message/send","params":{}}`, VersionNotSupported, `"x"`, ""},
		{"params in a list", `{"jsonrpc":"2.0","id":"x","method":"GetTask","params":["t"]}`, InvalidParams, `"x"`, ""},
		{"params that are text", `{"jsonrpc":"2.0","id":"x","method":"GetTask","params":"t"}`, InvalidParams, `"x"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.body))
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Field != tt.field || string(r.ID) != tt.id {
				t.Errorf("got %s, %v", r.ID, err)
			}
		})
	}
}

func TestEveryMethodOfVersion03IsNamedByItsSuccessor(t *testing.T) {
	for old, now := range map[string]Method{
		"message/send": SendMessage, "message/stream": SendStreamingMessage, "tasks/get": GetTask, "tasks/cancel": CancelTask,
		"tasks/resubscribe": SubscribeToTask, "tasks/pushNotificationConfig/set": CreatePushConfig,
		"tasks/pushNotificationConfig/get": GetPushConfig, "tasks/pushNotificationConfig/list": ListPushConfigs,
		"tasks/pushNotificationConfig/delete": DeletePushConfig, "agent/getAuthenticatedExtendedCard": GetExtendedAgentCard,
	} {
		_, err := ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + old + `"}`))
		var e *Error
		if !errors.As(err, &e) || e.Kind != VersionNotSupported || !strings.Contains(e.Message, string(now)) || !strings.Contains(e.Message, "0.3") {
			t.Errorf("%s: got %v", old, err)
		}
	}
}

func TestAbsentParamsMissWhatTheirRequestRequires(t *testing.T) {
	for method, want := range map[Method]struct {
		into  Object
		field string
	}{
		SendMessage: {new(SendMessageRequest), "message"}, SendStreamingMessage: {new(SendMessageRequest), "message"},
		GetTask: {new(GetTaskRequest), "id"}, CancelTask: {new(CancelTaskRequest), "id"}, SubscribeToTask: {new(SubscribeRequest), "id"},
		CreatePushConfig: {new(PushConfig), "url"}, GetPushConfig: {new(PushConfigRequest), "taskId"},
		ListPushConfigs: {new(ListPushConfigsRequest), "taskId"}, DeletePushConfig: {new(PushConfigRequest), "taskId"},
		ListTasks: {new(ListTasksRequest), ""}, GetExtendedAgentCard: {new(ExtendedCardRequest), ""},
	} {
		for _, params := range []string{``, `,"params":null`, `,"params":{}`} {
			r, err := ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + string(method) + `"` + params + `}`))
			if err != nil {
				t.Fatal(err)
			}
			err = r.Decode(want.into)
			var e *Error
			if errors.As(err, &e) != (want.field != "") || e != nil && (e.Kind != InvalidParams || e.Field != want.field) {
				t.Errorf("%s%s: got %v", method, params, err)
			}
		}
	}
}

func TestAConfigurationOfItsOwnNamesItsTask(t *testing.T) {
	r, err := ParseRequest(EncodeRequest("1", CreatePushConfig, &PushConfig{URL: "u"}))
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := r.Decode(new(PushConfig)); !errors.As(err, &e) || e.Kind != InvalidParams || e.Field != "taskId" {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerIsReadOnlyByItsRequest(t *testing.T) {
	task := Task{ID: "t", Status: TaskStatus{State: Working}}
	id := json.RawMessage(`"1"`)
	var got Task
	if err := DecodeAnswer(EncodeResult(id, &task), "1", &got); err != nil || got.ID != "t" {
		t.Errorf("got %v, %v", got, err)
	}
	refused := EncodeError(json.RawMessage("null"), Errorf(ParseError, "cut"))
	var e *Error
	if err := DecodeAnswer(refused, "1", &got); !errors.As(err, &e) || e.Kind != ParseError || e.Message != "cut" {
		t.Errorf("an error that knows no id: got %v", err)
	}
	if err := DecodeAnswer([]byte(`{"jsonrpc":"2.0","id":"1","result":null,"error":{"code":-32001,"message":"gone"}}`), "1", &got); !errors.As(err, &e) || e.Kind != TaskNotFound {
		t.Errorf("a null result beside an error: got %v", err)
	}
	for name, body := range map[string]string{
		"another id":           `{"jsonrpc":"2.0","id":"2","result":{}}`,
		"a number for the id":  `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"no id":                `{"jsonrpc":"2.0","result":{}}`,
		"another's error":      `{"jsonrpc":"2.0","id":"2","error":{"code":-32001,"message":""}}`,
		"no version":           `{"id":"1","result":{}}`,
		"no result":            `{"jsonrpc":"2.0","id":"1"}`,
		"both":                 `{"jsonrpc":"2.0","id":"1","result":{},"error":{"code":1,"message":""}}`,
		"an error that is one": `{"jsonrpc":"2.0","id":"1","error":"no"}`,
		"a code that is text":  `{"jsonrpc":"2.0","id":"1","error":{"code":"x"}}`,
		"no object":            `[]`,
		"no JSON":              `<html>`,
		"a faulty task":        `{"jsonrpc":"2.0","id":"1","result":{"id":"t","status":{"state":"DONE"}}}`,
	} {
		if err := DecodeAnswer([]byte(body), "1", &got); !errors.As(err, &e) || e.Kind != InvalidAgentResponse {
			t.Errorf("%s: got %v", name, err)
		}
	}
	err := DecodeAnswer([]byte(`{"jsonrpc":"2.0","id":"1","result":{"id":"t","status":{"state":"DONE"}}}`), "1", new(Task))
	if !errors.As(err, &e) || e.Field != "result.status.state" {
		t.Errorf("got %v", err)
	}
}

func TestSubscriptionsAndStreamedMessagesStream(t *testing.T) {
	streams := map[Method]bool{SendStreamingMessage: true, SubscribeToTask: true}
	for _, m := range methods {
		if !m.Known() || m.Streams() != streams[m] {
			t.Errorf("%s: known %v, streams %v", m, m.Known(), m.Streams())
		}
	}
	if Method("SendMessages").Known() {
		t.Error("an unknown method is known")
	}
}
