package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the command as a process would and returns what it printed.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "PARLEY_MODEL"} {
		t.Setenv(name, "")
	}
	var out, errs bytes.Buffer
	c := command(strings.NewReader(""), &out)
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(io.Discard)
	code = exitCode(&errs, c.ExecuteContext(t.Context()))
	return out.String(), errs.String(), code
}

// broken is an output that takes nothing any more, such as a full disk.
type broken struct{}

var errBroken = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestAReportThatCannotBePrintedIsAnErrorInEveryFormat(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	for _, format := range []string{"text", "json"} {
		c := command(strings.NewReader(""), broken{})
		c.SetArgs([]string{sentence, "--yes", "-o", format, "--today", "2026-03-01", "--data", t.TempDir()})
		if err := c.ExecuteContext(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: got %v", format, err)
		}
	}
}

const sentence = "two of us from Helsinki to Lisbon on 12 March for 4 nights, under 900 euros"

func TestTheJSONOutputHasEveryPromisedMember(t *testing.T) {
	transcript := filepath.Join(t.TempDir(), "transcript.jsonl")
	out, errs, code := call(t, sentence, "--yes", "-o", "json", "--today", "2026-03-01", "--data", t.TempDir(),
		"--faults", "restart-hotel,drop-reply,bad-json,injection", "--transcript", transcript)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r struct {
		Status       string  `json:"status"`
		Question     *string `json:"question"`
		Conversation string  `json:"conversation"`
		Itinerary    struct {
			Flight struct {
				Reference string `json:"reference"`
			} `json:"flight"`
			Hotel struct {
				Reference string `json:"reference"`
			} `json:"hotel"`
			Total float64 `json:"total"`
		} `json:"itinerary"`
		Timeline []struct {
			At, From, To, Act, Protocol, State string
			Attempt                            int
		} `json:"timeline"`
		Effects []struct {
			Key, Kind string
			Times     int
		} `json:"effects"`
		Processes []struct {
			Agent string
			PID   int
		} `json:"processes"`
		Restarts []struct {
			Agent, Ended string
			PID, Next    int
		} `json:"restarts"`
		Usage map[string]int `json:"usage"`
		Trace string         `json:"trace_id"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if r.Status != "booked" || r.Question != nil || r.Conversation == "" || r.Trace == "" || r.Itinerary.Total <= 0 ||
		r.Itinerary.Flight.Reference == "" || r.Itinerary.Hotel.Reference == "" || r.Usage["input_tokens"] == 0 {
		t.Errorf("incomplete: %s", out)
	}
	for _, l := range r.Timeline {
		if l.At == "" || l.From == "" || l.To == "" || l.Act == "" || l.Protocol == "" || l.State == "" || l.Attempt < 1 {
			t.Errorf("incomplete line %+v", l)
		}
	}
	for _, e := range r.Effects {
		if e.Key == "" || e.Times != 1 {
			t.Errorf("effect %+v", e)
		}
	}
	if len(r.Processes) != 3 || len(r.Restarts) != 2 {
		t.Errorf("processes %+v, restarts %+v", r.Processes, r.Restarts)
	}
	data, err := os.ReadFile(transcript)
	if err != nil || bytes.Count(data, []byte("\n")) < 20 {
		t.Errorf("transcript of %d bytes, %v", len(data), err)
	}
}

func TestTheTextOutputBeginsWithTheItineraryAndSaysWhatTheModelIs(t *testing.T) {
	out, _, code := call(t, sentence, "--yes", "--today", "2026-03-01", "--data", t.TempDir())
	if code != 0 || !strings.HasPrefix(out, "Booked for EUR ") || !strings.Contains(out, "not a language model") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestExitCodesTellWhatWentWrong(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no sentence":          {[]string{}, 2, "say where"},
		"unknown fault":        {[]string{sentence, "--faults", "earthquake"}, 2, "earthquake"},
		"unknown output":       {[]string{sentence, "-o", "xml"}, 2, "xml"},
		"unknown flag":         {[]string{sentence, "--quickly"}, 2, "quickly"},
		"impossible day":       {[]string{sentence, "--today", "2026-02-30"}, 2, "2026-02-30"},
		"unknown conversation": {[]string{"yes", "--continue", "c-71"}, 3, "c-71"},
		"a question":           {[]string{"from Narnia to Lisbon tomorrow for 2 nights"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs, code := call(t, append(tt.args, "--data", dir)...)
			if code != tt.code || !strings.Contains(errs, tt.says) {
				t.Errorf("exit %d, %q; want %d and %q", code, errs, tt.code, tt.says)
			}
		})
	}
}

func TestAQuestionCanBeAnsweredByALaterCall(t *testing.T) {
	dir := t.TempDir()
	out, _, _ := call(t, "from Helsinki to Lisbon on 12 March for 2", "-o", "json", "--today", "2026-03-01", "--data", dir)
	for _, answer := range []string{"for 4 nights", "yes"} {
		var r struct{ Status, Conversation, Question string }
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Status != "needs-input" || r.Question == "" {
			t.Fatalf("%v in %s", err, out)
		}
		var code int
		if out, _, code = call(t, answer, "--continue", r.Conversation, "-o", "json", "--today", "2026-03-01", "--data", dir); code != 0 {
			t.Fatalf("exit %d", code)
		}
	}
	if !strings.Contains(out, `"status": "booked"`) {
		t.Errorf("the last answer gave %s", out)
	}
}
