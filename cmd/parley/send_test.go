package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
)

func TestSendPrintsWhatAnAgentOfParleyAnswers(t *testing.T) {
	quick, patient := serveDesk(t, nil), servePatientDesk(t)
	for name, args := range map[string][]string{
		"send":              {"Hello,\nyou!"},
		"send.json":         {"Hello!", "-o", "json"},
		"send.jsonl":        {"Hello!", "-o", "jsonl"},
		"send-data":         {"--data", `{"city":"Oulu"}`},
		"send-stream":       {"--stream", "Hello!"},
		"send-stream.jsonl": {"--stream", "Hello!", "-o", "jsonl"},
		"send-stream.json":  {"--stream", "Hello!", "-o", "json"},
	} {
		url := quick
		if args[0] == "--stream" {
			url = patient
		}
		got := runCommand(t, "", append([]string{"send", url, "--message-id", name}, args...)...)
		if got.code != exitOK {
			t.Errorf("%s: %+v", name, got)
		}
		wantGolden(t, name, steady(got.stdout))
		if want := name == "send-stream"; (got.stderr != "") != want || want && got.stderr != "working\ncompleted\n" {
			t.Errorf("%s: %q on standard error", name, got.stderr)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

func TestAMessageThatIsSentAgainHasTheSameAnswer(t *testing.T) {
	url := serveDesk(t, nil)
	send := func(id string) string {
		t.Helper()
		got := runCommand(t, "", "send", url, "Hello!", "--message-id", id, "-o", "json")
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		return taskID(t, got.stdout)
	}
	if first, again, other := send("m1"), send("m1"), send("m2"); first == "" || again != first || other == first {
		t.Errorf("tasks %s, %s and %s", first, again, other)
	}
}

func TestAnAgentThatAsksBackIsAnsweredByASecondSend(t *testing.T) {
	url := serveDesk(t, nil)
	asked := runCommand(t, "", "send", url, "--data", `{"row":12}`, "--message-id", "m1")
	if asked.code != exitFailed || !strings.HasPrefix(asked.stdout, "Window or aisle?") {
		t.Fatalf("%+v", asked)
	}
	_, rest, _ := strings.Cut(asked.stderr, "--task ")
	task, _, _ := strings.Cut(rest, " ")
	got := runCommand(t, "", "send", url, "aisle", "--task", task, "--message-id", "m2")
	if got.code != exitOK || got.stdout != `{"side":"aisle"}`+"\n" {
		t.Errorf("%+v", got)
	}
}

func TestWhatAForeignAgentAnswersIsPrintedOnceWhateverWayItComes(t *testing.T) {
	text := func(words string) string { return `{"parts":[{"text":"` + words + `"}],"artifactId":"a"}` }
	done := taskJSON("COMPLETED", `},"artifacts":[`+text("one two")+`]`)
	piece := func(more, words string) string {
		return `data: {"artifactUpdate":{"taskId":"t1","contextId":"c1"` + more + `,"artifact":` + text(words) + "}}\n\n"
	}
	last := `data: {"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}` + "\n\n"
	begun := `data: {"task":` + taskJSON("WORKING", "}") + "}\n\n"
	for name, c := range map[string]struct {
		send   string // what message:send answers, or message:stream if it has events
		get    string // what GetTask does
		stdout string
	}{
		"a message":                   {`{"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"text":"hi"},{"url":"https://x"},{"raw":"AAAA","filename":"f"}]}}`, "", "hi\nhttps://x\n(3 bytes of  f)\n"},
		"a task that has ended":       {`{"task":` + done + `}`, "", "one two\n"},
		"a task that goes on":         {`{"task":` + taskJSON("WORKING", "}") + `}`, done, "one two\n"},
		"a task that made nothing":    {`{"task":` + taskJSON("COMPLETED", `,"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"data":{"n":1}}]}}`) + `}`, "", `{"n":1}` + "\n"},
		"a stream of a message":       {`data: {"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}` + "\n\n", "", "hi\n"},
		"an artifact in one piece":    {begun + piece(`,"lastChunk":true`, "one two") + last, done, "one two\n"},
		"an artifact in three":        {begun + piece("", "one") + piece(`,"append":true`, " ") + piece(`,"append":true,"lastChunk":true`, "two") + last, done, "one two\n"},
		"one without a last piece":    {begun + piece("", "one ") + piece(`,"append":true`, "two") + last, done, "one two\n"},
		"a stream that missed it":     {begun + last, done, "one two\n"},
		"a stream that ends too soon": {begun, done, "one two\n"},
	} {
		path, args := "/message:send", []string{}
		if strings.HasPrefix(c.send, "data:") {
			path, args = "/message:stream", []string{"--stream"}
		}
		url := foreign(t, map[string]http.HandlerFunc{path: says(http.StatusOK, c.send), "/tasks/t1": says(http.StatusOK, c.get)})
		got := runCommand(t, "", append([]string{"send", url, "hello"}, args...)...)
		if got.code != exitOK || got.stdout != c.stdout {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSendEndsWithTheCodeOfWhatItCameTo(t *testing.T) {
	said := `,"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"text":"sold out"}]}}`
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client is gone
		<-r.Context().Done()
	}
	fault := func(status int, code, kind string) http.HandlerFunc {
		return says(status, `{"error":{"code":`+code+`,"status":"X","message":"so it is","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"`+kind+`","domain":"a2a-protocol.org"}]}}`)
	}
	for name, c := range map[string]struct {
		path   string
		answer http.HandlerFunc
		args   string
		code   int
		want   string
	}{
		"a task that failed":          {"/message:send", says(200, `{"task":`+taskJSON("FAILED", said)+`}`), "hi", exitFailed, "task t1 ended: failed: sold out"},
		"a task that was refused":     {"/message:send", says(200, `{"task":`+taskJSON("REJECTED", "}")+`}`), "hi", exitFailed, "rejected"},
		"a task that was cancelled":   {"/message:send", says(200, `{"task":`+taskJSON("CANCELED", "}")+`}`), "hi", exitFailed, "canceled"},
		"a question":                  {"/message:send", says(200, `{"task":`+taskJSON("INPUT_REQUIRED", said)+`}`), "hi", exitFailed, "--task t1"},
		"credentials for a task":      {"/message:send", says(200, `{"task":`+taskJSON("AUTH_REQUIRED", said)+`}`), "hi", exitDenied, "credentials"},
		"an unknown task":             {"/message:send", fault(404, "404", "TASK_NOT_FOUND"), "hi --task t9", exitNotFound, "so it is"},
		"a stranger":                  {"/message:send", fault(401, "401", "UNAUTHENTICATED"), "hi", exitDenied, "so it is"},
		"somebody who may not":        {"/message:send", says(403, ""), "hi", exitDenied, "403"},
		"an overloaded agent":         {"/message:send", says(429, ""), "hi", exitUnreachable, "429"},
		"an agent that is away":       {"/message:send", says(503, ""), "hi", exitUnreachable, "503"},
		"an agent with a fault":       {"/message:send", fault(500, "500", "INTERNAL"), "hi", exitFailed, "so it is"},
		"a message that is not taken": {"/message:send", fault(400, "400", "UNSUPPORTED_OPERATION"), "hi", exitViolation, "so it is"},
		"an answer that is none":      {"/message:send", says(200, "hello"), "hi", exitViolation, ""},
		"a stream that is none":       {"/message:stream", says(200, "{}"), "hi --stream", exitViolation, ""},
		"a stream of nothing":         {"/message:stream", says(200, "data:"), "hi --stream", exitViolation, "has none"},
		"a stream of changes alone":   {"/message:stream", says(200, `data: {"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`+"\n\n"), "hi --stream", exitViolation, "neither"},
		"an agent that never answers": {"/message:send", hang, "hi --timeout 50ms --message-id m7", exitTimeout, "no answer within 50ms: with --message-id m7"},
		"a card that never comes":     {"/.well-known/agent-card.json", hang, "hi --timeout 50ms", exitTimeout, "50ms"},
		"no card":                     {"/.well-known/agent-card.json", says(404, ""), "hi", exitNotFound, "404"},
		"a card that was taken away":  {"/.well-known/agent-card.json", says(410, ""), "hi", exitNotFound, "410"},
		"a card for those it knows":   {"/.well-known/agent-card.json", says(401, ""), "hi", exitDenied, "401"},
		"a card another time":         {"/.well-known/agent-card.json", says(503, ""), "hi", exitUnreachable, "503"},
		"a card somewhere else":       {"/.well-known/agent-card.json", says(302, ""), "hi", exitViolation, "302"},
		"a card that is none":         {"/.well-known/agent-card.json", says(200, "hello"), "hi", exitViolation, "card"},
	} {
		url := foreign(t, map[string]http.HandlerFunc{c.path: c.answer})
		got := runCommand(t, "", append([]string{"send", url}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) || got.stdout != "" && name != "a question" && name != "credentials for a task" {
			t.Errorf("%s: %+v, want %d and %q", name, got, c.code, c.want)
		}
	}
	if got := runCommand(t, "", "send", "http://127.0.0.1:1", "hi"); got.code != exitUnreachable {
		t.Errorf("where nobody listens: %+v", got)
	}
}

func TestCredentialsComeFromTheEnvironment(t *testing.T) {
	url := serveDesk(t, func(c *a2a.Config, _ *agent.Host) {
		known := a2a.Secrets(map[string]string{"s3cret": "ann"})
		c.Authenticate = []a2a.Authenticator{a2a.BearerTokens(known), a2a.APIKeys("X-Desk", known)}
	})
	t.Setenv("DESK", "s3cret")
	t.Setenv("WRONG", "guess")
	t.Setenv("EMPTY", "")
	for args, code := range map[string]int{
		"":                                     exitDenied,
		"--bearer-env DESK":                    exitOK,
		"--bearer-env WRONG":                   exitDenied,
		"--bearer-env EMPTY":                   exitUsage,
		"--api-key-env DESK":                   exitDenied, // in another header
		"--api-key-env EMPTY":                  exitUsage,
		"--bearer-env DESK --api-key-env DESK": exitUsage,
		"--api-key-env DESK --api-key-header X-Desk": exitOK,
	} {
		got := runCommand(t, "", append([]string{"send", url, "hello", "--message-id", "m1"}, strings.Fields(args)...)...)
		if got.code != code || strings.Contains(got.stdout+got.stderr, "s3cret") {
			t.Errorf("%q: %+v, want %d", args, got, code)
		}
	}
}

func TestMistakesInWhatIsSentAreFoundBeforeAnythingIsCalled(t *testing.T) {
	for _, args := range [][]string{
		{"send"}, {"send", "http://127.0.0.1:1"}, {"send", "http://127.0.0.1:1", "a", "b"}, {"send", "http://127.0.0.1:1", "a", "--data", "{}"},
		{"send", "http://127.0.0.1:1", "--data", "{"}, {"send", "http://127.0.0.1:1", "a", "--timeout", "0s"},
		{"send", "localhost:1", "a"}, {"send", "ftp://127.0.0.1:1", "a"}, {"send", "", "a"}, {"send", "http://127.0.0.1:x", "a"},
		{"send", "http://127.0.0.1:1", "a", "--origin", "api.example"}, {"peer", "card", "localhost"},
		{"peer", "card"}, {"peer", "card", "http://127.0.0.1:1", "--timeout", "-1s"}, {"peer", "unpin"}, {"peer", "unpin", "Not~A~Name"}, {"peer", "unpin", ""},
	} {
		if got := runCommand(t, "", args...); got.code != exitUsage || got.stdout != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestTheHelpOfSendAndPeerNamesEveryMemberOfTheirJSON(t *testing.T) {
	for golden, verb := range map[string]string{"peer-card.json": "peer card", "peer-ls.json": "peer ls", "peer-unpin.json": "peer unpin"} {
		data, err := os.ReadFile(filepath.Join("testdata", golden+".golden"))
		must(t, err)
		var value any
		must(t, json.Unmarshal(data, &value))
		help := runCommand(t, "", append(strings.Fields(verb), "--help")...).stdout
		for _, name := range memberNames(value) {
			if !strings.Contains(help, `"`+name+`"`) {
				t.Errorf("the help of %s does not name %q", verb, name)
			}
		}
	}
}
