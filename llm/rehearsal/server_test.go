package rehearsal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm/rehearsal"
	"pgregory.net/rapid"
)

const (
	weather = `{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}`
	plain   = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	calling = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[` + weather + `]}`
)

func forecast(r rehearsal.Request) (rehearsal.Reply, bool) {
	if !r.Offers("weather") {
		return rehearsal.Reply{Text: "Hello to you, and to everybody else."}, true
	}
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "weather", Arguments: json.RawMessage(`{"city":"Oulu","days":14,"tags":["a","b"]}`)}}}, true
}

// post sends body to h and returns the answer.
func post(h http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
	return w
}

type answer struct {
	ID      string
	Choices []struct {
		Message struct {
			Content   string
			Refusal   string
			ToolCalls []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

func read(t rapid.TB, w *httptest.ResponseRecorder) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 || len(a.Choices) != 1 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	return a
}

func TestTheFirstRuleThatFitsAnswers(t *testing.T) {
	pass := func(rehearsal.Request) (rehearsal.Reply, bool) { return rehearsal.Reply{Text: "no"}, false }
	says := func(s string) rehearsal.Rule {
		return func(rehearsal.Request) (rehearsal.Reply, bool) { return rehearsal.Reply{Text: s}, true }
	}
	for want, rules := range map[string][]rehearsal.Rule{
		"one":                                   {pass, says("one"), says("two")},
		"Rehearsal: no rule fits this request.": {pass},
	} {
		h := rehearsal.New(rehearsal.Options{Rules: rules}).Handler()
		if a := read(t, post(h, strings.Replace(calling, `"tools"`, `"tool_choice":"required","tools"`, 1))); a.Choices[0].Message.Content != want {
			t.Errorf("got %q, want %q", a.Choices[0].Message.Content, want)
		}
	}
}

func TestARuleSeesTheConversationWithoutTheWire(t *testing.T) {
	var seen rehearsal.Request
	h := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{func(r rehearsal.Request) (rehearsal.Reply, bool) {
		seen = r
		return rehearsal.Reply{Refusal: "No."}, true
	}}}).Handler()
	a := read(t, post(h, `{"model":"m","temperature":0,"max_tokens":50,"tool_choice":{"type":"function","function":{"name":"weather"}},"messages":[
		{"role":"developer","content":[{"type":"text","text":"be "},{"type":"text","text":"brief"}]},{"role":"user","content":"Oulu?"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oulu\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"snow"}],"tools":[`+weather+`],
		"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`))
	if a.Choices[0].Message.Refusal != "No." {
		t.Errorf("got %+v", a)
	}
	if seen.Choice != "weather" || *seen.Temperature != 0 || seen.MaxTokens != 50 || seen.Output.Name != "n" || seen.Messages[0].Text != "be brief" {
		t.Errorf("got %+v", seen)
	}
	if result, ok := seen.Result("weather"); !ok || result != "snow" || seen.Last(rehearsal.User).Text != "Oulu?" {
		t.Errorf("got %q, %+v", result, seen.Messages)
	}
	var arguments struct{ City string }
	if err := seen.Messages[2].Calls[0].Decode(&arguments); err != nil || arguments.City != "Oulu" {
		t.Errorf("got %+v, %v", arguments, err)
	}
}

func TestABadRuleIsToldAsAServerError(t *testing.T) {
	for name, rule := range map[string]rehearsal.Rule{
		"panicked": func(rehearsal.Request) (rehearsal.Reply, bool) { panic("oh") },
		"no JSON object": func(rehearsal.Request) (rehearsal.Reply, bool) {
			return rehearsal.Reply{Calls: []rehearsal.Call{{Arguments: 7}}}, true
		},
		"are no JSON object": func(rehearsal.Request) (rehearsal.Reply, bool) {
			return rehearsal.Reply{Calls: []rehearsal.Call{{Arguments: func() {}}}}, true
		},
	} {
		w := post(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{rule}}).Handler(), plain)
		if w.Code != 500 || !strings.Contains(w.Body.String(), name) {
			t.Errorf("got %d %s, want %q", w.Code, w.Body, name)
		}
	}
}

func TestARequestThatNoStrictEndpointTakesIsRefused(t *testing.T) {
	h := rehearsal.New(rehearsal.Options{}).Handler()
	message := func(m string) string { return `{"model":"m","messages":[{"role":"user","content":"x"},` + m + `]}` }
	call := func(c string) string { return message(`{"role":"assistant","tool_calls":[` + c + `]}`) }
	with := func(s string) string { return strings.TrimSuffix(plain, "}") + "," + s + "}" }
	for _, c := range []struct{ param, body string }{
		{"", `{`}, {"", `{"messages":"x"}`},
		{"model", `{"messages":[{"role":"user","content":"x"}]}`},
		{"messages", `{"model":"m"}`},
		{"messages[1].role", message(`{"role":"narrator","content":"x"}`)},
		{"messages[1].content", message(`{"role":"user"}`)},
		{"messages[1].content", message(`{"role":"user","content":null}`)},
		{"messages[1].content", message(`{"role":"user","content":7}`)},
		{"messages[1].content", message(`{"role":"user","content":[{"type":"image_url"}]}`)},
		{"messages[1].tool_call_id", message(`{"role":"tool","tool_call_id":"c","content":"x"}`)},
		{"messages[1].tool_calls[0].id", call(`{"type":"function","function":{"name":"f","arguments":"{}"}}`)},
		{"messages[1].tool_calls[0].type", call(`{"id":"c","function":{"name":"f","arguments":"{}"}}`)},
		{"messages[1].tool_calls[0].function.name", call(`{"id":"c","type":"function","function":{"name":"a.b","arguments":"{}"}}`)},
		{"messages[1].tool_calls[0].function.arguments", call(`{"id":"c","type":"function","function":{"name":"f","arguments":""}}`)},
		{"messages[1].tool_calls[0].function.arguments", call(`{"id":"c","type":"function","function":{"name":"f"}}`)},
		{"messages", call(`{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}`)},
		{"messages[2].role", call(`{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x","x":[`)},
		{"tools[0].type", with(`"tools":[{"function":{"name":"f"}}]`)},
		{"tools[0].function.name", with(`"tools":[{"type":"function","function":{"name":""}}]`)},
		{"tools[1].function.name", with(`"tools":[` + weather + `,` + weather + `]`)},
		{"tools[0].function.parameters", with(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]`)},
		{"tools[0].function.parameters", with(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`)},
		{"tool_choice", with(`"tool_choice":"auto"`)},
		{"tool_choice", with(`"tool_choice":"weather","tools":[` + weather + `]`)},
		{"tool_choice", with(`"tool_choice":{"type":"function","function":{"name":"x"}},"tools":[` + weather + `]`)},
		{"response_format", with(`"response_format":{"type":"json_object"}`)},
		{"response_format.type", with(`"response_format":{"type":"xml"}`)},
		{"response_format.json_schema", with(`"response_format":{"type":"json_schema"}`)},
		{"n", with(`"n":2`)}, {"temperature", with(`"temperature":3`)},
		{"max_tokens", with(`"max_tokens":0`)}, {"max_tokens", with(`"max_tokens":1,"max_completion_tokens":1`)},
	} {
		w := post(h, c.body)
		var e struct {
			Error struct{ Message, Type, Param string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 400 || e.Error.Param != c.param || e.Error.Message == "" || e.Error.Type != "invalid_request_error" {
			t.Errorf("%s: got %d %s, want %q", c.body, w.Code, w.Body, c.param)
		}
	}
	if w := post(rehearsal.New(rehearsal.Options{MaxBody: 10}).Handler(), plain); w.Code != 413 {
		t.Errorf("a long request: got %d", w.Code)
	}
}

func TestTheKeyAndThePathsAreChecked(t *testing.T) {
	h := rehearsal.New(rehearsal.Options{Key: "k"}).Handler()
	for _, c := range []struct {
		method, path, key string
		want              int
	}{
		{"GET", "/v1/models", "k", 200}, {"GET", "/v1/models", "x", 401}, {"GET", "/v1/models", "", 401},
		{"GET", "/v1/chat/completions", "k", 404}, {"POST", "/v1/embeddings", "k", 404},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Authorization", "Bearer "+c.key)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: got %d %s", c, w.Code, w.Body)
		}
		if c.want == 200 && !strings.Contains(w.Body.String(), `"id":"rehearsal"`) {
			t.Errorf("got models %s", w.Body)
		}
	}
}

func TestTheSameSeedGivesTheSameBytesWhateverRunsBeside(t *testing.T) {
	options := func(seed uint64) rehearsal.Options {
		return rehearsal.Options{Rules: []rehearsal.Rule{forecast}, Seed: seed, Accidents: []rehearsal.Accident{{Kind: rehearsal.WrongType}}}
	}
	alone, beside := rehearsal.New(options(1)).Handler(), rehearsal.New(options(1)).Handler()
	post(beside, plain)
	a, b := post(alone, calling).Body.String(), post(beside, calling).Body.String()
	if a != b {
		t.Errorf("got %s and %s", a, b)
	}
	if again := post(alone, calling).Body.String(); again == a {
		t.Error("the same request twice got the same ids")
	}
	if other := post(rehearsal.New(options(2)).Handler(), calling).Body.String(); other == a {
		t.Error("another seed gave the same bytes")
	}
}

func TestUsageIsCountedAndTheLimitKept(t *testing.T) {
	h := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{forecast}}).Handler()
	if a := read(t, post(h, plain)); a.Usage.Prompt != 1 || a.Usage.Completion != 9 || a.Choices[0].FinishReason != "stop" {
		t.Errorf("got %+v", a)
	}
	for limit := 1; limit < 12; limit++ {
		for _, body := range []string{plain, calling} {
			a := read(t, post(h, strings.Replace(body, `"model"`, fmt.Sprintf(`"max_tokens":%d,"model"`, limit), 1)))
			if a.Usage.Completion > limit {
				t.Errorf("%d tokens for a limit of %d", a.Usage.Completion, limit)
			}
			if cut := a.Choices[0].FinishReason == "length"; cut != (limit < 9 || body == calling) {
				t.Errorf("limit %d: got %+v", limit, a)
			}
		}
	}
}

func TestAStreamCarriesTheSameReply(t *testing.T) {
	h := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{forecast}}).Handler()
	for _, body := range []string{plain, calling} {
		want := read(t, post(h, body)).Choices[0]
		w := post(h, strings.Replace(body, `"model"`, `"stream":true,"stream_options":{"include_usage":true},"model"`, 1))
		var text, name, arguments, finish, last string
		usage := 0
		for lines := bufio.NewScanner(w.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			if last = data; data == "[DONE]" {
				continue
			}
			var event struct {
				Choices []struct {
					Delta struct {
						Content   string
						ToolCalls []struct {
							Function struct{ Name, Arguments string }
						} `json:"tool_calls"`
					}
					FinishReason string `json:"finish_reason"`
				}
				Usage struct {
					Completion int `json:"completion_tokens"`
				}
			}
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatal(err)
			}
			usage += event.Usage.Completion
			for _, c := range event.Choices {
				text += c.Delta.Content
				finish += c.FinishReason
				for _, call := range c.Delta.ToolCalls {
					name += call.Function.Name
					arguments += call.Function.Arguments
				}
			}
		}
		if text != want.Message.Content || finish != want.FinishReason || last != "[DONE]" || usage == 0 {
			t.Errorf("got %q, %q, %q, %d", text, finish, last, usage)
		}
		if len(want.Message.ToolCalls) == 1 {
			var whole string
			_ = json.Unmarshal(want.Message.ToolCalls[0].Function.Arguments, &whole)
			if name != "weather" || arguments != whole {
				t.Errorf("got %s %s", name, arguments)
			}
		}
	}
}

func TestStopEndsWaitingCompletionsAndToleratesDoubles(t *testing.T) {
	waiting := make(chan struct{})
	never := func(time.Duration) <-chan time.Time { close(waiting); return nil }
	s := rehearsal.New(rehearsal.Options{Latency: time.Hour, After: never})
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	url := s.URL()
	status := make(chan int)
	go func() {
		res, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(plain))
		if err != nil {
			status <- 0
			return
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		status <- res.StatusCode
	}()
	<-waiting
	stopped := make(chan error)
	for range 2 {
		go func() { stopped <- s.Stop(context.Background()) }()
	}
	if got := <-status; got != 503 {
		t.Errorf("got %d", got)
	}
	for range 2 {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
	if s.URL() != "" {
		t.Errorf("a stopped server is at %s", s.URL())
	}
	if _, err := http.Get(url + "/models"); err == nil {
		t.Error("a stopped server answers")
	}
}

func FuzzTheServerAnswersEveryRequest(f *testing.F) {
	for _, seed := range []string{plain, calling, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{}]}]}`, `{`, `null`} {
		f.Add([]byte(seed))
	}
	h := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{forecast}}).Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(string(body))))
		if w.Code != 200 && w.Code != 400 {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("answered %s", w.Body)
		}
	})
}
