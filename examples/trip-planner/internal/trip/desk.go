package trip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

// maxLives is how often a supplier is started.
const maxLives = 10

// desk is where a supplier is found: an address that stays, and behind it a
// process, which is started again when it ends before it was told to. Its
// supervisor, a goroutine, runs from openDesk to close. A process that does not
// become ready is the last, and so is the maxLives-th.
type desk struct {
	launch Launch
	log    *slog.Logger
	ln     *net.TCPListener
	// ready is closed when the first process is, ended when there is none any
	// more and none will come.
	ready, ended chan struct{}
	asking       sync.Mutex

	mu    sync.Mutex
	part  supplier.Part
	now   *life     // the latest
	ends  []Restart // of all processes that have ended
	leave bool
	fault error // why there will be no more process
}

// Restart is a process of an agent that ended before it was told to, and the one
// that took its place.
type Restart struct {
	Agent string `json:"agent"`
	PID   int    `json:"pid"`
	Ended string `json:"ended"`
	Next  int    `json:"next"`
}

// openDesk starts a supplier.
func openDesk(p supplier.Part, launch Launch, log *slog.Logger) (*desk, error) {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("finding an address for %s: %w", p.Name, err)
	}
	d := &desk{part: p, launch: launch, log: log, ln: ln, ready: make(chan struct{}), ended: make(chan struct{})}
	go d.supervise()
	return d, nil
}

// url is the address. A connection to it waits while no process is there.
func (d *desk) url() string { return "http://" + d.ln.Addr().String() }

// await returns when the supplier takes requests.
func (d *desk) await(ctx context.Context) error {
	select {
	case <-d.ready:
		return nil
	case <-d.ended:
		return d.failed()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// failed is why there will be no more process.
func (d *desk) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault
}

// errSilent: it did so without a reason.
var errSilent = errors.New("it gave no reason")

// supervise keeps a process running.
func (d *desk) supervise() {
	defer close(d.ended)
	for n := 1; ; n++ {
		ready, err := d.live()
		d.mu.Lock()
		last := d.leave || !ready || n == maxLives
		if last && !d.leave {
			d.fault = fmt.Errorf("the %s agent ended: %w", d.part.Name, cmp.Or(err, errSilent))
			d.log.Error("a supplier has ended for good", "supplier", d.part.Name, "error", err)
		}
		d.mu.Unlock()
		if last {
			return
		}
	}
}

// pid is the present process's, or the last one's.
func (d *desk) pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now.PID()
}

// restarts are the processes that ended and were followed by another.
func (d *desk) restarts() []Restart {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.ends), func(r Restart) bool { return r.Next == 0 })
}

// close has the supplier stop in order, kills it when ctx ends, and returns when
// nothing is left of it.
func (d *desk) close(ctx context.Context) error {
	d.mu.Lock()
	d.leave = true
	l := d.now
	d.mu.Unlock()
	var errs []error
	if l != nil {
		errs = append(errs, ignoreClosed(l.in.Close()))
	}
	select {
	case <-d.ended:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("stopping %s: %w", d.part.Name, context.Cause(ctx)))
		if l != nil {
			errs = append(errs, l.Kill())
		}
		<-d.ended
	}
	return errors.Join(append(errs, d.ln.Close())...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
