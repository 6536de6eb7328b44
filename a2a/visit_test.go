package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

func TestAPanicStaysInTheLogAndTheClientHasItsIncident(t *testing.T) {
	var log bytes.Buffer
	boom := func() { panic("secret of the agent") }
	s := newSite(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, &scripted{
		send: func(context.Context, *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
			boom()
			return nil, nil
		},
		stream: func(context.Context, wire.Call) (events, error) { boom(); return nil, nil },
	})
	for _, r := range []reply{s.ask("POST", "/message:send", aMessage), s.ask("GET", "/tasks/t:subscribe", "")} {
		e := r.expect(t, http.StatusInternalServerError, wire.Internal)
		id := e.Info["incident"]
		if id == "" || id != r.Header.Get("X-Request-Id") || strings.Contains(r.body, "secret") || strings.Contains(r.body, "goroutine") {
			t.Errorf("the client is told %s", r.body)
		}
		if got := log.String(); !strings.Contains(got, id) || !strings.Contains(got, "secret of the agent") || !strings.Contains(got, "visit_test.go") {
			t.Errorf("the log has %s", got)
		}
	}
	s.rpc("/", wire.SendMessage, aMessage).expect(t, http.StatusOK, wire.Internal)
}

func TestAnAbortCutsTheConnection(t *testing.T) {
	s := newSite(t, Config{}, &scripted{
		get: func(context.Context, *wire.GetTaskRequest) (*wire.Task, error) { panic(http.ErrAbortHandler) },
		stream: streaming(func(yield func(wire.Event, error) bool) {
			yield(update(0, "a"), nil)
			panic(http.ErrAbortHandler)
		}),
	})
	for _, path := range []string{"/tasks/t1", "/tasks/t1:subscribe"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("A2A-Version", "1.0")
		resp, err := s.http.Client().Do(r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the answer looks whole", path)
		}
	}
}

func TestAFaultOfTheServerStaysInTheLog(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, &scripted{
		get: func(context.Context, *wire.GetTaskRequest) (*wire.Task, error) {
			return nil, fmt.Errorf("reading /var/lib/parley.db: %w", errors.New("disk on fire"))
		},
	})
	for _, r := range []reply{s.ask("GET", "/tasks/t", ""), s.rpc("/", wire.GetTask, `{"id":"t"}`)} {
		if e := r.fault(t); e == nil || e.Kind != wire.Internal || strings.Contains(r.body, "fire") || strings.Contains(r.body, "parley.db") {
			t.Errorf("the client is told %s", r.body)
		}
		if got := log.String(); !strings.Contains(got, "disk on fire") || !strings.Contains(got, r.Header.Get("X-Request-Id")) {
			t.Errorf("the log has %s", got)
		}
	}
}

func TestAnErrorForTheClientReachesItWhole(t *testing.T) {
	s := newSite(t, Config{}, &scripted{get: func(context.Context, *wire.GetTaskRequest) (*wire.Task, error) {
		return nil, fmt.Errorf("looking: %w", &wire.Error{Kind: wire.TaskNotFound, Message: "no such task", Field: "id"})
	}})
	for status, r := range map[int]reply{404: s.ask("GET", "/tasks/t", ""), 200: s.rpc("/", wire.GetTask, `{"id":"t"}`)} {
		if e := r.expect(t, status, wire.TaskNotFound); e.Message != "no such task" || e.Field != "id" {
			t.Errorf("got %+v", e)
		}
	}
}

func TestACallThatItsClientBrokeOffIsNoIncident(t *testing.T) {
	var log bytes.Buffer
	s := scriptedServer(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, &scripted{
		get: func(ctx context.Context, _ *wire.GetTaskRequest) (*wire.Task, error) { return nil, context.Cause(ctx) },
	})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/tasks/t1", nil)
	r.Header.Set(wire.VersionHeader, wire.Version)
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	// One who only says that no more comes from it still reads.
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "incident") || log.Len() > 0 {
		t.Errorf("got %d %s, and the log has %s", w.Code, w.Body, &log)
	}
}

func TestADiskThatIsFullIsNoIncidentWhateverWasToBeWritten(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, &scripted{
		get: func(context.Context, *wire.GetTaskRequest) (*wire.Task, error) {
			return nil, fmt.Errorf("writing: %w: secret", store.ErrFull)
		},
	})
	r := s.ask("GET", "/tasks/t1", "")
	r.expect(t, http.StatusServiceUnavailable, wire.Unavailable)
	if strings.Contains(r.body, "secret") || !strings.Contains(log.String(), "secret") {
		t.Errorf("the client is told %s, the operator %s", r.body, &log)
	}
}
