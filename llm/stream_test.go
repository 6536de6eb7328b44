package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
	"pgregory.net/rapid"
)

// told is what a consumer of a stream heard.
type told struct {
	text, reasoning string
	calls           []llm.Delta
}

func (h *told) each(p llm.Part) error {
	h.text += p.Text
	h.reasoning += p.Reasoning
	if p.Call != nil {
		h.calls = append(h.calls, *p.Call)
	}
	return nil
}

// events joins chunks to the body of a stream.
func events(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

const (
	ends = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = "[DONE]"
)

func TestStreamCopesWithEveryKnownDialect(t *testing.T) {
	call := func(s string) string { return delta(`{"tool_calls":[` + s + `]}`) }
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name, body, text, reasoning string
		calls                       []string // name and arguments
		finish                      llm.Finish
		input                       int
	}{
		{name: "the standard wire", body: events(delta(`{"role":"assistant","content":""}`), delta(`{"content":"Hel"}`), delta(`{"content":"lo"}`), ends,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, done), text: "Hello", input: 3},
		{name: "no mark of the end", body: events(delta(`{"content":"Hi"}`), ends), text: "Hi"},
		{name: "no mark and no last blank line", body: "data: " + delta(`{"content":"Hi"}`) + "\n\ndata: " + ends, text: "Hi"},
		{name: "no finish reason", body: events(delta(`{"content":"Hi"}`), done), text: "Hi"},
		{name: "no space after the colon", body: strings.ReplaceAll(events(delta(`{"content":"Hi"}`), done), "data: ", "data:"), text: "Hi"},
		{name: "no blank lines", body: strings.ReplaceAll(events(delta(`{"content":"Hi"}`), ends, done), "\n\n", "\n"), text: "Hi"},
		{name: "CRLF", body: strings.ReplaceAll(events(delta(`{"content":"Hi"}`), ends, done), "\n", "\r\n"), text: "Hi"},
		{name: "CR", body: strings.ReplaceAll(events(delta(`{"content":"Hi"}`), ends, done), "\n", "\r"), text: "Hi"},
		{name: "a byte order mark", body: "\ufeff" + events(delta(`{"content":"Hi"}`), done), text: "Hi"},
		{name: "comments to keep the connection", body: strings.Repeat(": wait\n\n", 1000) + events(delta(`{"content":"Hi"}`)) + ":\n\n" + events(ends, done), text: "Hi"},
		{name: "other fields", body: "id: 1\nretry: 5\nevent: message\n" + events(delta(`{"content":"Hi"}`), done), text: "Hi"},
		{name: "a chunk over several lines", body: "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"Hi\"}}]}\n\n" + events(done), text: "Hi"},
		{name: "a huge line", body: events(delta(`{"content":"`+long+`"}`), done), text: long},
		{name: "usage in every chunk", body: events(`{"usage":{"prompt_tokens":3},"choices":[{"delta":{"content":"Hi"}}]}`, `{"usage":null,"choices":[]}`, done), text: "Hi", input: 3},
		{name: "usage of one's own", body: events(delta(`{"content":"Hi"}`), `{"x_groq":{"usage":{"prompt_tokens":3}},"choices":[]}`, done), text: "Hi", input: 3},
		{name: "another choice between", body: events(delta(`{"content":"Hi"}`), `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, done), text: "Hi"},
		{name: "content in parts", body: events(delta(`{"content":[{"type":"text","text":"Hi"}]}`), done), text: "Hi"},
		{name: "reasoning beside the answer", body: events(delta(`{"reasoning_content":"h"}`), delta(`{"reasoning":"m"}`), delta(`{"content":"Hi"}`), done), text: "Hi", reasoning: "hm"},
		{name: "a think block over chunks", body: events(delta(`{"content":"<thi"}`), delta(`{"content":"nk>\nh"}`), delta(`{"content":"m</th"}`), delta(`{"content":"ink>\n\nH"}`), delta(`{"content":"i\n"}`), done),
			text: "Hi", reasoning: "hm"},
		{name: "what only looks like a think block", body: events(delta(`{"content":" <th"}`), delta(`{"content":"e>"}`), done), text: " <the>"},
		{name: "a think block never begun", body: events(delta(`{"content":"<thi"}`), done), text: "<thi"},
		{name: "a refusal", body: events(delta(`{"refusal":"I can"}`), delta(`{"refusal":"not."}`), done), text: "I cannot.", finish: llm.FinishRefusal},
		{name: "a filter", body: events(delta(`{"content":"Hi"}`), `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, done), text: "Hi", finish: llm.FinishFilter},
		{name: "the limit", body: events(delta(`{"content":"Hi"}`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`, done), text: "Hi", finish: llm.FinishLength},
		{name: "calls that end with stop", body: events(call(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), call(`{"index":0,"function":{"arguments":"{\"a\":"}}`),
			call(`{"index":0,"function":{"arguments":"1}"}}`), ends, done), calls: []string{"f", `{"a":1}`}, finish: llm.FinishCalls},
		{name: "calls after the finish", body: events(ends, call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), done), calls: []string{"f", "{}"}, finish: llm.FinishCalls},
		{name: "calls without index", body: events(call(`{"id":"a","function":{"name":"f","arguments":"{}"}}`), call(`{"id":"b","function":{"name":"g","arguments":"{}"}}`), done),
			calls: []string{"f", "{}", "g", "{}"}, finish: llm.FinishCalls},
		{name: "index always 0", body: events(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), call(`{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}`), done),
			calls: []string{"f", "{}", "f", "{}"}, finish: llm.FinishCalls},
		{name: "arguments as an object", body: events(call(`{"index":0,"id":"a","function":{"name":"f","arguments":{"a":1}}}`), done), calls: []string{"f", `{"a":1}`}, finish: llm.FinishCalls},
		{name: "the old function_call", body: events(delta(`{"function_call":{"name":"f","arguments":""}}`), delta(`{"function_call":{"arguments":"{}"}}`), done),
			calls: []string{"f", "{}"}, finish: llm.FinishCalls},
		{name: "a call cut short and relabelled", body: events(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":\"b"}}`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, done),
			calls: []string{"f", `{"a":"b`}, finish: llm.FinishLength},
		{name: "no stream at all", body: "\n" + `{"usage":{"prompt_tokens":3},"choices":[{"message":{"content":"<think>hm</think>Hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}}]}`,
			text: "Hi", reasoning: "hm", calls: []string{"f", "{}"}, finish: llm.FinishCalls, input: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, sent := wire(t, 200, c.body)
			var heard told
			got, err := llm.NewOpenAI(llm.Config{BaseURL: url, MaxRetries: -1}).Stream(t.Context(), ask("?", add), heard.each)
			if err != nil {
				t.Fatal(err)
			}
			want := llm.FinishStop
			if c.finish != "" {
				want = c.finish
			}
			if got.Text != c.text || got.Reasoning != c.reasoning || got.Finish != want || got.Usage.InputTokens != c.input {
				t.Errorf("got %+v", got)
			}
			var calls []string
			for _, call := range got.Calls {
				if calls = append(calls, call.Name, call.Arguments); !ours(call.ID) {
					t.Errorf("id %q", call.ID)
				}
			}
			if !reflect.DeepEqual(calls, c.calls) {
				t.Errorf("got calls %q, want %q", calls, c.calls)
			}
			if heard.text != c.text || heard.reasoning != c.reasoning || len(llm.Assemble(heard.calls)) != len(got.Calls) {
				t.Errorf("heard %+v", heard)
			}
			for _, word := range []string{`"stream":true`, `"include_usage":true`} {
				if !strings.Contains(*sent, word) {
					t.Errorf("%s is not in %s", word, *sent)
				}
			}
		})
	}
}

func TestAThinkBlockThatIsNeverClosedIsToldAgainAsText(t *testing.T) {
	url, _ := wire(t, 200, events(delta(`{"content":"<think>all the"}`), delta(`{"content":" time"}`), done))
	var heard told
	got, err := llm.NewOpenAI(llm.Config{BaseURL: url}).Stream(t.Context(), ask("?"), heard.each)
	if err != nil || got.Text != "<think>all the time" || heard.text != got.Text || heard.reasoning != "all the time" || got.Reasoning != "" {
		t.Errorf("got %+v, %v; heard %+v", got, err, heard)
	}
}

func TestAStreamThatFailsSaysHow(t *testing.T) {
	hi := delta(`{"content":"Hi"}`)
	for _, c := range []struct {
		name, body string
		want       llm.ErrorKind
	}{
		{"an error midway", events(hi, `{"error":{"message":"overloaded","code":503}}`), llm.ErrorUnavailable},
		{"a rate limit midway", events(hi, `{"error":{"type":"rate_limit_error"}}`), llm.ErrorRateLimit},
		{"a complaint about the request midway", events(hi, `{"error":{"message":"stream_options","code":400}}`), llm.ErrorBadRequest},
		{"an error of a choice", events(hi, `{"choices":[{"index":0,"error":{"code":"tool_use_failed"}}]}`), llm.ErrorOutputInvalid},
		{"an event named error", events(hi) + "event: error\ndata: {\"message\":\"no\",\"code\":400}\n\n", llm.ErrorBadRequest},
		{"the end before the reply", events(hi), llm.ErrorUnavailable},
		{"the end inside a chunk", events(hi) + `data: {"choices":[{"del`, llm.ErrorUnavailable},
		{"no JSON", events(hi, "<html>"), llm.ErrorUnavailable},
		{"nothing", "", llm.ErrorUnavailable},
		{"too much", events(hi, delta(`{"content":"`+strings.Repeat("x", 2000)+`"}`), ends, done), llm.ErrorCut},
		{"too much after the finish", events(hi, ends, delta(`{"content":"`+strings.Repeat("x", 2000)+`"}`)), llm.ErrorCut},
		{"an error in place of a stream", `{"error":{"message":"overloaded","code":503}}`, llm.ErrorUnavailable},
		{"too much in place of a stream", `{"choices":[{"message":{"content":"` + strings.Repeat("x", 2000) + `"}}]}`, llm.ErrorCut},
	} {
		url, _ := wire(t, 200, c.body)
		var heard told
		got, err := llm.NewOpenAI(llm.Config{BaseURL: url, MaxBody: 1000, MaxRetries: -1}).Stream(t.Context(), ask("?"), heard.each)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Status != 200 || got != nil {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
		if strings.HasPrefix(c.body, events(hi)) && heard.text != "Hi" {
			t.Errorf("%s: heard %+v", c.name, heard)
		}
	}
}

func TestAStreamIsRepeatedOnlyWhileNothingWasTold(t *testing.T) {
	for _, c := range []struct {
		kind    rehearsal.Kind
		repeats bool
	}{
		{rehearsal.RateLimited, true}, {rehearsal.Unavailable, true}, {rehearsal.Dropped, true}, {rehearsal.ErrorBody, true},
		{rehearsal.BrokenOff, false}, {rehearsal.ErrorMidway, false},
	} {
		s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says("Good morning.")}, Accidents: []rehearsal.Accident{{Kind: c.kind, At: 1}}})
		var p pauses
		var heard told
		got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), After: p.after}).Stream(t.Context(), ask("?"), heard.each)
		if c.repeats {
			if err != nil || got.Text != "Good morning." || heard.text != got.Text || s.Calls() != 2 {
				t.Errorf("%s: got %+v, %v in %d calls, heard %+v", c.kind, got, err, s.Calls(), heard)
			}
			continue
		}
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable || s.Calls() != 1 || heard.text != "Good morning." || len(p.seen) != 0 {
			t.Errorf("%s: got %v in %d calls, heard %+v", c.kind, err, s.Calls(), heard)
		}
	}
}

func TestAnAnswerThatBreaksOffIsAskedForAgain(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says("hi")}, Accidents: []rehearsal.Accident{{Kind: rehearsal.BrokenOff, At: 1}}})
	var p pauses
	got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), After: p.after}).Complete(t.Context(), ask("?"))
	if err != nil || got.Text != "hi" || s.Calls() != 2 {
		t.Errorf("got %+v, %v in %d calls", got, err, s.Calls())
	}
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	never := func(time.Duration) <-chan time.Time { return nil }
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says(strings.Repeat("long ", 50))}, After: never,
		Accidents: []rehearsal.Accident{{Kind: rehearsal.Trickled}}})
	ctx, cancel := context.WithCancel(t.Context())
	// The first chunk has only the role, and the second one never comes: what cancels
	// is the answer's header.
	client := &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		cancel()
		return res, err
	})}
	_, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL(), HTTPClient: client}).Stream(ctx, ask("?"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable || !errors.Is(err, context.Canceled) || s.Calls() != 1 {
		t.Errorf("got %v in %d calls", err, s.Calls())
	}
}

func TestPartsAreToldWhileTheReplyIsMade(t *testing.T) {
	reply := strings.Repeat("long ", 50)
	ticks := make(chan time.Time, 100) // each lets the server send a chunk
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says(reply)}, After: func(time.Duration) <-chan time.Time { return ticks },
		Accidents: []rehearsal.Accident{{Kind: rehearsal.Trickled}}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticks <- time.Time{} // the first piece; the others wait until one was told
	told := 0
	got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Stream(ctx, ask("?"), func(p llm.Part) error {
		if told += len(p.Text); told == len(reply) {
			ticks <- time.Time{} // the usage
		}
		ticks <- time.Time{}
		return nil
	})
	if err != nil || got.Text != reply || got.Usage.OutputTokens == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAConsumerThatCancelsHearsNoMore(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says(strings.Repeat("long ", 50))}})
	ctx, cancel := context.WithCancel(t.Context())
	heard := 0
	_, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Stream(ctx, ask("?"), func(llm.Part) error { heard++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || heard != 1 {
		t.Errorf("got %v after %d parts", err, heard)
	}
}

func TestAConsumersErrorStopsTheStreamAndIsReturnedAsItIs(t *testing.T) {
	s := start(t, rehearsal.Options{Rules: []rehearsal.Rule{says(strings.Repeat("long ", 50))}})
	unavailable := &llm.Error{Kind: llm.ErrorUnavailable}
	for _, enough := range []error{errors.New("enough"), unavailable} {
		heard := 0
		got, err := llm.NewOpenAI(llm.Config{BaseURL: s.URL()}).Stream(t.Context(), ask("?"), func(llm.Part) error {
			if heard++; heard == 2 {
				return enough
			}
			return nil
		})
		if err != enough || got != nil || heard != 2 {
			t.Errorf("got %+v, %v after %d parts", got, err, heard)
		}
	}
	if s.Calls() != 2 || unavailable.Status != 0 {
		t.Errorf("asked %d times, the error became %v", s.Calls(), unavailable)
	}
}

// transportFunc is an http.RoundTripper.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering is a client whose endpoint answers as f says.
func answering(f func(sent string) (status int, body string)) *http.Client {
	return &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		sent, _ := io.ReadAll(r.Body)
		status, body := f(string(sent))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}
}

// served is a client of a handler, without a network.
func served(h http.Handler) *http.Client {
	return &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), nil
	})}
}

func TestUsageIsNotAskedForWhereItIsRefused(t *testing.T) {
	for name, refusal := range map[string]string{
		"by name": `{"error":{"message":"unknown parameter: stream_options"}}`,
		"by rule": `{"message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}}`,
	} {
		status := map[string]int{"by name": 400, "by rule": 422}[name]
		asked := 0
		client := answering(func(sent string) (int, string) {
			if asked++; strings.Contains(sent, "stream_options") {
				return status, refusal
			}
			return 200, events(delta(`{"content":"Hi"}`), done)
		})
		got, err := llm.NewOpenAI(llm.Config{HTTPClient: client, MaxRetries: -1}).Stream(t.Context(), ask("?"), nil)
		if err != nil || got.Text != "Hi" || asked != 2 {
			t.Errorf("%s: got %+v, %v, asked %d times", name, got, err, asked)
		}
		p, _ := llm.ProfileNamed("mistral")
		asked = 0
		if _, err := llm.NewOpenAI(llm.Config{HTTPClient: client, Profile: &p}).Stream(t.Context(), ask("?"), nil); err != nil || asked != 1 {
			t.Errorf("mistral: got %v, asked %d times", err, asked)
		}
	}
}

func TestAStreamThatCannotBeAskedForIsNotSent(t *testing.T) {
	url, sent := wire(t, 200, "")
	for name, c := range map[string]*llm.Client{
		"an address": llm.NewOpenAI(llm.Config{BaseURL: "ftp://x"}), "a request": llm.NewOpenAI(llm.Config{BaseURL: url}),
	} {
		_, err := c.Stream(t.Context(), llm.Request{MaxTokens: -1}, nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ErrorBadRequest || *sent != "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// whole is a Model that is no Streamer.
type whole struct {
	reply *llm.Response
	err   error
}

func (m whole) Complete(context.Context, llm.Request) (*llm.Response, error) { return m.reply, m.err }

func TestAModelThatDoesNotStreamIsToldAtOnce(t *testing.T) {
	reply := &llm.Response{Text: "Hi", Reasoning: "hm", Calls: []llm.Call{{ID: "Ab3456789", Name: "f", Arguments: "{}"}, {ID: "Ab3456780", Name: "f", Arguments: "{}"}}}
	var heard told
	got, err := llm.Stream(t.Context(), whole{reply: reply}, ask("?"), heard.each)
	if err != nil || got != reply || heard.text != "Hi" || heard.reasoning != "hm" || len(llm.Assemble(heard.calls)) != 2 {
		t.Errorf("got %+v, %v; heard %+v", got, err, heard)
	}
	enough := errors.New("enough")
	if got, err := llm.Stream(t.Context(), whole{reply: reply}, ask("?"), func(llm.Part) error { return enough }); err != enough || got != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := llm.Stream(t.Context(), whole{err: enough}, ask("?"), nil); err != enough {
		t.Errorf("got %v", err)
	}
	m := llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{says("Hi")}}))
	var e *llm.Error
	if _, err := llm.Stream(t.Context(), m, ask("?"), nil); !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable {
		t.Errorf("before start: got %v", err)
	}
}

func TestStreamAndCompleteAgree(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"<think>", "</think>", "<thi", " ", "\n", "an answer", `{"a":12,"b":"text"}`, "ä"})).Draw(t, "parts")
		return strings.Join(parts, "")
	}), rapid.Just(`{"city":"Oulu","days":14}`))
	call := rapid.Custom(func(t *rapid.T) rehearsal.Call {
		arguments := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,6}`), rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Int32(), func(i int32) any { return i }), rapid.Just(any([]string{"{", `"`})), rapid.Just(any(nil))), 0, 4).Draw(t, "arguments")
		encoded, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		return rehearsal.Call{Name: rapid.SampledFrom([]string{"add", "sub"}).Draw(t, "name"), Arguments: json.RawMessage(encoded)}
	})
	rapid.Check(t, func(t *rapid.T) {
		reply := rehearsal.Reply{Text: text.Draw(t, "text"), Calls: rapid.SliceOfN(call, 0, 3).Draw(t, "calls")}
		if rapid.IntRange(0, 9).Draw(t, "refuses") == 0 {
			reply = rehearsal.Reply{Refusal: "I will not do that, whoever asks."}
		}
		o := rehearsal.Options{Seed: rapid.Uint64().Draw(t, "seed"), Rules: []rehearsal.Rule{func(rehearsal.Request) (rehearsal.Reply, bool) { return reply, true }}}
		kind := rapid.SampledFrom([]rehearsal.Kind{"", "", rehearsal.MalformedJSON, rehearsal.GarbledJSON, rehearsal.MendableJSON, rehearsal.Truncated, rehearsal.Fenced,
			rehearsal.WrongType, rehearsal.UnknownFunction, rehearsal.EmptyArguments, rehearsal.ArgumentsObject, rehearsal.RateLimited, rehearsal.ErrorBody}).Draw(t, "accident")
		if kind != "" {
			o.Accidents = []rehearsal.Accident{{Kind: kind}}
		}
		r := ask("?", add)
		r.MaxTokens = rapid.SampledFrom([]int{0, 0, 1, 5, 20}).Draw(t, "limit")

		// A server draws for the second time another id than for the first.
		client := func() *llm.Client {
			return llm.NewOpenAI(llm.Config{HTTPClient: served(rehearsal.New(o).Handler()), MaxRetries: -1})
		}
		want, wantErr := client().Complete(context.Background(), r)
		var heard told
		got, gotErr := client().Stream(context.Background(), r, heard.each)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
			t.Fatalf("stream gives %+v, %v\ncomplete gives %+v, %v", got, gotErr, want, wantErr)
		}
		if got == nil {
			return
		}
		if heard.text != got.Text {
			t.Fatalf("heard %q of %q", heard.text, got.Text)
		}
		for i, c := range llm.Assemble(heard.calls) {
			if c.Name != got.Calls[i].Name || c.Arguments != got.Calls[i].Arguments {
				t.Fatalf("heard %+v of %+v", c, got.Calls[i])
			}
		}
	})
}
