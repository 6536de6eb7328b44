package a2a

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/parley-agents/parley/a2a/wire"
)

// Server serves the agents of a host over A2A: each under /<name>/ with its
// card, and the first one at the root too, in JSON-RPC and in HTTP+JSON. Its
// methods may be called at once by several goroutines.
type Server struct {
	cfg       Config
	authority string
	agents    []*served // the first is the root's
	names     map[string]*served
	// unknown is the URI of callers who are not authenticated.
	unknown    string
	gate       *gate
	quota      *quota
	procedures map[wire.Method]procedure
	now        func() time.Time
	newID      func() string

	// open ends, and with it every stream, when the server is closed.
	open  context.Context
	close context.CancelFunc
}

// served is one agent as the server sees it.
type served struct {
	name, uri string
	service   wire.Service
	// describe makes the card, but for what the server itself knows: interfaces,
	// security and capabilities. sign signs a card for the agent.
	describe func() (*wire.AgentCard, error)
	sign     func(*wire.AgentCard) error
	cards    cardCache
}

// newServer serves the agents, at least one, in that order.
func newServer(cfg Config, now func() time.Time, newID func() string, agents ...*served) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("making an A2A server: %w", err)
	}
	if len(agents) == 0 {
		return nil, errors.New("making an A2A server: there is no agent to serve")
	}
	s := &Server{cfg: cfg.withDefaults(), agents: agents, names: map[string]*served{}, now: now, newID: newID}
	s.authority, _, _ = strings.Cut(strings.TrimPrefix(agents[0].uri, "agent://"), "/")
	s.unknown = "agent://" + s.authority + "/" + anonymous
	for _, a := range agents {
		if a.name == "tasks" {
			return nil, errors.New(`making an A2A server: an agent named "tasks" cannot be served: the protocol has that path`)
		}
		if isGiven(a.uri, a.uri) {
			return nil, fmt.Errorf("making an A2A server: an agent named %q cannot be served: callers are called so", a.name)
		}
		s.names[a.name] = a
	}
	var err error
	if s.gate, err = newGate(s.cfg); err != nil {
		return nil, fmt.Errorf("making an A2A server: %w", err)
	}
	s.quota = newQuota(s.cfg)
	s.procedures = procedures()
	s.open, s.close = context.WithCancel(context.Background())
	return s, nil
}

// Handler is the server as a handler for net/http. Under a prefix it needs
// http.StripPrefix, and Config.BaseURL with the prefix; an http.ServeMux must be
// given the prefix with and without a slash at its end, else it redirects calls
// of the first agent, which clients do not follow. What bounds the headers of a
// request is the http.Server's.
func (s *Server) Handler() http.Handler {
	e := echo.New()
	s.Mount(e.Group(""))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" { // what StripPrefix leaves of the prefix itself
			u := *r.URL
			u.Path, u.RawPath = "/", ""
			r = r.WithContext(r.Context())
			r.URL = &u
		}
		e.ServeHTTP(w, r)
	})
}

// Mount serves everything below the group, whose middleware runs before. Then
// Config.BaseURL must have the group's prefix. A middleware that buffers answers
// stops the streams.
func (s *Server) Mount(g *echo.Group) {
	g.Any("", s.serve)
	g.Any("/*", s.serve)
	g.RouteNotFound("", s.serve) // by a method that Any does not know
	g.RouteNotFound("/*", s.serve)
}

// Close ends every stream and every call that waits for its task, and refuses new
// streams: their clients are told to come back. An http.Server that a handler was given to waits for its requests in
// Shutdown, so it should be told: srv.RegisterOnShutdown(s.Close). Closing twice
// is no error.
func (s *Server) Close() { s.close() }

// serve answers one request of echo's. It never gives an error: whatever
// handler of errors the user's echo has, callers see the protocol's.
func (s *Server) serve(c echo.Context) error {
	path := c.Param("*")
	if c.Request().URL.RawPath == "" {
		path = (&url.URL{Path: path}).EscapedPath()
	}
	s.visit(c.Response(), c.Request(), path)
	return nil
}
