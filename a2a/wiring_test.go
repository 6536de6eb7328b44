package a2a

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
)

// wires carries HTTP within the test: each host name leads to a handler, and
// nothing needs a socket, so that a synctest bubble holds all of it.
type wires struct {
	mu sync.Mutex
	to map[string]http.Handler
	// fault, if it is set, may answer a request itself, or fail it, before or,
	// once done is called, after the handler has answered.
	fault func(r *http.Request, body string, done func() *http.Response) (*http.Response, error)
}

func newWires() *wires { return &wires{to: map[string]http.Handler{}} }

// serve puts a handler at a host, nil takes the host down.
func (w *wires) serve(host string, h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to[host] = h
}

func (w *wires) spoil(f func(r *http.Request, body string, done func() *http.Response) (*http.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

var errRefused = errors.New("connection refused")

func (w *wires) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	w.mu.Lock()
	h, fault := w.to[r.URL.Host], w.fault
	w.mu.Unlock()
	if h == nil {
		return nil, errRefused
	}
	var failed error
	done := func() *http.Response {
		resp, err := answerOf(h, r, body)
		failed = err
		return resp
	}
	if fault != nil {
		if resp, err := fault(r, string(body), done); resp != nil || err != nil {
			return resp, err
		}
	}
	resp := done()
	return resp, failed
}

// answerOf is what a handler answers, which streams.
func answerOf(h http.Handler, r *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})))
	req := r.Clone(ctx)
	req.Body, req.RemoteAddr, req.RequestURI = io.NopCloser(bytes.NewReader(body)), "127.0.0.1:9999", r.URL.RequestURI()
	req.ContentLength = int64(len(body))
	if req.Host == "" {
		req.Host = r.URL.Host
	}
	read, write := io.Pipe()
	out := &piped{header: http.Header{}, to: write, begun: make(chan struct{})}
	go func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				out.WriteHeader(500)
				write.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			out.WriteHeader(200)
			write.Close()
		}()
		h.ServeHTTP(out, req)
	}()
	select {
	case <-out.begun:
	case <-r.Context().Done():
		read.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := context.AfterFunc(r.Context(), func() { read.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: out.status, Header: out.sent, Body: &pipedBody{read, func() { stop(); cancel() }}, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

type pipedBody struct {
	*io.PipeReader
	closed func()
}

func (b *pipedBody) Close() error {
	b.closed()
	return b.PipeReader.Close()
}

type piped struct {
	header, sent http.Header
	status       int
	to           *io.PipeWriter
	begun        chan struct{}
	once         sync.Once
}

func (p *piped) Header() http.Header { return p.header }
func (p *piped) WriteHeader(status int) {
	p.once.Do(func() {
		p.status, p.sent = status, p.header.Clone()
		close(p.begun)
	})
}
func (p *piped) Write(b []byte) (int, error) {
	p.WriteHeader(200)
	return p.to.Write(b)
}
func (p *piped) Flush()                           {}
func (p *piped) SetWriteDeadline(time.Time) error { return nil }
func (p *piped) SetReadDeadline(time.Time) error  { return nil }

// reworded is the response with another word for the first of these.
func reworded(resp *http.Response, from, to string) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), from, to, 1)))
	return resp, err
}

// canned is a response.
func canned(status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// altered is a service that shows tasks otherwise than they are.
type altered struct {
	wire.Service
	alter func(t *wire.Task)
}

func (s altered) GetTask(ctx context.Context, c wire.Call, r *wire.GetTaskRequest) (*wire.Task, error) {
	t, err := s.Service.GetTask(ctx, c, r)
	if err == nil {
		s.alter(t)
	}
	return t, err
}

func (s altered) ListTasks(ctx context.Context, c wire.Call, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	list, err := s.Service.ListTasks(ctx, c, r)
	if err == nil {
		for i := range list.Tasks {
			s.alter(&list.Tasks[i])
		}
	}
	return list, err
}

// serving is a host that is served at a host name.
type serving struct {
	*agent.Host
	server *Server
}

func (w *wires) start(t *testing.T, on agent.Config, host string, agents ...*agent.Agent) *serving {
	t.Helper()
	return w.startWith(t, on, Config{}, host, agents...)
}

// startWith is start with a server of the given configuration.
func (w *wires) startWith(t *testing.T, on agent.Config, cfg Config, host string, agents ...*agent.Agent) *serving {
	t.Helper()
	if on.Store == nil {
		on.Store = memory.New()
	}
	on.Log, on.Drain = slog.New(slog.DiscardHandler), -1
	s := &serving{Host: agent.NewHost(on, agents...)}
	var err error
	cfg.BaseURL, cfg.Log, cfg.AllowPrivateWebhooks = "http://"+host, on.Log, true
	if s.server, err = NewServer(s.Host, cfg); err != nil {
		t.Fatal(err)
	}
	s.server.agents[0].service.(*service).to.client.Transport = w // of all of them
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.serve(host, s.server.Handler())
	t.Cleanup(func() { s.end(t) })
	return s
}

func (s *serving) end(t *testing.T) {
	t.Helper()
	s.server.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// dialling is a configuration that dials over the wires.
func (w *wires) dialling(cfg DialConfig) DialConfig {
	cfg.Client.Transport = w
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// discard loses an answer; there is none if whoever asked has gone.
func discard(r *http.Response) {
	if r != nil {
		r.Body.Close()
	}
}
