package a2a

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// stream answers with the events of one operation, as server-sent events (WHATWG
// HTML section 9.2). What goes wrong before the first of them is an ordinary
// answer; later it is the last event. The stream ends with its events, when the
// client is gone or does not take them in time, and when the server is closed.
func (v *visit) stream(a Access, c wire.Call, p procedure, request wire.Object) {
	release, ok := v.quota.stream(payer(a, v.r))
	if !ok {
		e := wire.Errorf(wire.Overloaded, "the caller has too many streams open: at most %d", v.cfg.MaxStreams)
		e.RetryAfter = time.Second
		v.fail(e)
		return
	}
	defer release()
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.open, cancel)()
	if v.open.Err() != nil {
		v.fail(closing())
		return
	}
	all, err := p.stream(ctx, v.agent.service, c, request)
	if err != nil {
		v.fail(err)
		return
	}
	s := &sse{w: &v.w, cancel: cancel}
	if s.begin() != nil {
		return
	}
	defer s.beat(ctx, v.cfg.Timeouts.Heartbeat)()
	switch err := v.relay(ctx, s, all); {
	case v.r.Context().Err() != nil:
	case v.open.Err() != nil:
		s.fault(v.binding, closing())
	case err != nil:
		s.fault(v.binding, v.told(err))
	}
}

func closing() *wire.Error {
	e := wire.Errorf(wire.Unavailable, "the server is going down")
	e.RetryAfter = time.Second
	return e
}

// relay sends the events until one is an error, or cannot be sent. A panic of
// the service is an error like any other.
func (v *visit) relay(ctx context.Context, s *sse, all events) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			panic(p)
		} else if p != nil {
			err = v.panicked(p)
		}
	}()
	for e, err := range all {
		if err != nil {
			return err
		}
		if s.event(e.ID, "", v.binding.result(&e.Response)) != nil || ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// sse writes events to one client. Its methods may be called at once by several
// goroutines.
type sse struct {
	w      *answer
	cancel context.CancelFunc

	mu    sync.Mutex
	spoke bool // since the last beat
	err   error
}

func (s *sse) begin() error {
	h := s.w.Header()
	h.Set("Content-Type", wire.EventsType)
	h.Set("X-Accel-Buffering", "no") // of nginx
	s.w.hurry()
	s.w.WriteHeader(http.StatusOK)
	return s.write(nil, false)
}

// event sends one event. Its data is one line: the bindings write none other.
func (s *sse) event(id, name string, data []byte) error {
	b := make([]byte, 0, len(data)+len(id)+32)
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	b = append(append(append(b, "data: "...), data...), "\n\n"...)
	return s.write(b, true)
}

// fault ends the stream with what went wrong.
func (s *sse) fault(b binding, e *wire.Error) {
	_ = s.event("", b.faultEvent(), b.failure(b.status(e), e))
}

// write sends a piece at once; says tells an event from a comment. After the
// first failure the stream is over.
func (s *sse) write(piece []byte, says bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.spoke = s.spoke || says
	if s.err = s.w.push(piece); s.err != nil {
		s.cancel()
	}
	return s.err
}

// beat sends a comment whenever nothing was sent for a while: for every at
// least, for twice that at most. stop ends it and waits for its end.
func (s *sse) beat(ctx context.Context, every time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if !s.quiet() {
				continue
			}
			if s.write([]byte(":\n\n"), false) != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// quiet reports whether nothing was sent since it was last asked.
func (s *sse) quiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	quiet := !s.spoke
	s.spoke = false
	return quiet
}
