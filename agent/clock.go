package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Clock is the only way in which time enters a host. The zero Config uses the
// system's; agenttest has one that tests move by hand.
type Clock interface {
	// Now is the present moment.
	Now() time.Time
	// At calls f once, in a goroutine of its own, when the clock reaches t; at
	// once if it has. stop prevents a call that has not begun.
	At(t time.Time, f func()) (stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now().UTC() }

func (systemClock) At(t time.Time, f func()) func() {
	wait := time.Until(t)
	if wait <= 0 {
		// No timer: Go 1.26 crashes when two of them that are due already are made
		// at once in a synctest bubble under -race, as users' tests run a host.
		go f()
		return func() {}
	}
	timer := time.AfterFunc(wait, f)
	return func() { timer.Stop() }
}

// until is a context that is cancelled with DeadlineExceeded as its cause when
// the clock reaches t. The caller must call cancel.
func until(ctx context.Context, c Clock, t time.Time) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := c.At(t, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// seam is where time, randomness and the order of goroutines come from: one
// place, so that tests can hold all three.
type seam struct {
	clock  Clock
	sched  Scheduler
	mu     sync.Mutex
	random io.Reader
	// drawn is where random bytes are read to, so that whoever wants a few need not
	// have them on the heap.
	drawn [32]byte
}

func newSeam(c Clock, random io.Reader, sched Scheduler) *seam {
	if c == nil {
		c = systemClock{}
	}
	if random == nil {
		random = rand.Reader
	}
	if sched == nil {
		sched = goroutines{}
	}
	return &seam{clock: c, random: random, sched: sched}
}

// wait waits for one of the channels; see Scheduler.
func (s *seam) wait(ready ...<-chan struct{}) int { return s.sched.Wait(ready...) }

// pass waits until the clock reaches t, or for ctx's end, and reports whether
// it did.
func (s *seam) pass(ctx context.Context, t time.Time) bool {
	over := make(chan struct{})
	stop := s.clock.At(t, func() { close(over) })
	defer stop()
	return s.wait(over, ctx.Done()) == 0
}

// now is the present moment in the millisecond precision of the wire.
func (s *seam) now() time.Time { return s.clock.Now().UTC().Truncate(time.Millisecond) }

// Read draws random bytes; it is safe for concurrent use.
func (s *seam) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.ReadFull(s.random, p)
}

// draw fills p, which has no more room than drawn, with random bytes.
func (s *seam) draw(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.random, s.drawn[:len(p)]); err != nil {
		// A host without randomness cannot make an id that is safe to send.
		panic(fmt.Sprintf("agent: no randomness: %v", err))
	}
	copy(p, s.drawn[:])
}

func (s *seam) bytes(n int) []byte {
	b := make([]byte, n)
	s.draw(b)
	return b
}

// id is a UUIDv7 (RFC 9562 section 5.7) of the seam's time and randomness, and
// of nothing else: the library's own counts in the time of the machine.
func (s *seam) id() string {
	var u uuid.UUID
	s.draw(u[:])
	ms := s.now().UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// traceparent starts a W3C trace.
func (s *seam) traceparent() string {
	return fmt.Sprintf("00-%s-%s-01", hex.EncodeToString(s.bytes(16)), hex.EncodeToString(s.bytes(8)))
}

// child is a new span of the same trace.
func (s *seam) child(traceparent string) string {
	version, rest, _ := strings.Cut(traceparent, "-")
	trace, rest, _ := strings.Cut(rest, "-")
	_, flags, ok := strings.Cut(rest, "-")
	if !ok || strings.Contains(flags, "-") {
		return s.traceparent()
	}
	var span [8]byte
	s.draw(span[:])
	var digits [16]byte
	hex.Encode(digits[:], span[:])
	return version + "-" + trace + "-" + string(digits[:]) + "-" + flags
}
