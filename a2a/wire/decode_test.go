package wire

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const good = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`

func with(member string) string { return strings.Replace(good, "{", "{"+member+",", 1) }

func part(p string) string {
	return `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"},` + p + `]}`
}

func TestAFaultyRequestIsRefusedWithItsPlace(t *testing.T) {
	task := func(status string) string { return `{"id":"t","status":` + status + `}` }
	for _, tt := range []struct {
		name  string
		into  Object
		text  string
		field string
		says  string
	}{
		{"no object", new(Message), `[]`, "", "expected an object, got an array"},
		{"no message", new(SendMessageRequest), `{}`, "message", "expected an object, got none"},
		{"a null message", new(SendMessageRequest), `{"message":null}`, "message", "got none"},
		{"no message id", new(Message), `{"role":1,"parts":[{"text":""}]}`, "messageId", "not empty, got none"},
		{"an empty message id", new(Message), `{"messageId":"","role":1,"parts":[{"text":""}]}`, "messageId", "got none"},
		{"a number for an id", new(Message), `{"messageId":7,"role":1,"parts":[{"text":""}]}`, "messageId", "expected a string, got a number"},
		{"no role", new(Message), `{"messageId":"m","parts":[{"text":""}]}`, "role", "ROLE_USER, ROLE_AGENT, got none"},
		{"a role of version 0.3", new(Message), `{"messageId":"m","role":"user","parts":[{"text":""}]}`, "role", `got "user"`},
		{"a role in lower case", new(Message), `{"messageId":"m","role":"role_user","parts":[{"text":""}]}`, "role", "got"},
		{"an unspecified role", new(Message), `{"messageId":"m","role":"ROLE_UNSPECIFIED","parts":[{"text":""}]}`, "role", "got"},
		{"role 0", new(Message), `{"messageId":"m","role":0,"parts":[{"text":""}]}`, "role", "got 0"},
		{"role 3", new(Message), `{"messageId":"m","role":3,"parts":[{"text":""}]}`, "role", "got 3"},
		{"a number in quotes for a role", new(Message), `{"messageId":"m","role":"1","parts":[{"text":""}]}`, "role", `got "1"`},
		{"no parts", new(Message), `{"messageId":"m","role":1}`, "parts", "at least one element"},
		{"empty parts", new(Message), `{"messageId":"m","role":1,"parts":[]}`, "parts", "at least one element"},
		{"parts in an object", new(Message), `{"messageId":"m","role":1,"parts":{}}`, "parts", "expected an array, got an object"},
		{"a part that is null", new(Message), part(`null`), "parts[1]", "expected an object, got null"},
		{"a part without an arm", new(Message), part(`{"metadata":{}}`), "parts[1]", "exactly one of text, raw, url and data, got none"},
		{"a part of version 0.3", new(Message), part(`{"kind":"file","file":{"uri":"x"}}`), "parts[1]", "got none"},
		{"a part with two arms", new(Message), part(`{"text":"a","url":"b"}`), "parts[1]", "got 2"},
		{"a part with null data and text", new(Message), part(`{"text":"a","data":null}`), "parts[1]", "got 2"},
		{"a part with all arms", new(Message), part(`{"text":"a","url":"b","raw":"","data":1}`), "parts[1]", "got 4"},
		{"text that is none", new(Message), part(`{"text":1}`), "parts[1].text", "expected a string"},
		{"raw that is not base64", new(Message), part(`{"raw":"a*"}`), "parts[1].raw", "expected base64"},
		{"raw that is cut", new(Message), part(`{"raw":"QUJDR"}`), "parts[1].raw", "expected base64"},
		{"raw with wrong padding", new(Message), part(`{"raw":"QQ="}`), "parts[1].raw", "expected base64"},
		{"raw with padding only", new(Message), part(`{"raw":"===="}`), "parts[1].raw", "expected base64"},
		{"metadata that is a string", new(Message), with(`"metadata":"x"`), "metadata", "expected an object, got a string"},
		{"extensions that are one string", new(Message), with(`"extensions":"x"`), "extensions", "expected an array"},
		{"an extension that is null", new(Message), with(`"extensions":["x",null]`), "extensions[1]", "expected a string, got null"},
		{"both spellings of a name", new(Message), with(`"taskId":"a","task_id":"a"`), "taskId", "expected it once"},
		{"a fault deep in a request", new(SendMessageRequest), `{"message":` + part(`{}`) + `}`, "message.parts[1]", "got none"},
		{"a negative history", new(SendMessageRequest), `{"message":` + good + `,"configuration":{"historyLength":-1}}`, "configuration.historyLength", "from 0 to"},
		{"a push configuration without URL", new(SendMessageRequest), `{"message":` + good + `,"configuration":{"taskPushNotificationConfig":{}}}`, "configuration.taskPushNotificationConfig.url", "got none"},
		{"authentication without scheme", new(PushConfig), `{"url":"u","authentication":{"credentials":"c"}}`, "authentication.scheme", "got none"},
		{"a negative history of a task", new(GetTaskRequest), `{"id":"t","historyLength":-1}`, "historyLength", "got -1"},
		{"half a message", new(GetTaskRequest), `{"id":"t","historyLength":1.5}`, "historyLength", "got 1.5"},
		{"a history beyond int32", new(GetTaskRequest), `{"id":"t","historyLength":2147483648}`, "historyLength", "got"},
		{"an endless history", new(GetTaskRequest), `{"id":"t","historyLength":"-Infinity"}`, "historyLength", "got"},
		{"a history that is true", new(GetTaskRequest), `{"id":"t","historyLength":true}`, "historyLength", "got true"},
		{"no task", new(GetTaskRequest), `{}`, "id", "got none"},
		{"a page beyond 100", new(ListTasksRequest), `{"pageSize":101}`, "pageSize", "from 0 to 100, got 101"},
		{"a negative page", new(ListTasksRequest), `{"pageSize":-1}`, "pageSize", "got -1"},
		{"an unknown state", new(ListTasksRequest), `{"status":"TASK_STATE_RUNNING"}`, "status", `TASK_STATE_AUTH_REQUIRED, got "TASK_STATE_RUNNING"`},
		{"state 9", new(ListTasksRequest), `{"status":9}`, "status", "got 9"},
		{"a date without time", new(ListTasksRequest), `{"statusTimestampAfter":"2025-01-01"}`, "statusTimestampAfter", "expected a timestamp"},
		{"a time without zone", new(ListTasksRequest), `{"statusTimestampAfter":"2025-01-01T00:00:00"}`, "statusTimestampAfter", "expected a timestamp"},
		{"a month 13", new(ListTasksRequest), `{"statusTimestampAfter":"2025-13-01T00:00:00Z"}`, "statusTimestampAfter", "expected a timestamp"},
		{"a year before 1", new(ListTasksRequest), `{"statusTimestampAfter":"0001-01-01T00:00:00+01:00"}`, "statusTimestampAfter", "expected a timestamp"},
		{"seconds since 1970", new(ListTasksRequest), `{"statusTimestampAfter":1735689600}`, "statusTimestampAfter", "expected a timestamp"},
		{"a flag that is text", new(ListTasksRequest), `{"includeArtifacts":"true"}`, "includeArtifacts", "expected true or false"},
		{"no state", new(Task), task(`{}`), "status.state", "got none"},
		{"an unspecified state", new(Task), task(`{"state":0}`), "status.state", "got 0"},
		{"a message in a status", new(Task), task(`{"state":1,"message":{}}`), "status.message.messageId", "got none"},
		{"an artifact without id", new(Task), `{"id":"t","status":{"state":3},"artifacts":[{"parts":[]}]}`, "artifacts[0].artifactId", "got none"},
		{"no event", new(StreamResponse), `{}`, "", "exactly one of task, message, statusUpdate and artifactUpdate, got none"},
		{"two events", new(StreamResponse), `{"message":` + good + `,"statusUpdate":{"taskId":"t","status":{"state":1}}}`, "", "got 2"},
		{"two answers", new(SendMessageResponse), `{"message":` + good + `,"task":{"id":"t","status":{"state":1}}}`, "", "got 2"},
		{"a configuration without id", new(PushConfigRequest), `{"taskId":"t"}`, "id", "got none"},
		{"a card without interface", new(AgentCard), `{"name":"a"}`, "supportedInterfaces", "at least one"},
		{"a scheme that is text", new(AgentCard), `{"name":"a","supportedInterfaces":[{"url":"u","protocolBinding":"X"}],"securitySchemes":{"k":"v"}}`, "securitySchemes.k", "expected an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Decode([]byte(tt.text), tt.into)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Kind != InvalidParams || e.Field != tt.field || !strings.Contains(e.Message, tt.says) {
				t.Errorf("got %q", e)
			}
		})
	}
}

func TestTheSameFaultOfAServerIsAnInvalidAnswer(t *testing.T) {
	for _, text := range []string{`{"id":"t"}`, `{"id":`} {
		var e *Error
		if err := DecodeResult([]byte(text), new(Task)); !errors.As(err, &e) || e.Kind != InvalidAgentResponse {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if err := DecodeResult([]byte(`{}`), new(Empty)); err != nil {
		t.Error(err)
	}
}

func TestTheSameThingMayBeSaidInSeveralWays(t *testing.T) {
	message := func(members string) string { return `{"messageId":"m","role":"ROLE_USER",` + members + `}` }
	for _, tt := range []struct {
		name       string
		into       Object
		text, same string
	}{
		{"snake case", new(Message), `{"message_id":"m","role":"ROLE_AGENT","parts":[{"url":"u","media_type":"x/y"}],"reference_task_ids":["t"],"context_id":"c"}`,
			`{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"url":"u","mediaType":"x/y"}],"referenceTaskIds":["t"]}`},
		{"snake case in a request", new(SendMessageRequest), `{"message":` + good + `,"configuration":{"accepted_output_modes":["a"],"history_length":0,"return_immediately":true,"task_push_notification_config":{"url":"u"}}}`,
			`{"message":` + good + `,"configuration":{"acceptedOutputModes":["a"],"taskPushNotificationConfig":{"url":"u"},"historyLength":0,"returnImmediately":true}}`},
		{"a role by number", new(Message), message(`"parts":[{"text":"hi"}]`), good},
		{"a state by number", new(TaskStatus), `{"state":8}`, `{"state":"TASK_STATE_AUTH_REQUIRED"}`},
		{"unknown members", new(Message), with(`"kind":"message","final":{"deep":[1]}`), good},
		{"null for what is absent", new(Message), with(`"contextId":null,"metadata":null,"extensions":null`), good},
		{"null for an arm", new(Message), message(`"parts":[{"text":"hi","url":null,"raw":null,"metadata":null}]`), good},
		{"empty lists", new(Message), with(`"extensions":[],"referenceTaskIds":[]`), good},
		{"an integer in a string", new(GetTaskRequest), `{"id":"t","historyLength":"10"}`, `{"id":"t","historyLength":10}`},
		{"an integer with a fraction", new(GetTaskRequest), `{"id":"t","historyLength":10.0}`, `{"id":"t","historyLength":10}`},
		{"an integer with an exponent", new(GetTaskRequest), `{"id":"t","historyLength":1E1}`, `{"id":"t","historyLength":10}`},
		{"the page's default", new(ListTasksRequest), `{"pageSize":0}`, `{}`},
		{"any state", new(ListTasksRequest), `{"status":"TASK_STATE_UNSPECIFIED"}`, `{}`},
		{"any state by number", new(ListTasksRequest), `{"status":0}`, `{}`},
		{"a time with an offset", new(ListTasksRequest), `{"statusTimestampAfter":"2025-10-28T12:30:00.5+02:00"}`, `{"statusTimestampAfter":"2025-10-28T10:30:00.500Z"}`},
		{"a time in nanoseconds", new(ListTasksRequest), `{"statusTimestampAfter":"2025-10-28T10:30:00.123999999Z"}`, `{"statusTimestampAfter":"2025-10-28T10:30:00.123Z"}`},
		{"base64 without padding", new(Part), `{"raw":"-_8"}`, `{"raw":"+/8="}`},
		{"base64 with padding", new(Part), `{"raw":"-_8="}`, `{"raw":"+/8="}`},
		{"no bytes", new(Part), `{"raw":""}`, `{"raw":""}`},
		{"no text", new(Part), `{"text":""}`, `{"text":""}`},
		{"no configuration", new(SendMessageRequest), `{"message":` + good + `,"configuration":{}}`, `{"message":` + good + `}`},
		{"an artifact that ends", new(ArtifactUpdate), `{"taskId":"t","artifact":{"artifactId":"a","parts":[]},"append":true,"lastChunk":true}`,
			`{"taskId":"t","contextId":"","artifact":{"artifactId":"a","parts":[]},"append":true,"lastChunk":true}`},
		{"an empty page", new(ListTasksResponse), `{}`, `{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := Decode([]byte(tt.text), tt.into); err != nil {
				t.Fatal(err)
			}
			if got := string(Encode(tt.into)); got != tt.same {
				t.Errorf("got %s, want %s", got, tt.same)
			}
		})
	}
}

func TestDataAndMetadataSurviveAsTheyCame(t *testing.T) {
	for _, value := range []string{
		`null`, `9007199254740993`, `1.0`, `1e400`, `-0`, `"\u00e9\/"`, `{"b":1,"a":{"snake_case":null}}`, `[ 1 ,2 ]`, `false`, `""`,
	} {
		text := `{"data":` + value + `,"metadata":{"k":` + value + `}}`
		var p Part
		if err := Decode([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if got := string(Encode(&p)); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func TestAnEncodedObjectIsOneLine(t *testing.T) {
	var p Part
	if err := Decode([]byte("{\"data\":{\r\n\"a\\n\":\n1}}"), &p); err != nil {
		t.Fatal(err)
	}
	if got := string(Encode(&p)); got != `{"data":{  "a\n": 1}}` {
		t.Errorf("got %q", got)
	}
}

func TestWhatWasReadDoesNotChangeWithTheBuffer(t *testing.T) {
	body := []byte(`{"data":"kept","metadata":{"k":"too"}}`)
	want := string(body)
	var p Part
	if err := Decode(body, &p); err != nil {
		t.Fatal(err)
	}
	clear(body)
	_ = append(p.Data, " and what is behind it"...)
	_ = append(p.Metadata["k"], '!')
	if got := string(Encode(&p)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestATextThatIsNotUTF8IsWrittenAsOne(t *testing.T) {
	text := "a\xffb\u2028\x01"
	got := Encode(&Part{Text: &text})
	if want := "{\"text\":\"a\ufffdb\u2028\\u0001\"}"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATimeIsReadToTheNanosecondAndInUTC(t *testing.T) {
	var s TaskStatus
	if err := Decode([]byte(`{"state":2,"timestamp":"2025-04-17T19:47:09.680794001+02:00"}`), &s); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2025, 4, 17, 17, 47, 9, 680794001, time.UTC); s.Timestamp != want {
		t.Errorf("got %v, want %v", s.Timestamp, want)
	}
}
