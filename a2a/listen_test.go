package a2a

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestAServerWithoutAuthenticationListensOnLoopbackOnly(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	some := []Authenticator{BearerTokens(Secrets(nil))}
	for _, c := range []struct {
		addr    string
		cfg     Config
		exposed bool
	}{
		{"127.0.0.1:0", Config{}, false}, {"localhost:0", Config{}, false},
		{"0.0.0.0:0", Config{}, true}, {":0", Config{}, true},
		{":0", Config{Authenticate: some}, false}, {":0", Config{AllowAnonymous: true}, false},
	} {
		var listen net.ListenConfig
		ln, err := listen.Listen(t.Context(), "tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		err = scriptedServer(t, c.cfg, &scripted{}).Serve(ended, ln)
		e, exposed := errors.AsType[*ExposedError](err)
		if exposed != c.exposed || !exposed && err != nil || exposed && !strings.Contains(e.Error(), e.Addr) {
			t.Errorf("%s, %d authenticators: %v", c.addr, len(c.cfg.Authenticate), err)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the listener is still open: %v", c.addr, err)
		}
	}
}

func TestListeningWhereOneCannotIsAnError(t *testing.T) {
	if err := scriptedServer(t, Config{}, &scripted{}).ListenAndServe(t.Context(), "localhost:nowhere"); err == nil {
		t.Error("want an error")
	}
}

func TestSlowClientsAreBoundedByTheHTTPServer(t *testing.T) {
	srv := scriptedServer(t, Config{Timeouts: Timeouts{Header: time.Second, Idle: time.Minute}}, &scripted{}).httpServer(nil)
	if srv.ReadHeaderTimeout != time.Second || srv.IdleTimeout != time.Minute || srv.MaxHeaderBytes != 64<<10 {
		t.Errorf("got %+v", srv)
	}
	if srv.WriteTimeout != 0 || srv.ReadTimeout != 0 {
		t.Error("a time limit for whole requests ends every stream")
	}
}

func TestRequestsInProgressFinishWhenTheServerEnds(t *testing.T) {
	s := &scripted{get: func(ctx context.Context, r *wire.GetTaskRequest) (*wire.Task, error) {
		select {
		case <-time.After(5 * time.Second):
			return aTask(r.ID), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	for shutdown, want := range map[time.Duration]bool{0: true, time.Second: false} {
		inBubble(t, Config{Timeouts: Timeouts{Shutdown: shutdown}}, s, func(b *bubble) {
			answered := make(chan bool)
			go func() {
				r, _ := http.NewRequestWithContext(b.t.Context(), "GET", "http://localhost/tasks/t1", nil)
				r.Header.Set("A2A-Version", "1.0")
				resp, err := b.client.Do(r)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				answered <- err == nil && resp.StatusCode == http.StatusOK
			}()
			time.Sleep(time.Second) // of the bubble's time: the request is in progress
			go func() { _ = b.stop() }()
			if got := <-answered; got != want {
				b.t.Errorf("with %v to finish: answered %v", shutdown, got)
			}
		})
	}
}

func TestAHandlerServesBelowAPrefix(t *testing.T) {
	srv := scriptedServer(t, Config{}, &scripted{})
	mux := http.NewServeMux()
	mux.Handle("/a2a/", http.StripPrefix("/a2a", srv.Handler()))
	mux.Handle("/a2a", http.StripPrefix("/a2a", srv.Handler()))
	e := echo.New()
	srv.Mount(e.Group("/a2a"))
	deep := echo.New()
	srv.Mount(deep.Group("/:tenant/v1").Group("/a2a"))
	for name, c := range map[string]struct {
		handler http.Handler
		prefix  string
	}{"net/http": {mux, "/a2a"}, "echo": {e, "/a2a"}, "echo with a parameter": {deep, "/x/v1/a2a"}, "root": {srv.Handler(), ""}} {
		t.Run(name, func(t *testing.T) {
			ts := httptest.NewServer(c.handler)
			defer ts.Close()
			s := &site{t: t, server: srv, http: ts}
			for _, path := range []string{"", "/", "/hotels", "/hotels/"} {
				if r := s.rpc(c.prefix+path, wire.ListTasks, `{}`); r.StatusCode != http.StatusOK || r.fault(t) != nil {
					t.Errorf("POST %q: %d %s", path, r.StatusCode, r.body)
				}
			}
			for _, id := range []string{"t1", "a%2Fb", "a%20b", "100%25", "a:b", "%C3%A9"} {
				r := s.ask("GET", c.prefix+"/hotels/tasks/"+id, "")
				var task wire.Task
				if err := wire.Decode([]byte(r.body), &task); err != nil || strings.Contains(task.ID, "%2") {
					t.Errorf("task %s: %d %s", id, r.StatusCode, r.body)
				}
			}
			if r := s.ask("GET", c.prefix+"/tasks/a%2Fb:subscribe", ""); r.StatusCode != http.StatusOK {
				t.Errorf("subscribing: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

func TestAnAgentOfAProtocolsPathCannotBeServed(t *testing.T) {
	for name, agents := range map[string][]*served{"none": nil, "tasks": {{name: "tasks", uri: "agent://local/tasks"}}} {
		if _, err := newServer(Config{}, nil, nil, agents...); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestABaseURLThatIsNoneIsAFaultOfTheConfiguration(t *testing.T) {
	for _, u := range []string{"x.example", "ftp://x.example", "http://", "http://u@x.example", "https://x.example/?a=b", "https://x.example/#a", "http://[::1"} {
		if _, err := newServer(Config{BaseURL: u}, nil, nil, &served{name: "a", uri: "agent://local/a"}); err == nil {
			t.Errorf("%s: want an error", u)
		}
	}
}
