package rehearsal_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// fetch starts a server with the accident, posts body to it and returns what came
// and whether the connection broke.
func fetch(t *testing.T, o rehearsal.Options, body string) (status int, answer string, broken bool) {
	t.Helper()
	o.Rules = []rehearsal.Rule{forecast}
	s := rehearsal.New(o)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	res, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	return res.StatusCode, string(read), err != nil
}

func streamed(body string) string {
	return strings.Replace(body, `"model"`, `"stream":true,"model"`, 1)
}

func TestAccidentsOfAStreamStrikeAfterItsFirstPiece(t *testing.T) {
	for _, c := range []struct {
		kind   rehearsal.Kind
		body   string
		broken bool
		error  bool
	}{
		{rehearsal.BrokenOff, streamed(plain), true, false},
		{rehearsal.BrokenOff, streamed(calling), true, false},
		{rehearsal.ErrorMidway, streamed(plain), false, true},
		{rehearsal.ErrorMidway, streamed(calling), false, true},
	} {
		o := rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: c.kind}}}
		status, got, broken := fetch(t, o, c.body)
		if status != 200 || broken != c.broken || strings.Contains(got, `{"error":`) != c.error {
			t.Errorf("%s: got %d %s, broken %v", c.kind, status, got, broken)
		}
		pieces := strings.Count(got, `"content":"Hello to you`) + strings.Count(got, `"name":"weather"`)
		if strings.Count(got, "chat.completion.chunk") != 2 || pieces != 1 || strings.Contains(got, "[DONE]") || strings.Contains(got, `"finish_reason":"`) {
			t.Errorf("%s: got %s", c.kind, got)
		}
	}
}

func TestAccidentsOfAStreamStrikeAWholeReplyToo(t *testing.T) {
	_, got, broken := fetch(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.BrokenOff}}}, plain)
	if !broken || got == "" || json.Valid([]byte(got)) {
		t.Errorf("broken off: got %s, broken %v", got, broken)
	}
	status, got, broken := fetch(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.ErrorMidway}}}, plain)
	if broken || status != 200 || !strings.HasPrefix(got, `{"error":`) {
		t.Errorf("error: got %d %s, broken %v", status, got, broken)
	}
}

func TestATrickledStreamWaitsBetweenItsChunks(t *testing.T) {
	var waited []time.Duration
	after := func(d time.Duration) <-chan time.Time {
		waited = append(waited, d)
		c := make(chan time.Time)
		close(c)
		return c
	}
	o := rehearsal.Options{After: after, Accidents: []rehearsal.Accident{{Kind: rehearsal.Trickled, Delay: time.Minute}}}
	_, got, _ := fetch(t, o, streamed(plain))
	if chunks := strings.Count(got, "chat.completion.chunk"); chunks != 4 || !slices.Equal(waited, slices.Repeat([]time.Duration{time.Minute}, chunks-1)) {
		t.Errorf("waited %v for %s", waited, got)
	}
	if !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("the stream does not end: %s", got)
	}
	waited = nil
	if _, _, _ = fetch(t, o, plain); !slices.Equal(waited, []time.Duration{time.Minute}) {
		t.Errorf("a whole reply waited %v", waited)
	}
}

func TestAStreamThatIsTruncatedSaysSo(t *testing.T) {
	for _, body := range []string{plain, calling} {
		_, got, broken := fetch(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.Truncated}}}, streamed(body))
		if broken || strings.Count(got, `"finish_reason":"length"`) != 1 || !strings.HasSuffix(got, "data: [DONE]\n\n") {
			t.Errorf("got %s", got)
		}
	}
}

func TestStopEndsATrickledStreamWithAnError(t *testing.T) {
	waiting := make(chan struct{})
	never := func(time.Duration) <-chan time.Time { close(waiting); return nil }
	s := rehearsal.New(rehearsal.Options{After: never, Accidents: []rehearsal.Accident{{Kind: rehearsal.Trickled}}})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer := make(chan string)
	url := s.URL()
	go func() {
		res, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(streamed(plain)))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		answer <- string(body)
	}()
	<-waiting
	stopped := make(chan error)
	go func() { stopped <- s.Stop(context.Background()) }()
	if got := <-answer; !strings.Contains(got, `data: {"error":`) {
		t.Errorf("got %s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAStreamDrawsTheIdsAndTheDamageOfTheWholeReply(t *testing.T) {
	var ids []string
	for _, stream := range []string{`"stream":false,`, `"stream":true,`, `"stream":true,"stream_options":{"include_usage":true},`} {
		body := `{"messages":[{"content":"hi","role":"user"}],"model":"m",` + stream + `"tools":[` + weather + `]}`
		body = strings.Replace(body, weather, `{"function":{"name":"weather"},"type":"function"}`, 1)
		_, got, _ := fetch(t, rehearsal.Options{Accidents: []rehearsal.Accident{{Kind: rehearsal.UnknownFunction}}}, body)
		_, after, _ := strings.Cut(got, `"id":"call_`)
		_, name, _ := strings.Cut(got, `"name":"`)
		ids = append(ids, after[:24]+name[:12])
	}
	if ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("got %v", ids)
	}
}
