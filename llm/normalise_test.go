package llm

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

func TestNormaliseAcceptsWhatEndpointsSend(t *testing.T) {
	wrap := func(message string) string {
		return `{"choices":[{"message":` + message + `,"finish_reason":"stop"}]}`
	}
	call := func(function string) string { return wrap(`{"tool_calls":[{"id":"c","function":` + function + `}]}`) }
	arguments := func(r openai.ChatCompletionResponse) string {
		return r.Choices[0].Message.ToolCalls[0].Function.Arguments
	}
	thoughts := func(r openai.ChatCompletionResponse) string { return r.Choices[0].Message.ReasoningContent }
	said := func(r openai.ChatCompletionResponse) string { return r.Choices[0].Message.Content }
	for _, c := range []struct {
		name, body string
		get        func(openai.ChatCompletionResponse) string
		want       string
	}{
		{"arguments as text", call(`{"name":"f","arguments":"{\"a\":1}"}`), arguments, `{"a":1}`},
		{"arguments as an object", call(`{"name":"f","arguments":{"city":"Oulu","days":1}}`), arguments, `{"city":"Oulu","days":1}`},
		{"arguments as a list", call(`{"name":"f","arguments":[1]}`), arguments, `[1]`},
		{"arguments null", call(`{"name":"f","arguments":null}`), arguments, ``},
		{"arguments absent", call(`{"name":"f"}`), arguments, ``},
		{"the old function_call", wrap(`{"function_call":{"name":"f","arguments":"{}"}}`), arguments, `{}`},
		{"reasoning", wrap(`{"content":"x","reasoning":"hm"}`), thoughts, "hm"},
		{"reasoning_content", wrap(`{"content":"x","reasoning_content":"hm"}`), thoughts, "hm"},
		{"thinking among the parts", wrap(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"}]}`), thoughts, "hm"},
		{"text among the parts", wrap(`{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`), said, "xy"},
		{"content null", wrap(`{"content":null}`), said, ""},
		{"message absent", `{"choices":[{"finish_reason":"stop"}]}`, said, ""},
		{"tool_calls null", wrap(`{"content":"x","tool_calls":null}`), said, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := normalise([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			var r openai.ChatCompletionResponse
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatal(err)
			}
			if got := c.get(r); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNormaliseTakesFractionsForWholeNumbers(t *testing.T) {
	out, err := normalise([]byte(`{"created":1.7e9,"usage":{"prompt_tokens":3.0,"completion_tokens":"?"},"choices":[{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var r openai.ChatCompletionResponse
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Created != 1_700_000_000 || r.Usage.PromptTokens != 3 || r.Usage.CompletionTokens != 0 {
		t.Errorf("got %d, %+v", r.Created, r.Usage)
	}
}

func TestNormaliseRefusesWhatIsNoAnswer(t *testing.T) {
	for body, kind := range map[string]ErrorKind{
		``:                         ErrorUnavailable,
		`<html>`:                   ErrorUnavailable,
		`null`:                     ErrorUnavailable,
		`[]`:                       ErrorUnavailable,
		`{}`:                       ErrorUnavailable,
		`{"choices":null}`:         ErrorUnavailable,
		`{"choices":[]}`:           ErrorUnavailable,
		`{"choices":[null]}`:       ErrorUnavailable,
		`{"choices":{"0":{}}}`:     ErrorUnavailable,
		`{"error":"down"}`:         ErrorUnavailable,
		`{"error":{"code":429}}`:   ErrorRateLimit,
		`{"error":{"code":"502"}}`: ErrorUnavailable,
		`{"error":{"message":"x","type":"authentication_error"}}`:                   ErrorUnauthorized,
		`{"error":{"message":"bad schema","type":"invalid_request_error"}}`:         ErrorSchemaRefused,
		`{"choices":[{"error":{"code":502,"message":"upstream"},"message":{}}]}`:    ErrorUnavailable,
		`{"error":{"code":"tool_use_failed","failed_generation":"<function=f>{}"}}`: ErrorOutputInvalid,
	} {
		_, err := normalise([]byte(body))
		var e *Error
		if !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%s: got %v, want %s", body, err, kind)
		}
	}
}

func FuzzNormaliseAlwaysGivesADecodableAnswerOrATypedError(f *testing.F) {
	for _, seed := range []string{
		`{"id":"x","created":1.5,"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"message":{"tool_calls":[{"id":7,"function":{"name":"f","arguments":{"a":[1,{}]}}}]},"finish_reason":"\""}]}`,
		`{"choices":[{"message":{"content":[{"text":"a"},{"thinking":"b"}],"reasoning":{"x":1}}}]}`,
		`{"error":[1,2]}`, `{"error":{"message":["a","b"],"code":1e400}}`, `[{"error":{"message":"x"}}]`, "{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := normalise(body)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Kind == "" || e.Error() == "" {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		var r openai.ChatCompletionResponse
		if err := json.Unmarshal(out, &r); err != nil || len(r.Choices) != 1 {
			t.Fatalf("%s does not decode: %v", out, err)
		}
	})
}

func FuzzClassifyAlwaysGivesAKind(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"x"}}`))
	f.Add(0, []byte(`[{"error":{"code":500}}]`))
	f.Add(503, []byte(`<html>`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if e := classify(status, body, 0); e.Kind == "" || e.Error() == "" {
			t.Fatalf("no kind for %d %q", status, body)
		}
	})
}

func TestClassifySaysWhatACallerCanDo(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   ErrorKind
		text   string
	}{
		{401, `{"error":{"message":"bad key"}}`, ErrorUnauthorized, "bad key"},
		{403, ``, ErrorUnauthorized, ""},
		{429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, ErrorRateLimit, "slow down"},
		{429, `{"error":{"message":"pay","code":"insufficient_quota"}}`, ErrorUnauthorized, "pay"},
		{500, `oops`, ErrorUnavailable, "oops"},
		{529, `{"error":{"type":"overloaded_error"}}`, ErrorUnavailable, ""},
		{400, `{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function=f{}>"}}`, ErrorOutputInvalid, "<function=f{}>"},
		{400, `{"error":{"message":"This response_format type is unavailable now"}}`, ErrorSchemaRefused, "This response_format type is unavailable now"},
		{400, `{"error":{"message":"no","param":"tools[0].function.parameters"}}`, ErrorSchemaRefused, "no"},
		{422, `{"detail":"Invalid schema for function 'f'"}`, ErrorSchemaRefused, "Invalid schema for function 'f'"},
		{400, `[{"error":{"code":400,"message":"Unknown name \"additionalProperties\""}}]`, ErrorSchemaRefused, `Unknown name "additionalProperties"`},
		{400, `{"error":{"message":"a message with role tool must follow tool_calls","param":"messages.[1].role"}}`, ErrorBadRequest, "a message with role tool must follow tool_calls"},
		{400, `{"error":{"message":"reduce the messages or functions","code":"context_length_exceeded"}}`, ErrorBadRequest, "reduce the messages or functions"},
		{404, `{"error":"model not found"}`, ErrorBadRequest, "model not found"},
		{400, `{"error":{"message":["one","two"]}}`, ErrorBadRequest, "one, two"},
	} {
		if e := classify(c.status, []byte(c.body), 0); e.Kind != c.want || e.Text != c.text {
			t.Errorf("%d %s: got %s %q, want %s %q", c.status, c.body, e.Kind, e.Text, c.want, c.text)
		}
	}
}

func TestRetryAfterReadsSecondsAndDates(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 365 * 24 * time.Hour},
		{"Retry-After", "soon", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		if got := retryAfter(http.Header{c.name: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s: got %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

func TestOnlyALeadingClosedThinkBlockIsSeparated(t *testing.T) {
	for _, c := range []struct{ in, thoughts, answer string }{
		{"<think>hm</think>\n{}", "hm", "{}"},
		{" \n<think>\nhm\n</think> yes", "hm", "yes"},
		{"<think></think>yes", "", "yes"},
		{"<think>never closed", "", "<think>never closed"},
		{`{"a":"<think>x</think>"}`, "", `{"a":"<think>x</think>"}`},
		{"I <think>x</think>", "", "I <think>x</think>"},
		{"plain ", "", "plain "},
	} {
		if thoughts, answer := splitThinking(c.in); thoughts != c.thoughts || answer != c.answer {
			t.Errorf("%q: got %q, %q", c.in, thoughts, answer)
		}
	}
}

func TestArgumentsThatEndInsideAValueCountAsCut(t *testing.T) {
	for in, want := range map[string]bool{
		`{"a":"b`: true, `{"a":"b\"`: true, `{"a":1`: true, `{"a":`: true, `{"a":"b",`: true, `{"a":tr`: true,
		`{"a":"b"}`: false, `{"a":"b"`: false, `{"a":[1]`: false, `{"a":true`: false, ``: false, `{`: false, `call me`: false,
	} {
		if got := cutShort(in); got != want {
			t.Errorf("%s: got %v", in, got)
		}
	}
}

func TestIdsAndNamesFitEveryWire(t *testing.T) {
	if id := "aB3dE6gH9"; wireID(id) != id {
		t.Errorf("an id of ours became %q", wireID(id))
	}
	if a, b := wireID("call_1"), wireID("call_2"); len(a) != idLength || a == b || a != wireID("call_1") {
		t.Errorf("foreign ids became %q and %q", a, b)
	}
	for in, want := range map[string]string{
		"multi_tool_use.parallel": "multi_tool_use_parallel", "default_api:f": "default_api_f", "": "_", "ä": "_",
		strings.Repeat("x", 70): strings.Repeat("x", 64),
	} {
		if got := wireName(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestCallsOfLaterTurnsGetOtherIds(t *testing.T) {
	first := []Call{{Name: "f"}, {Name: "f"}}
	nameCalls(first, []Message{{Role: RoleUser}})
	second := []Call{{Name: "f"}}
	nameCalls(second, []Message{{Role: RoleUser}, {Role: RoleAssistant, Calls: first}, {Role: RoleTool}})
	trimmed := []Call{{Name: "f"}}
	nameCalls(trimmed, []Message{{Role: RoleAssistant, Calls: first}})
	seen := map[string]bool{}
	for _, c := range append(append(first, second...), trimmed...) {
		if seen[c.ID] {
			t.Errorf("id %s is used twice", c.ID)
		}
		seen[c.ID] = true
	}
}
