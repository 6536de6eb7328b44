package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// scripted is a service of functions, one for each operation; one that is nil
// answers with something plain. called is told each operation with its call.
type scripted struct {
	called func(m wire.Method, c wire.Call, r wire.Object)
	send   func(ctx context.Context, r *wire.SendMessageRequest) (*wire.SendMessageResponse, error)
	stream func(ctx context.Context, c wire.Call) (events, error)
	get    func(ctx context.Context, r *wire.GetTaskRequest) (*wire.Task, error)
}

func (s *scripted) note(m wire.Method, c wire.Call, r wire.Object) {
	if s.called != nil {
		s.called(m, c, r)
	}
}

func aTask(id string) *wire.Task {
	return &wire.Task{ID: id, ContextID: "ctx", Status: wire.TaskStatus{State: wire.Working}}
}

func (s *scripted) SendMessage(ctx context.Context, c wire.Call, r *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
	s.note(wire.SendMessage, c, r)
	if s.send != nil {
		return s.send(ctx, r)
	}
	return &wire.SendMessageResponse{Task: aTask("t1")}, nil
}

func (s *scripted) SendStreamingMessage(ctx context.Context, c wire.Call, r *wire.SendMessageRequest) (events, error) {
	s.note(wire.SendStreamingMessage, c, r)
	return s.follow(ctx, c)
}

func (s *scripted) SubscribeToTask(ctx context.Context, c wire.Call, r *wire.SubscribeRequest) (events, error) {
	s.note(wire.SubscribeToTask, c, r)
	return s.follow(ctx, c)
}

func (s *scripted) follow(ctx context.Context, c wire.Call) (events, error) {
	if s.stream != nil {
		return s.stream(ctx, c)
	}
	return func(yield func(wire.Event, error) bool) {
		yield(wire.Event{ID: "1", Response: wire.StreamResponse{Task: aTask("t1")}}, nil)
	}, nil
}

func (s *scripted) GetTask(ctx context.Context, c wire.Call, r *wire.GetTaskRequest) (*wire.Task, error) {
	s.note(wire.GetTask, c, r)
	if s.get != nil {
		return s.get(ctx, r)
	}
	return aTask(r.ID), nil
}

func (s *scripted) ListTasks(_ context.Context, c wire.Call, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	s.note(wire.ListTasks, c, r)
	return &wire.ListTasksResponse{Tasks: []wire.Task{*aTask("t1")}, PageSize: 50, TotalSize: 1}, nil
}

func (s *scripted) CancelTask(_ context.Context, c wire.Call, r *wire.CancelTaskRequest) (*wire.Task, error) {
	s.note(wire.CancelTask, c, r)
	return aTask(r.ID), nil
}

func (s *scripted) CreatePushConfig(_ context.Context, c wire.Call, r *wire.PushConfig) (*wire.PushConfig, error) {
	s.note(wire.CreatePushConfig, c, r)
	return r, nil
}

func (s *scripted) GetPushConfig(_ context.Context, c wire.Call, r *wire.PushConfigRequest) (*wire.PushConfig, error) {
	s.note(wire.GetPushConfig, c, r)
	return &wire.PushConfig{ID: r.ID, TaskID: r.TaskID, URL: "https://hook.example"}, nil
}

func (s *scripted) ListPushConfigs(_ context.Context, c wire.Call, r *wire.ListPushConfigsRequest) (*wire.ListPushConfigsResponse, error) {
	s.note(wire.ListPushConfigs, c, r)
	return &wire.ListPushConfigsResponse{}, nil
}

func (s *scripted) DeletePushConfig(_ context.Context, c wire.Call, r *wire.PushConfigRequest) error {
	s.note(wire.DeletePushConfig, c, r)
	return nil
}

func (s *scripted) GetExtendedAgentCard(context.Context, wire.Call, *wire.ExtendedCardRequest) (*wire.AgentCard, error) {
	return nil, wire.Errorf(wire.UnsupportedOperation, "the server answers this itself")
}

// scriptedServer serves flights (at the root too) and hotels.
func scriptedServer(t testing.TB, cfg Config, s *scripted) *Server {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	card := func(name string) func() (*wire.AgentCard, error) {
		return func() (*wire.AgentCard, error) {
			return &wire.AgentCard{Name: name, Description: "sells " + name, Version: "1",
				Capabilities:      wire.Capabilities{Extensions: []wire.AgentExtension{{URI: "urn:known"}}},
				DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
				Skills: []wire.Skill{{ID: "sell", Name: "sell", Description: "sells", Tags: []string{"sale"}}}}, nil
		}
	}
	var ids atomic.Int64
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	srv, err := newServer(cfg, func() time.Time { return now }, func() string { return fmt.Sprintf("id-%d", ids.Add(1)) },
		&served{name: "flights", uri: "agent://local/flights", service: s, describe: card("flights"), sign: unsigned},
		&served{name: "hotels", uri: "agent://local/hotels", service: s, describe: card("hotels"), sign: unsigned})
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func unsigned(*wire.AgentCard) error { return nil }

// site is a scripted server behind a real listener.
type site struct {
	t      testing.TB
	server *Server
	http   *httptest.Server
}

func newSite(t testing.TB, cfg Config, s *scripted) *site {
	t.Helper()
	srv := scriptedServer(t, cfg, s)
	ts := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		srv.Close()
		ts.Close()
	})
	return &site{t: t, server: srv, http: ts}
}

// reply is an answer, read whole.
type reply struct {
	*http.Response
	body string
}

// ask sends one request. Headers come as pairs; without "A2A-Version" among
// them it is 1.0, and with an empty value the header is not sent.
func (s *site) ask(method, path, body string, headers ...string) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set(wire.VersionHeader, wire.Version)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
			if http.CanonicalHeaderKey(name) == "A2a-Version" || name == "Content-Type" {
				r.Header.Set(name, value)
			}
		}
	}
	return s.do(r)
}

func (s *site) do(r *http.Request) reply {
	s.t.Helper()
	resp, err := s.http.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{resp, string(b)}
}

// rpc calls a method of JSON-RPC at the path.
func (s *site) rpc(path string, m wire.Method, params string, headers ...string) reply {
	s.t.Helper()
	return s.ask("POST", path, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, m, params), headers...)
}

// fault is the error of an answer in either binding, nil if it has none.
func (r reply) fault(t testing.TB) *wire.Error {
	t.Helper()
	body := []byte(r.body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), wire.EventsType) {
		_, data, _ := strings.Cut(r.body, "data: ")
		body = []byte(strings.TrimSpace(data))
	}
	var shape struct {
		JSONRPC string          `json:"jsonrpc"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &shape); err != nil {
		t.Fatalf("answer %d %q is not JSON: %v", r.StatusCode, r.body, err)
	}
	switch {
	case shape.Error == nil:
		return nil
	case shape.JSONRPC != "":
		var into wire.Empty
		e, _ := wire.DecodeAnswer(bytes.Replace(body, []byte(`"id":7`), []byte(`"id":"7"`), 1), "7", &into).(*wire.Error)
		return e
	}
	return wire.DecodeStatus(r.StatusCode, body)
}

// expect fails the test unless the answer is an error of the kind with the
// status.
func (r reply) expect(t testing.TB, status int, kind wire.Kind) *wire.Error {
	t.Helper()
	e := r.fault(t)
	if e == nil {
		t.Fatalf("got %d %s, want an error of kind %s", r.StatusCode, r.body, kind)
	}
	if r.StatusCode != status || e.Kind != kind {
		t.Fatalf("got %d %s (%s), want %d %s", r.StatusCode, e.Kind, r.body, status, kind)
	}
	return e
}

const aMessage = `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`

// raw is a value as JSON.
func raw(v any) json.RawMessage { return must(json.Marshal(v)) }
