package llm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

func TestTheEnvironmentPicksTheModel(t *testing.T) {
	for _, c := range []struct{ base, key, model, want string }{
		{"", "", "", "rehearsal: rules, not a language model"},
		{"", "", "gpt-9", "rehearsal: rules, not a language model"},
		{"", "k", "", "gpt-4.1-mini at api.openai.com"},
		{"http://localhost:11434/v1", "", "qwen3", "qwen3 at localhost:11434"},
		{"not a url", "", "m", "m at an unusable address"},
	} {
		t.Setenv("OPENAI_BASE_URL", c.base)
		t.Setenv("OPENAI_API_KEY", c.key)
		t.Setenv("PARLEY_MODEL", c.model)
		d, ok := llm.FromEnv().(llm.Describer)
		if !ok || d.Describe() != c.want {
			t.Errorf("%+v: got %v", c, d.Describe())
		}
	}
}

func TestARehearsedModelAnswersOnlyWhileItRuns(t *testing.T) {
	var m llm.Model = llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{says("hi")}}))
	s := m.(llm.Service)
	mute := func(when string) {
		t.Helper()
		var e *llm.Error
		if _, err := m.Complete(t.Context(), ask("?")); !errors.As(err, &e) || e.Kind != llm.ErrorUnavailable {
			t.Errorf("%s: got %v", when, err)
		}
	}
	mute("before start")
	for range 2 {
		for range 2 {
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := m.Complete(t.Context(), ask("?")); err != nil || got.Text != "hi" || got.Model != "rehearsal" {
			t.Errorf("got %+v, %v", got, err)
		}
		for range 2 {
			if err := s.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		mute("after stop")
	}
}
