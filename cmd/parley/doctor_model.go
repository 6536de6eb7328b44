package main

import (
	"context"
	"net"
	"net/url"
	"os"

	"github.com/parley-agents/parley/llm"
)

// modelSettings looks at the environment only.
func modelSettings() finding {
	f := finding{"model.settings", statusOK, describe(llm.FromEnv()), ""}
	base, key := os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY")
	if base == "" {
		if key == "" {
			f.Hint = "for a language model, set OPENAI_BASE_URL or OPENAI_API_KEY"
		}
		return f
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		f.Status, f.Text = statusFail, "OPENAI_BASE_URL is not an http or https URL"
		f.Hint = "set it to what stands before /chat/completions"
	case u.Scheme == "http" && key != "" && !loopback(u.Hostname()):
		f.Status, f.Hint = statusWarn, "the key would cross the network in the clear: use https"
	}
	return f
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func describe(m llm.Model) string {
	if d, ok := m.(llm.Describer); ok {
		return d.Describe()
	}
	return "a model"
}

// modelAnswer makes one call.
func modelAnswer(ctx context.Context) finding {
	f := finding{"model.answer", statusOK, "the endpoint answers", ""}
	client, ok := llm.FromEnv().(*llm.Client)
	if !ok {
		f.Text = "nothing to call: the model is rehearsed"
		return f
	}
	_, err := client.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.RoleUser, Text: "Answer with the word ok."}},
		MaxTokens: 16,
	})
	if err != nil {
		f.Status, f.Text = statusFail, err.Error()
		f.Hint = "check OPENAI_BASE_URL, OPENAI_API_KEY and PARLEY_MODEL"
	}
	return f
}
