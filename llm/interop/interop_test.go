// Package interop puts the rehearsal endpoint before a client that was not written
// for it: the npm package openai.
package interop

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm/rehearsal"
)

const key = "a key of the test"

// answers is the rule: it knows three questions and says hello to the rest.
func answers(r rehearsal.Request) (rehearsal.Reply, bool) {
	weather, told := r.Result("weather")
	switch {
	case told:
		return rehearsal.Reply{Text: "It is " + weather + "."}, true
	case r.Offers("weather"):
		return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "weather", Arguments: map[string]any{"city": "Oulu, beside the river of that name"}}}}, true
	case r.Output != nil:
		return rehearsal.Reply{Text: `{"city":"Oulu","days":14}`}, true
	}
	return rehearsal.Reply{Text: "Hello to you, and to everybody else."}, true
}

// befalls makes an accident strike the question of its name.
func befalls(question string, kind rehearsal.Kind) rehearsal.Accident {
	return rehearsal.Accident{Kind: kind, RetryAfter: 7 * time.Second, Match: func(r rehearsal.Request) bool {
		return r.Last(rehearsal.User).Text == question
	}}
}

func TestTheNpmClientUnderstandsTheRehearsalEndpoint(t *testing.T) {
	dir := install(t)
	server := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{answers}, Key: key, Accidents: []rehearsal.Accident{
		befalls("limited", rehearsal.RateLimited), befalls("unavailable", rehearsal.Unavailable), befalls("midway", rehearsal.ErrorMidway),
	}})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	var got map[string]any
	if err := json.Unmarshal(run(t, dir, "node", "client.mjs", server.URL(), key), &got); err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]string{
		"models":        `["rehearsal"]`,
		"chat":          `{"text":"Hello to you, and to everybody else.","finish":"stop","usage":{"prompt_tokens":2,"completion_tokens":9,"total_tokens":11}}`,
		"stream":        `{"text":"Hello to you, and to everybody else.","pieces":2,"finish":"stop","usage":{"prompt_tokens":2,"completion_tokens":9,"total_tokens":11}}`,
		"call":          `{"name":"weather","arguments":{"city":"Oulu, beside the river of that name"},"finish":"tool_calls","text":"It is snow."}`,
		"streamedCall":  `{"name":"weather","arguments":{"city":"Oulu, beside the river of that name"},"finish":"tool_calls","fragments":2}`,
		"runTools":      `{"text":"It is snow.","seen":["Oulu, beside the river of that name"]}`,
		"structured":    `{"city":"Oulu","days":14}`,
		"cut":           `{"error":"LengthFinishReasonError"}`,
		"unauthorized":  `{"error":"AuthenticationError","status":401,"type":"invalid_request_error"}`,
		"invalid":       `{"error":"BadRequestError","status":400,"type":"invalid_request_error","param":"messages"}`,
		"limited":       `{"error":"RateLimitError","status":429,"type":"rate_limit_error","retryAfter":"7"}`,
		"limitedStream": `{"error":"RateLimitError","status":429,"type":"rate_limit_error","retryAfter":"7"}`,
		"unavailable":   `{"error":"InternalServerError","status":503,"type":"server_error"}`,
		"midway":        `{"text":"Hello to you, and to eve","apiError":true}`,
	} {
		t.Run(question, func(t *testing.T) {
			var expected any
			if err := json.Unmarshal([]byte(want), &expected); err != nil {
				t.Fatal(err)
			}
			answer, _ := got[question].(map[string]any)
			message := answer["message"] // the client's own words
			delete(answer, "message")
			for member, value := range answer {
				if value == nil {
					delete(answer, member)
				}
			}
			if !reflect.DeepEqual(got[question], expected) {
				t.Errorf("got %v (%v), want %v", got[question], message, expected)
			}
		})
		delete(got, question)
	}
	if len(got) > 0 {
		t.Errorf("nothing is expected of %v", got)
	}
}

// install puts the client, as the lock file has it, into a folder outside this
// repository and returns the folder.
func install(t *testing.T) string {
	t.Helper()
	if os.Getenv("PARLEY_INTEROP") != "1" {
		t.Skip("set PARLEY_INTEROP=1 to test with the npm client, which is fetched from the npm registry")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "npm", "ci", "--ignore-scripts")
	return dir
}

// run runs a program in dir and returns what it printed.
func run(t *testing.T, dir, program string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var complaints strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = dir, &complaints
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", program, err, complaints.String(), printed)
	}
	return printed
}

func TestTheLockFileNamesNoRegistry(t *testing.T) {
	data, err := os.ReadFile("testdata/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 3 {
		t.Fatalf("only %d packages are locked", len(lock.Packages))
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" || name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%q: resolved %q, integrity %q", name, p.Resolved, p.Integrity)
		}
	}
}
