package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options set up a Server. The zero value works and fits no request.
type Options struct {
	// Rules answer, the first that fits. Default: none, so that every reply says
	// that no rule fits.
	Rules []Rule
	// Seed decides ids and where accidents strike. Default 0.
	Seed uint64
	// Accidents go wrong on demand. Default: none.
	Accidents []Accident
	// Latency is how long each completion takes. Default 0.
	Latency time.Duration
	// Key is the bearer token that requests must carry. Default: none is asked for.
	Key string
	// MaxBody is the longest request in bytes. Default 4 MiB.
	MaxBody int64
	// Address is where Start listens. Default "127.0.0.1:0", a free loopback port.
	Address string
	// After is the timer of latency and slow accidents. Default time.After.
	After func(time.Duration) <-chan time.Time
}

// Server is the endpoint. It is safe for concurrent use.
type Server struct {
	options Options
	stopped chan struct{} // closed to end waiting completions; replaced by Start

	mu       sync.Mutex
	running  *http.Server
	served   chan struct{} // closed when running has ended
	url      string
	calls    int
	counts   []int               // completions that each accident selected
	repeated map[[32]byte]uint64 // how often the same request came
}

// New returns a server that is not started. Its Handler works without Start. It
// panics on an accident of an unknown kind, which could never happen.
func New(o Options) *Server {
	for _, a := range o.Accidents {
		if !a.Kind.known() {
			panic(fmt.Sprintf("rehearsal: unknown kind of accident %q", a.Kind))
		}
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 4 << 20
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.After == nil {
		o.After = time.After
	}
	return &Server{
		options:  o,
		stopped:  make(chan struct{}),
		counts:   make([]int, len(o.Accidents)),
		repeated: map[[32]byte]uint64{},
	}
}

// Start listens and returns when connections are taken; ctx bounds only that. On a
// server that runs it does nothing. A stopped server may be started again and then
// has another URL.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("start rehearsal: %w", err)
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	s.running, s.served, s.stopped = server, served, make(chan struct{})
	s.url = "http://" + listener.Addr().String() + "/v1"
	go func() {
		defer close(served)
		_ = server.Serve(listener) // always an error: that it was closed
	}()
	return nil
}

// Stop ends the server: completions that wait are answered 503, the rest may
// finish. It returns when all has ended; when ctx ends first, connections are cut
// and its error is returned. On a server that does not run it does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	server, served, stopped := s.running, s.served, s.stopped
	s.running, s.url = nil, ""
	if server != nil {
		close(stopped)
	}
	s.mu.Unlock()
	if server == nil {
		if served != nil {
			<-served // a Stop elsewhere is under way
		}
		return nil
	}
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("stop rehearsal: %w", err), server.Close())
	}
	<-served
	return err
}

// URL returns the base URL to give to a client, "http://127.0.0.1:port/v1"; it is
// empty while the server does not run.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// Calls returns how many well-formed completion requests have come, those that met
// an accident included.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// wait waits for d and reports false when the request or the server ends first.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	select {
	case <-s.options.After(d):
		return true
	case <-ctx.Done():
	case <-stopped:
	}
	return false
}
