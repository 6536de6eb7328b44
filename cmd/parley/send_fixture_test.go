package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

var (
	lookUp   = protocol.Query[question, reply]("acme.weather.now/v1")
	bookSeat = protocol.Request[seat, booking]("acme.seat.book/v1")
)

type seat struct {
	Row int `json:"row" jsonschema:"minimum=1"`
}

type booking struct {
	Side string `json:"side"`
}

// desk is an agent that talks, when it may begin, looks things up and books seats,
// which it asks back about.
func desk(begin func()) *agent.Agent {
	return agent.New("desk",
		agent.Handle(protocol.Chat(), func(_ context.Context, s protocol.Said) (protocol.Said, error) {
			begin()
			if s.Text == "fail" {
				return protocol.Said{}, agent.Refuse("permanent", "no-idea")
			}
			return protocol.Said{Text: "You said: " + s.Text}, nil
		}),
		agent.Handle(lookUp, func(_ context.Context, q question) (reply, error) { return reply{Sky: "grey"}, nil }),
		agent.Handle(bookSeat, func(ctx context.Context, s seat) (booking, error) {
			a, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Window or aisle?", Choices: []string{"window", "aisle"}})
			return booking{Side: a.Choice}, err
		}))
}

// serveDesk serves the desk on loopback and returns its URL.
func serveDesk(t *testing.T, change func(*a2a.Config, *agent.Host)) string {
	t.Helper()
	return serveAgent(t, desk(func() {}), change, func(h http.Handler) http.Handler { return h })
}

// servePatientDesk serves a desk that answers only when somebody who listens has
// been told that the task is there.
func servePatientDesk(t *testing.T) string {
	t.Helper()
	told := make(chan struct{}, 1)
	return serveAgent(t, desk(func() { <-told }), nil, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(&telling{ResponseWriter: w, told: told}, r)
		})
	})
}

// telling says when the first event of a stream was written, after nothing which begins it.
type telling struct {
	http.ResponseWriter
	told chan<- struct{}
}

func (w *telling) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if n > 0 && w.told != nil && w.Header().Get("Content-Type") == wire.EventsType {
		w.told <- struct{}{}
		w.told = nil
	}
	return n, err
}

func (w *telling) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func serveAgent(t *testing.T, a *agent.Agent, change func(*a2a.Config, *agent.Host), around func(http.Handler) http.Handler) string {
	t.Helper()
	h := newHost(t, filepath.Join(t.TempDir(), "desk.db"), a)
	must(t, h.Start(t.Context()))
	t.Cleanup(func() { must(t, h.Stop(context.WithoutCancel(t.Context()))) })
	var cfg a2a.Config
	if change != nil {
		change(&cfg, h)
	}
	s, err := a2a.NewServer(h, cfg)
	must(t, err)
	site := httptest.NewServer(around(s.Handler()))
	t.Cleanup(func() { s.Close(); site.Close() })
	return site.URL
}

// foreign serves an agent that knows no Parley: what it answers by the path.
func foreign(t *testing.T, answers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	if answers[wire.CardPath] == nil {
		card := wire.AgentCard{Name: "stranger", Description: "says little", Version: "7",
			SupportedInterfaces: []wire.AgentInterface{{URL: site.URL, ProtocolBinding: "GRPC", ProtocolVersion: "1.0"},
				{URL: site.URL, ProtocolBinding: wire.HTTPJSON, ProtocolVersion: "1.0"}},
			DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
			Skills: []wire.Skill{{ID: "talk", Name: "Talk", Description: "Talks \x1b[2J.", Tags: []string{"small"}}}}
		mux.HandleFunc(wire.CardPath, says(http.StatusOK, string(wire.Encode(&card))))
	}
	for path, f := range answers {
		mux.HandleFunc(path, f)
	}
	return site.URL
}

// says answers with the same each time.
func says(status int, body string) http.HandlerFunc {
	media := "application/json"
	if strings.HasPrefix(body, "data:") {
		media = wire.EventsType
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// taskJSON is a task in that state, with further members.
func taskJSON(state, more string) string {
	return `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `"` + more + `}`
}

// steady replaces what differs from one run to the next.
func steady(text string) string {
	for pattern, name := range map[string]string{
		`http://127\.0\.0\.1:[0-9]+`:                     "URL",
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f-]+`: "UUID",
		`\b[a-z2-7]{32}\b`:                               "TASK",
		`[0-9-]{10}T[0-9:]{8}(\.[0-9]+)?Z`:               "TIME",
		`SHA256:[A-Za-z0-9+/]{43}`:                       "FINGERPRINT",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	return text
}

// taskID is the id of the task that -o json printed.
func taskID(t *testing.T, stdout string) string {
	t.Helper()
	var answer struct{ Task struct{ ID string } }
	must(t, json.Unmarshal([]byte(stdout), &answer))
	return answer.Task.ID
}
