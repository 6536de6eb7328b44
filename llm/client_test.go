package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

var addSchema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"note":{"type":"string"}},"required":["a","note"]}`)

// adds calls the function add when it is offered and reads its result out.
func adds(r rehearsal.Request) (rehearsal.Reply, bool) {
	if sum, ok := r.Result("add"); ok {
		return rehearsal.Reply{Text: "The sum is " + sum + "."}, true
	}
	if !r.Offers("add") {
		return rehearsal.Reply{}, false
	}
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "add", Arguments: map[string]any{"a": 12, "note": "quite a long note"}}}}, true
}

func says(text string) rehearsal.Rule {
	return func(rehearsal.Request) (rehearsal.Reply, bool) { return rehearsal.Reply{Text: text}, true }
}

func start(t *testing.T, o rehearsal.Options) *rehearsal.Server {
	t.Helper()
	s := rehearsal.New(o)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// pauses is a timer that never waits and remembers how long it was asked to.
type pauses struct {
	mu   sync.Mutex
	seen []time.Duration
}

func (p *pauses) after(d time.Duration) <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, d)
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

func ask(text string, functions ...llm.Function) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}, Functions: functions}
}

var add = llm.Function{Name: "add", Description: "adds", Parameters: addSchema}

func TestAChatComesBackWithItsUsage(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says("Good morning.")}})
	got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), Model: "m"}).Complete(t.Context(), ask("Hello there"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "Good morning." || got.Finish != llm.FinishStop || got.Model != "m" {
		t.Errorf("got %+v", got)
	}
	if got.Usage != (llm.Usage{InputTokens: 3, OutputTokens: 4}) {
		t.Errorf("got usage %+v", got.Usage)
	}
}

func TestAToolLoopRunsToItsEnd(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{adds}})
	for _, name := range []string{"openai", "mistral", "gemini", "ollama", "deepseek", "lmstudio", "vllm"} {
		p, _ := llm.ProfileNamed(name)
		c := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), Profile: &p})
		r := ask("12 and 30?", add)
		r.Choice = "add"
		first, err := c.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(name, err)
		}
		if first.Finish != llm.FinishCalls || len(first.Calls) != 1 || first.Calls[0].Name != "add" || !ours(first.Calls[0].ID) {
			t.Fatalf("%s: got %+v", name, first)
		}
		r.Choice = llm.ChoiceAuto
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Text: first.Text, Calls: first.Calls},
			llm.Message{Role: llm.RoleTool, CallID: first.Calls[0].ID, Name: "add", Text: "42"})
		second, err := c.Complete(t.Context(), r)
		if err != nil || second.Text != "The sum is 42." {
			t.Errorf("%s: got %+v, %v", name, second, err)
		}
	}
}

func TestStructuredOutputIsAskedForInTheWayTheEndpointKnows(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	var seen rehearsal.Request
	rule := func(r rehearsal.Request) (rehearsal.Reply, bool) {
		seen = r
		return rehearsal.Reply{Text: `{"n":1}`}, true
	}
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{rule}})
	for _, c := range []struct {
		profile            string
		schema             json.RawMessage
		functions          []llm.Function
		inFormat, inPrompt bool // where the schema is
		format             bool // whether a response format is sent
	}{
		{"openai", schema, nil, true, false, true},
		{"openai", nil, nil, false, false, true},
		{"lmstudio", nil, nil, false, false, true},
		{"deepseek", schema, nil, false, true, true},
		{"groq", schema, []llm.Function{add}, false, true, false},
		{"groq", schema, nil, true, false, true},
	} {
		p, _ := llm.ProfileNamed(c.profile)
		r := ask("n?", c.functions...)
		r.Output = &llm.Output{Name: "number", Schema: c.schema, Strict: true}
		got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), Profile: &p}).Complete(t.Context(), r)
		if err != nil || got.Text != `{"n":1}` {
			t.Errorf("%s: got %+v, %v", c.profile, got, err)
			continue
		}
		if format := seen.Output != nil; format != c.format {
			t.Errorf("%s: a format was sent: %v", c.profile, format)
		}
		if in := seen.Output != nil && string(seen.Output.Schema) == string(schema); in != c.inFormat {
			t.Errorf("%s: the format has the schema: %v", c.profile, in)
		}
		if in := strings.Contains(seen.Messages[0].Text, string(schema)); in != c.inPrompt {
			t.Errorf("%s: the prompt has the schema: %v", c.profile, in)
		}
	}
}

func TestARateLimitIsWaitedForAsAsked(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says("hi")},
		Accidents: []rehearsal.Accident{{Kind: rehearsal.RateLimited, At: 1, RetryAfter: 7 * time.Second}}})
	var p pauses
	got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), After: p.after}).Complete(t.Context(), ask("?"))
	if err != nil || got.Text != "hi" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(p.seen) != 1 || p.seen[0] != 7*time.Second || s.Calls() != 2 {
		t.Errorf("paused %v in %d calls", p.seen, s.Calls())
	}
}

func TestPausesGrowWhenTheEndpointNamesNone(t *testing.T) {
	for _, kind := range []rehearsal.Kind{rehearsal.Unavailable, rehearsal.ErrorBody, rehearsal.Dropped} {
		s := start(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: kind}}})
		var p pauses
		c := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), After: p.after, MaxRetries: 3, Jitter: func() float64 { return 0.5 }})
		_, err := c.Complete(t.Context(), ask("?"))
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable {
			t.Errorf("%s: got %v", kind, err)
		}
		if len(p.seen) != 3 || p.seen[0] != 375*time.Millisecond || p.seen[1] != 750*time.Millisecond || p.seen[2] != 1500*time.Millisecond {
			t.Errorf("%s: paused %v", kind, p.seen)
		}
	}
}

func TestAPauseBeyondTheDeadlineIsNotBegun(t *testing.T) {
	s := start(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.RateLimited, RetryAfter: time.Minute}}})
	for name, c := range map[string]llm.Config{
		"the deadline of ctx": {MaxWait: time.Hour},
		"the longest wait":    {MaxWait: time.Second},
	} {
		var p pauses
		c.BaseURL, c.After = s.URL(), p.after
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := llm.NewOpenAI(c).Complete(ctx, ask("?"))
		cancel()
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrorRateLimit || e.RetryAfter != time.Minute || len(p.seen) != 0 {
			t.Errorf("%s: got %v after %v", name, err, p.seen)
		}
	}
}

func TestACancelledPauseEndsTheCall(t *testing.T) {
	s := start(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.RateLimited}}})
	ctx, cancel := context.WithCancel(t.Context())
	never := func(time.Duration) <-chan time.Time { cancel(); return nil }
	_, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), After: never}).Complete(ctx, ask("?"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrorRateLimit || !errors.Is(err, context.Canceled) || s.Calls() != 1 {
		t.Errorf("got %v in %d calls", err, s.Calls())
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	slow := make(chan struct{})
	never := func(time.Duration) <-chan time.Time { close(slow); return nil }
	s := start(t, rehearsal.Options{After: never, Accidents: []rehearsal.Accident{{Kind: rehearsal.Slow}}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-slow; cancel() }()
	_, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Complete(ctx, ask("?"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable || !errors.Is(err, context.Canceled) || s.Calls() != 1 {
		t.Errorf("got %v in %d calls", err, s.Calls())
	}
}

func TestDamagedCallsArriveAsTheyWereWritten(t *testing.T) {
	complete := func(t *testing.T, kind rehearsal.Kind) (*llm.Response, string) {
		s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{adds}, Seed: 3, Accidents: []rehearsal.Accident{{Kind: kind, Calls: "add", At: 1}}})
		got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Complete(t.Context(), ask("?", add))
		if err != nil || len(got.Calls) != 1 {
			t.Fatalf("%s: got %+v, %v", kind, got, err)
		}
		return got, got.Calls[0].Arguments
	}
	const whole = `{"a":12,"note":"quite a long note"}`
	for _, kind := range []rehearsal.Kind{rehearsal.MalformedJSON, rehearsal.Truncated} {
		if got, arguments := complete(t, kind); json.Valid([]byte(arguments)) || !strings.HasPrefix(whole, arguments) || got.Finish != llm.FinishLength {
			t.Errorf("%s: got %q, %s", kind, arguments, got.Finish)
		}
	}
	for _, kind := range []rehearsal.Kind{rehearsal.MendableJSON, rehearsal.Fenced} {
		if got, arguments := complete(t, kind); json.Valid([]byte(arguments)) || got.Finish != llm.FinishCalls {
			t.Errorf("%s: got %q, %s", kind, arguments, got.Finish)
		}
	}
	if _, arguments := complete(t, rehearsal.WrongType); !json.Valid([]byte(arguments)) || arguments == whole {
		t.Errorf("wrong type: got %s", arguments)
	}
	if got, arguments := complete(t, rehearsal.EmptyArguments); arguments != "" || got.Finish != llm.FinishCalls {
		t.Errorf("empty: got %q, %s", arguments, got.Finish)
	}
	if _, arguments := complete(t, rehearsal.ArgumentsObject); arguments != whole {
		t.Errorf("object: got %q", arguments)
	}
	if got, _ := complete(t, rehearsal.UnknownFunction); got.Calls[0].Name == "add" {
		t.Errorf("unknown function: got %q", got.Calls[0].Name)
	}
}

func TestWhatTheModelWroteWronglyIsNotReplayed(t *testing.T) {
	var seen rehearsal.Request
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{func(r rehearsal.Request) (rehearsal.Reply, bool) {
		seen = r
		return rehearsal.Reply{Text: "ok"}, true
	}}})
	r := ask("?")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{
			{ID: "call_1", Name: "default_api:add", Arguments: `{"a":`}, {ID: "call_2", Name: "add"}, {ID: "Ab3456789", Name: "add", Arguments: `{"a":1}`},
		}},
		llm.Message{Role: llm.RoleTool, CallID: "call_2", Text: "2"},
		llm.Message{Role: llm.RoleTool, CallID: "call_1", Text: "no such function"},
		llm.Message{Role: llm.RoleTool, CallID: "Ab3456789", Text: "3"})
	if _, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	calls := seen.Messages[1].Calls
	for i, want := range []struct{ name, arguments string }{{"default_api_add", "{}"}, {"add", "{}"}, {"add", `{"a":1}`}} {
		if got := calls[i]; got.Name != want.name || string(got.Arguments.(json.RawMessage)) != want.arguments || !ours(got.ID) {
			t.Errorf("call %d: got %+v", i, got)
		}
	}
	if seen.Messages[2].CallID != calls[1].ID || seen.Messages[3].CallID != calls[0].ID || calls[2].ID != "Ab3456789" {
		t.Errorf("results do not meet their calls: %+v", seen.Messages)
	}
}

// wire returns an endpoint that answers with body and remembers the last request.
func wire(t *testing.T, status int, body string) (url string, sent *string) {
	t.Helper()
	sent = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*sent = r.Header.Get("Authorization") + " " + string(b)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, sent
}

func TestTheRequestCarriesWhatTheLibraryWouldDrop(t *testing.T) {
	url, sent := wire(t, 200, `{"choices":[{"message":{"content":"ok"}}]}`)
	zero := 0.0
	r := ask("")
	r.Temperature, r.MaxTokens = &zero, 9
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "Ab3456789", Name: "f"}}},
		llm.Message{Role: llm.RoleTool, CallID: "Ab3456789"})
	if _, err := llm.NewOpenAI(llm.Config{BaseURL: url + "/", APIKey: "k"}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Bearer k ", `"temperature":0}`, `"max_tokens":9`, `"arguments":"{}"`} {
		if !strings.Contains(*sent, want) {
			t.Errorf("%s is not in %s", want, *sent)
		}
	}
	if n := strings.Count(*sent, `"content":""`); n != 3 {
		t.Errorf("%d of 3 messages have content: %s", n, *sent)
	}
	if _, err := llm.NewOpenAI(llm.Config{BaseURL: url, Model: "gpt-5-mini"}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(*sent, "temperature") || !strings.Contains(*sent, `"max_completion_tokens":9`) {
		t.Errorf("a reasoning model was sent %s", *sent)
	}
}

func TestFinishTrustsNoSingleSign(t *testing.T) {
	for _, c := range []struct {
		name, choice string
		most         int
		want         llm.Finish
	}{
		{"calls with finish stop", `{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}`, 0, llm.FinishCalls},
		{"the limit reached", `{"message":{"content":"x"},"finish_reason":"stop"}`, 5, llm.FinishLength},
		{"the limit not reached", `{"message":{"content":"x"},"finish_reason":"stop"}`, 6, llm.FinishStop},
		{"a cut call relabelled", `{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":\"b"}}]},"finish_reason":"tool_calls"}`, 0, llm.FinishLength},
		{"filtered", `{"message":{"content":""},"finish_reason":"content_filter"}`, 0, llm.FinishFilter},
		{"refused", `{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}`, 0, llm.FinishRefusal},
	} {
		url, _ := wire(t, 200, `{"usage":{"completion_tokens":5},"choices":[`+c.choice+`]}`)
		r := ask("?")
		r.MaxTokens = c.most
		got, err := llm.NewOpenAI(llm.Config{BaseURL: url}).Complete(t.Context(), r)
		if err != nil || got.Finish != c.want {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
		if c.want == llm.FinishRefusal && got.Text != "No." {
			t.Errorf("%s: got text %q", c.name, got.Text)
		}
	}
}

func TestFailuresThatWaitingCannotCureAreNotRepeated(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   llm.ErrorKind
	}{
		{400, `{"error":{"message":"x","code":"tool_use_failed","failed_generation":"f()"}}`, llm.ErrorOutputInvalid},
		{400, `{"error":{"message":"response_format is not supported"}}`, llm.ErrorSchemaRefused},
		{401, `{"error":{"message":"incorrect key hunter2"}}`, llm.ErrorUnauthorized},
		{404, `{"error":{"message":"no such model"}}`, llm.ErrorBadRequest},
		{307, ``, llm.ErrorBadRequest},
		{200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 2000) + `"}}]}`, llm.ErrorCut},
	} {
		url, _ := wire(t, c.status, c.body)
		var p pauses
		_, err := llm.NewOpenAI(llm.Config{BaseURL: url, APIKey: "hunter2", MaxBody: 1000, After: p.after}).Complete(t.Context(), ask("?"))
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Status != c.status || len(p.seen) != 0 {
			t.Errorf("%d: got %v after %v", c.status, err, p.seen)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the key is in %v", err)
		}
	}
}

func TestAnImpossibleRequestIsNotSent(t *testing.T) {
	url, sent := wire(t, 200, `{}`)
	hot, notJSON := 3.0, json.RawMessage(`{`)
	for name, r := range map[string]llm.Request{
		"a role":        {Messages: []llm.Message{{Role: "narrator"}}},
		"a choice":      {Choice: "f"},
		"a requirement": {Choice: llm.ChoiceRequired},
		"a name":        {Functions: []llm.Function{{Name: "a.b"}}},
		"a twin":        {Functions: []llm.Function{{Name: "a"}, {Name: "a"}}},
		"parameters":    {Functions: []llm.Function{{Name: "a", Parameters: notJSON}}},
		"a schema":      {Output: &llm.Output{Schema: json.RawMessage(`[]`)}},
		"a temperature": {Temperature: &hot},
		"a limit":       {MaxTokens: -1},
	} {
		_, err := llm.NewOpenAI(llm.Config{BaseURL: url}).Complete(t.Context(), r)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrorBadRequest || *sent != "" {
			t.Errorf("%s: got %v, sent %q", name, err, *sent)
		}
	}
	for _, base := range []string{"ftp://x", "://", "localhost:11434", "http://"} {
		c := llm.NewOpenAI(llm.Config{BaseURL: base})
		var e *llm.Error
		if _, err := c.Complete(t.Context(), ask("?")); !errors.As(err, &e) || e.Kind != llm.ErrorBadRequest {
			t.Errorf("%s: got %v", base, err)
		}
	}
}
