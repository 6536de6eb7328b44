package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
	"pgregory.net/rapid"
)

// modelFunc is a Model made of its one method.
type modelFunc func(llm.Request) (*llm.Response, error)

func (f modelFunc) Complete(_ context.Context, r llm.Request) (*llm.Response, error) { return f(r) }

// record asks a recorded model and returns the cassette.
func record(t testing.TB, m llm.Model, requests ...llm.Request) string {
	t.Helper()
	var tape bytes.Buffer
	c := llm.Record(m, &tape)
	for _, r := range requests {
		_, _ = c.Complete(t.Context(), r)
	}
	return tape.String()
}

func replay(t testing.TB, tape string) *llm.Replayer {
	t.Helper()
	p, err := llm.Replay(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// echoes answers with the last message.
var echoes = modelFunc(func(r llm.Request) (*llm.Response, error) {
	return &llm.Response{Text: "echo of " + r.Messages[len(r.Messages)-1].Text, Finish: llm.FinishStop}, nil
})

func TestACassetteAnswersAsTheModelDid(t *testing.T) {
	word := rapid.StringMatching(`[a-zä<"]{0,6}`)
	call := rapid.Custom(func(t *rapid.T) llm.Call {
		return llm.Call{ID: word.Draw(t, "id"), Name: word.Draw(t, "name"), Arguments: word.Draw(t, "arguments")}
	})
	calls := rapid.Map(rapid.SliceOfN(call, 0, 2), func(c []llm.Call) []llm.Call { return append([]llm.Call(nil), c...) })
	number := rapid.IntRange(0, 9)
	temperature := rapid.Ptr(rapid.Float64Range(0, 2), true)
	request := rapid.Custom(func(t *rapid.T) llm.Request {
		r := llm.Request{Choice: llm.Choice(word.Draw(t, "choice")), Temperature: temperature.Draw(t, "temperature"), MaxTokens: number.Draw(t, "limit"), OneCall: rapid.Bool().Draw(t, "one")}
		for range rapid.IntRange(1, 3).Draw(t, "messages") {
			r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Text: word.Draw(t, "text"), Calls: calls.Draw(t, "calls"), CallID: word.Draw(t, "call")})
		}
		if rapid.Bool().Draw(t, "output") {
			r.Output = &llm.Output{Name: "o", Schema: json.RawMessage(`{"b": 1, "a": 2}`)}
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		var want []*llm.Response
		var failures []error
		m := modelFunc(func(llm.Request) (*llm.Response, error) {
			if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				return nil, &llm.Error{Kind: llm.ErrorRateLimit, Status: number.Draw(t, "status"), RetryAfter: time.Duration(number.Draw(t, "wait")) * time.Second, Text: word.Draw(t, "said")}
			}
			return &llm.Response{Model: word.Draw(t, "model"), Text: word.Draw(t, "reply"), Reasoning: word.Draw(t, "thought"), Calls: calls.Draw(t, "made"),
				Finish: llm.FinishCalls, Usage: llm.Usage{InputTokens: number.Draw(t, "input"), OutputTokens: number.Draw(t, "output")}}, nil
		})
		var tape bytes.Buffer
		recorder := llm.Record(m, &tape)
		requests := rapid.SliceOfN(request, 1, 4).Draw(t, "requests")
		requests = append(requests, requests[0])
		for _, r := range requests {
			reply, err := recorder.Complete(context.Background(), r)
			want, failures = append(want, reply), append(failures, err)
		}
		p, err := llm.Replay(&tape)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range requests {
			got, err := p.Complete(context.Background(), r)
			if !reflect.DeepEqual(got, want[i]) || !reflect.DeepEqual(err, failures[i]) {
				t.Fatalf("request %d: got %+v, %v, want %+v, %v", i, got, err, want[i], failures[i])
			}
		}
		if p.Left() != 0 {
			t.Fatalf("%d recordings are left", p.Left())
		}
	})
}

func TestWhatIsVolatileDoesNotCount(t *testing.T) {
	turn := func(id, schema string) llm.Request {
		r := ask("?", llm.Function{Name: "f", Parameters: json.RawMessage(schema)})
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: id + "1", Name: "f"}, {ID: id + "2", Name: "f"}}},
			llm.Message{Role: llm.RoleTool, CallID: id + "2", Text: "two"}, llm.Message{Role: llm.RoleTool, CallID: id + "1", Text: "one"})
		return r
	}
	tape := record(t, echoes, turn("a", `{"type":"object","title":"x"}`))
	if _, err := replay(t, tape).Complete(t.Context(), turn("b", "{ \"title\":\"x\",\n\"type\":\"object\"}")); err != nil {
		t.Error(err)
	}
	swapped := turn("b", `{"type":"object","title":"x"}`)
	swapped.Messages[2].CallID, swapped.Messages[3].CallID = "b1", "b2"
	if _, err := replay(t, tape).Complete(t.Context(), swapped); err == nil {
		t.Error("results of other calls were taken for the same")
	}
	zero := 0.0
	for name, r := range map[string]llm.Request{
		"a temperature": {Temperature: &zero}, "a limit": {MaxTokens: 1}, "a choice": {Choice: llm.ChoiceNone}, "one call": {OneCall: true},
		"an output": {Output: &llm.Output{}}, "a function": {Functions: []llm.Function{{Name: "f"}}}, "a message": {Messages: []llm.Message{{}}},
	} {
		tape := record(t, modelFunc(func(llm.Request) (*llm.Response, error) { return &llm.Response{}, nil }), llm.Request{})
		if _, err := replay(t, tape).Complete(t.Context(), r); err == nil {
			t.Errorf("%s does not count", name)
		}
	}
}

func TestWhatTheCallerSettlesDoesNotCount(t *testing.T) {
	undated := func(r llm.Request) llm.Request {
		r.Messages[0].Text, _, _ = strings.Cut(r.Messages[0].Text, " at ")
		return r
	}
	var tape bytes.Buffer
	c := llm.Record(echoes, &tape)
	c.Settle = undated
	asked := ask("weather at noon")
	if got, err := c.Complete(t.Context(), asked); err != nil || got.Text != "echo of weather at noon" || asked.Messages[0].Text != "weather at noon" {
		t.Fatalf("got %+v, %v; asked %+v", got, err, asked)
	}
	p := replay(t, tape.String())
	p.Settle = undated
	if got, err := p.Complete(t.Context(), ask("weather at midnight")); err != nil || got.Text != "echo of weather at noon" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAMissShowsTheNearestRecording(t *testing.T) {
	far, near := ask("red and blue", add), ask("blue")
	near.MaxTokens = 7
	p := replay(t, record(t, echoes, far, near))
	asked := ask("green")
	asked.MaxTokens = 7
	_, err := p.Complete(t.Context(), asked)
	var e *llm.Error
	var miss *llm.Miss
	if !errors.As(err, &e) || e.Kind != llm.ErrorBadRequest || !errors.As(err, &miss) {
		t.Fatalf("got %v", err)
	}
	want := []llm.Difference{{Pointer: "/messages/0/text", Asked: `"green"`, Recorded: `"blue"`}}
	if miss.Line != 2 || miss.Times != 0 || !reflect.DeepEqual(miss.Differences, want) {
		t.Errorf("got %+v", miss)
	}
	if !strings.Contains(err.Error(), `on line 2, differs in 1 place; /messages/0/text: asked "green", recorded "blue"`) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Complete(t.Context(), llm.Request{}); !errors.As(err, &miss) || len(miss.Differences) != 3 || miss.Differences[2].Asked != "" {
		t.Errorf("got %v", err)
	}
	if _, err := replay(t, "\n").Complete(t.Context(), asked); !errors.As(err, &miss) || miss.Line != 0 || !strings.Contains(err.Error(), "empty") {
		t.Errorf("got %v", err)
	}
}

func TestARecordingIsPlayedOnce(t *testing.T) {
	n := 0
	counts := modelFunc(func(llm.Request) (*llm.Response, error) { n++; return &llm.Response{Text: fmt.Sprint(n)}, nil })
	p := replay(t, record(t, counts, ask("?"), ask("?")))
	for _, want := range []string{"1", "2"} {
		if got, err := p.Complete(t.Context(), ask("?")); err != nil || got.Text != want {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
	}
	_, err := p.Complete(t.Context(), ask("?"))
	var miss *llm.Miss
	if !errors.As(err, &miss) || miss.Times != 2 || miss.Line != 2 || !strings.Contains(err.Error(), "asked again") {
		t.Errorf("got %v", err)
	}
}

func TestACassetteThatNoRecorderWroteIsRefused(t *testing.T) {
	line := strings.TrimSpace(record(t, echoes, ask("?")))
	for name, bad := range map[string]string{
		"not JSON":        "{",
		"another member":  strings.Replace(line, `"key"`, `"keys"`, 1),
		"another key":     strings.Replace(line, `"key":"`, `"key":"0`, 1),
		"another request": strings.Replace(line, `"?"`, `"!"`, 1),
		"no request":      `{"key":"","reply":{"finish":"stop"}}`,
		"no reply":        line[:strings.Index(line, `,"reply"`)] + "}",
		"two on a line":   line + line,
	} {
		if p, err := llm.Replay(strings.NewReader(line + "\n" + bad + "\n")); err == nil || p != nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWhatEndedFromOutsideIsNotRecorded(t *testing.T) {
	var tape bytes.Buffer
	other, enough := errors.New("no error of a model"), errors.New("enough")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fails := func(err error) llm.Model {
		return modelFunc(func(llm.Request) (*llm.Response, error) { return nil, err })
	}
	if _, err := llm.Record(fails(&llm.Error{Kind: llm.ErrorUnavailable}), &tape).Complete(ctx, ask("?")); err == nil {
		t.Error("a cancelled call succeeded")
	}
	if _, err := llm.Record(fails(other), &tape).Complete(t.Context(), ask("?")); err != other {
		t.Errorf("got %v", err)
	}
	if _, err := llm.Record(echoes, &tape).Stream(t.Context(), ask("?"), func(llm.Part) error { return enough }); err != enough {
		t.Errorf("got %v", err)
	}
	if tape.Len() != 0 {
		t.Errorf("recorded %s", tape.String())
	}
	if _, err := replay(t, record(t, echoes, ask("?"))).Complete(ctx, ask("?")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled replay: got %v", err)
	}
}

// full is a writer without room.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAReplyThatCannotBeRecordedIsAnError(t *testing.T) {
	if got, err := llm.Record(echoes, full{}).Complete(t.Context(), ask("?")); !errors.Is(err, errFull) || got != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	broken := ask("?", llm.Function{Name: "f", Parameters: json.RawMessage("{")})
	if got, err := llm.Record(echoes, full{}).Complete(t.Context(), broken); err == nil || errors.Is(err, errFull) || got != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestARecordedModelKeepsItsOtherFaces(t *testing.T) {
	var tape bytes.Buffer
	c := llm.Record(llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{says(strings.Repeat("long ", 20))}})), &tape)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	parts := 0
	want, err := c.Stream(t.Context(), ask("?"), func(llm.Part) error { parts++; return nil })
	if err != nil || parts < 2 {
		t.Errorf("got %v after %d parts", err, parts)
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := c.Describe(); d != "rehearsal: rules, not a language model, recorded" {
		t.Errorf("got %q", d)
	}
	p := replay(t, tape.String())
	var heard told
	got, err := p.Stream(t.Context(), ask("?"), heard.each)
	if err != nil || !reflect.DeepEqual(got, want) || heard.text != want.Text || !strings.Contains(p.Describe(), "not a language model") {
		t.Errorf("got %+v, %v; heard %+v", got, err, heard)
	}
	plain := llm.Record(echoes, &tape)
	if plain.Start(t.Context()) != nil || plain.Stop(t.Context()) != nil || plain.Describe() == "" {
		t.Error("a model without a life of its own was not tolerated")
	}
}

func TestACassetteServesManyAtOnce(t *testing.T) {
	var tape bytes.Buffer
	c := llm.Record(echoes, &tape)
	each := func(f func(llm.Request) (*llm.Response, error)) {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if got, err := f(ask(fmt.Sprint(i % 5))); err != nil || got.Text != "echo of "+fmt.Sprint(i%5) {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
		all.Wait()
	}
	each(func(r llm.Request) (*llm.Response, error) { return c.Complete(t.Context(), r) })
	p := replay(t, tape.String())
	each(func(r llm.Request) (*llm.Response, error) { return p.Complete(t.Context(), r) })
	if p.Left() != 0 {
		t.Errorf("%d recordings are left", p.Left())
	}
}

func FuzzReplay(f *testing.F) {
	r := ask("?", add)
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "a", Name: "f"}}})
	f.Add([]byte(record(f, echoes, ask("?"), r)))
	f.Add([]byte(record(f, modelFunc(func(llm.Request) (*llm.Response, error) { return nil, &llm.Error{Kind: llm.ErrorCut} }), ask("?"))))
	f.Add([]byte("\n{}\n"))
	f.Fuzz(func(t *testing.T, tape []byte) {
		p, err := llm.Replay(bytes.NewReader(tape))
		if err != nil {
			return
		}
		for _, asked := range []llm.Request{r, ask("?"), {}} {
			got, err := p.Complete(t.Context(), asked)
			var e *llm.Error
			if (err == nil) != (got != nil) || err != nil && (!errors.As(err, &e) || err.Error() == "") {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
	})
}
