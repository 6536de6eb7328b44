package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm/rehearsal"
	"pgregory.net/rapid"
)

// damaged returns the arguments of the one call under an accident.
func damaged(t rapid.TB, kind rehearsal.Kind, seed uint64, arguments string) (string, answer) {
	rule := func(rehearsal.Request) (rehearsal.Reply, bool) {
		return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "weather", Arguments: json.RawMessage(arguments)}}}, true
	}
	s := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{rule}, Seed: seed, Accidents: []rehearsal.Accident{{Kind: kind}}})
	a := read(t, post(s.Handler(), calling))
	raw := a.Choices[0].Message.ToolCalls[0].Function.Arguments
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return text, a
}

func TestEachAccidentDamagesWhatItSays(t *testing.T) {
	value := rapid.OneOf(rapid.Just(any(true)), rapid.Just(any(nil)), rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(-99, 999), func(i int) any { return i }), rapid.Just(any([]any{"x", 1})), rapid.Just(any(map[string]any{"k": "v"})))
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,6}`), value, 1, 5).Draw(t, "object")
		seed := rapid.Uint64().Draw(t, "seed")
		encoded, _ := json.Marshal(object)
		whole := string(encoded)

		for _, kind := range []rehearsal.Kind{rehearsal.MalformedJSON, rehearsal.Truncated} {
			got, a := damaged(t, kind, seed, whole)
			if json.Valid([]byte(got)) || !strings.HasPrefix(whole, strings.TrimRight(got, "\ufffd")) {
				t.Fatalf("%s: %s became %s", kind, whole, got)
			}
			for _, closers := range []string{"}", "]}", "}}"} {
				if last := got[len(got)-1]; json.Valid([]byte(got+closers)) && (last < '0' || last > '9') {
					t.Fatalf("%s: %s is restored by %s", kind, got, closers)
				}
			}
			if finish := a.Choices[0].FinishReason; (finish == "length") != (kind == rehearsal.Truncated) {
				t.Fatalf("%s: finish %s", kind, finish)
			}
		}
		if got, _ := damaged(t, rehearsal.MendableJSON, seed, whole); json.Valid([]byte(got)) {
			t.Fatalf("%s is still JSON", got)
		}
		if got, _ := damaged(t, rehearsal.Fenced, seed, whole); !strings.Contains(got, "\n```json\n"+whole+"\n```\n") {
			t.Fatalf("%s became %s", whole, got)
		}
		got, _ := damaged(t, rehearsal.WrongType, seed, whole)
		var was, is map[string]any
		_ = json.Unmarshal([]byte(whole), &was)
		if err := json.Unmarshal([]byte(got), &is); err != nil || len(is) != len(was) {
			t.Fatalf("%s became %s", whole, got)
		}
		changed := 0
		for k := range was {
			if fmt.Sprintf("%T", was[k]) != fmt.Sprintf("%T", is[k]) {
				changed++
			}
		}
		if changed != 1 {
			t.Fatalf("%d members of %s changed their type in %s", changed, whole, got)
		}
		if got, _ := damaged(t, rehearsal.EmptyArguments, seed, whole); got != "" {
			t.Fatalf("%s became %s", whole, got)
		}
		if _, a := damaged(t, rehearsal.ArgumentsObject, seed, whole); a.Choices[0].Message.ToolCalls[0].Function.Arguments[0] != '{' {
			t.Fatalf("arguments are still text")
		}
		if _, a := damaged(t, rehearsal.UnknownFunction, seed, whole); a.Choices[0].Message.ToolCalls[0].Function.Name == "weather" {
			t.Fatalf("the function is still known")
		}
	})
}

func TestAccidentsStrikeTheCompletionsTheyName(t *testing.T) {
	hasTools := func(r rehearsal.Request) bool { return len(r.Functions) > 0 }
	for name, c := range map[string]struct {
		accident rehearsal.Accident
		want     []int // places of the struck ones among: plain, calling, plain, calling, calling, calling
	}{
		"the second":            {rehearsal.Accident{At: 2}, []int{1}},
		"every third":           {rehearsal.Accident{Every: 3}, []int{2, 5}},
		"all":                   {rehearsal.Accident{}, []int{0, 1, 2, 3, 4, 5}},
		"the first that match":  {rehearsal.Accident{Match: hasTools, At: 1}, []int{1}},
		"the second that calls": {rehearsal.Accident{Calls: "weather", At: 2}, []int{3}},
		"none that calls":       {rehearsal.Accident{Calls: "book"}, nil},
	} {
		c.accident.Kind = rehearsal.Unavailable
		s := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{forecast}, Accidents: []rehearsal.Accident{c.accident}})
		var struck []int
		for i, body := range []string{plain, calling, plain, calling, calling, calling} {
			if post(s.Handler(), body).Code == 503 {
				struck = append(struck, i)
			}
		}
		if !slices.Equal(struck, c.want) || s.Calls() != 6 {
			t.Errorf("%s: struck %v of %d, want %v", name, struck, s.Calls(), c.want)
		}
	}
}

func TestARateLimitSaysHowLong(t *testing.T) {
	s := rehearsal.New(rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.RateLimited, RetryAfter: 1500 * time.Millisecond}}})
	if w := post(s.Handler(), plain); w.Code != 429 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
}

func TestASlowCompletionTakesItsDelay(t *testing.T) {
	var waited []time.Duration
	after := func(d time.Duration) <-chan time.Time {
		waited = append(waited, d)
		c := make(chan time.Time)
		close(c)
		return c
	}
	s := rehearsal.New(rehearsal.Options{After: after, Latency: time.Minute,
		Accidents: []rehearsal.Accident{{Kind: rehearsal.Slow, At: 1}, {Kind: rehearsal.Slow, At: 2, Delay: time.Hour}}})
	for range 3 {
		read(t, post(s.Handler(), plain))
	}
	if want := []time.Duration{time.Minute, time.Second, time.Minute, time.Hour, time.Minute}; !slices.Equal(waited, want) {
		t.Errorf("waited %v, want %v", waited, want)
	}
}

func TestProseIsOnlyEverTruncated(t *testing.T) {
	const prose = "Hello to you, and to everybody else."
	for _, kind := range []rehearsal.Kind{rehearsal.MalformedJSON, rehearsal.MendableJSON, rehearsal.Fenced, rehearsal.WrongType,
		rehearsal.UnknownFunction, rehearsal.EmptyArguments, rehearsal.ArgumentsObject, rehearsal.Truncated} {
		s := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{forecast}, Accidents: []rehearsal.Accident{{Kind: kind}}})
		got := read(t, post(s.Handler(), plain)).Choices[0].Message.Content
		if cut := len(got) < len(prose) && strings.HasPrefix(prose, got); cut != (kind == rehearsal.Truncated) || !cut && got != prose {
			t.Errorf("%s: got %q", kind, got)
		}
	}
}

func TestAStructuredReplyIsDamagedInItsText(t *testing.T) {
	rule := func(rehearsal.Request) (rehearsal.Reply, bool) { return rehearsal.Reply{Text: `{"city":"Oulu"}`}, true }
	for _, kind := range []rehearsal.Kind{rehearsal.MalformedJSON, rehearsal.MendableJSON, rehearsal.Fenced, rehearsal.Truncated} {
		s := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{rule}, Accidents: []rehearsal.Accident{{Kind: kind}}})
		if got := read(t, post(s.Handler(), plain)).Choices[0].Message.Content; json.Valid([]byte(got)) {
			t.Errorf("%s: got %q", kind, got)
		}
	}
}

func TestAnUnknownKindOfAccidentIsAMistakeAtSetUp(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was accepted")
		}
	}()
	rehearsal.New(rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: "flood"}}})
}
