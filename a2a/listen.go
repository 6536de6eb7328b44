package a2a

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
)

// maxHeader is how many bytes the headers of a request may have.
const maxHeader = 64 << 10

// ExposedError says that a server without authentication would have listened
// where other machines reach it.
type ExposedError struct{ Addr string }

func (e *ExposedError) Error() string {
	return fmt.Sprintf("listening on %s: other machines reach this address and no authentication is configured; "+
		"make the server with a2a.NewServer and set Authenticate in its a2a.Config, listen on a loopback address, or allow it with AllowAnonymous", e.Addr)
}

// ListenAndServe listens on the TCP address, such as "localhost:8080", and
// serves until ctx ends; see Serve. The address's host is one that requests may
// name.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	var listen net.ListenConfig
	ln, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("serving A2A: %w", err)
	}
	return s.serveOn(ctx, ln, hostOf(addr))
}

// Serve serves on the listener, with TLS if Config.TLS is set, until ctx ends.
// Then it ends all streams and what waits for a task, lets other requests finish
// for Timeouts.Shutdown, and returns nil. A server serves once: it is closed
// afterwards. The listener is closed in any case. An *ExposedError says that it was not safe to begin.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error { return s.serveOn(ctx, ln, "") }

func (s *Server) serveOn(ctx context.Context, ln net.Listener, name string) error {
	if !s.cfg.AllowAnonymous && len(s.cfg.Authenticate) == 0 && exposed(ln.Addr()) {
		_ = ln.Close()
		return &ExposedError{ln.Addr().String()}
	}
	srv := s.httpServer(s.named(name))
	ended := make(chan struct{})
	served := make(chan error, 1)
	go func() {
		defer close(ended)
		if s.cfg.TLS != nil {
			served <- srv.ServeTLS(ln, "", "")
		} else {
			served <- srv.Serve(ln)
		}
	}()
	defer func() { <-ended }()
	defer s.Close()
	select {
	case err := <-served:
		return fmt.Errorf("serving A2A: %w", err)
	case <-ctx.Done():
	}
	s.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Timeouts.Shutdown)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return srv.Close() // what is left has had its time
	}
	return nil
}

// httpServer is what a listener is served with. Bodies and answers have
// deadlines of their own: one for whole requests would end every stream.
func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		TLSConfig:         s.cfg.TLS.Clone(),
		ReadHeaderTimeout: s.cfg.Timeouts.Header,
		IdleTimeout:       s.cfg.Timeouts.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
}

// named is the handler of a server that requests may call by that name too.
func (s *Server) named(name string) http.Handler {
	if name == "" {
		return s.Handler()
	}
	named, g := *s, *s.gate
	g.hosts = append(slices.Clip(g.hosts), strings.ToLower(name))
	named.gate = &g
	return named.Handler()
}

// exposed reports whether other machines may reach the address.
func exposed(a net.Addr) bool {
	if a.Network() == "unix" {
		return false
	}
	tcp, ok := a.(*net.TCPAddr)
	return !ok || !tcp.IP.IsLoopback()
}
