package trip_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
)

// goroutines starts suppliers in this process, each as a goroutine that can be
// killed: all that is not the operating system is as with processes.
func goroutines(t *testing.T) trip.Launch {
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	var last atomic.Int64
	return func(p supplier.Part, listener, in, out *os.File) (trip.Process, error) {
		ln, err := net.FileListener(listener)
		if err := errors.Join(err, listener.Close()); err != nil {
			return nil, err
		}
		ctx, kill := context.WithCancelCause(context.WithoutCancel(t.Context()))
		g := &goroutine{pid: int(last.Add(1)), kill: kill, ended: make(chan struct{})}
		go func() {
			defer close(g.ended)
			g.err = supplier.Run(ctx, p, ln, in, out, log.With("host", p.Name, "pid", g.pid))
			g.err = errors.Join(g.err, in.Close(), out.Close())
		}()
		return g, nil
	}
}

// goroutine is a supplier that stands for a process.
type goroutine struct {
	pid   int
	kill  context.CancelCauseFunc
	ended chan struct{}
	err   error
}

var errKilled = errors.New("killed")

func (g *goroutine) PID() int { return g.pid }

func (g *goroutine) Kill() error {
	g.kill(errKilled)
	return nil
}

func (g *goroutine) Wait() error {
	<-g.ended
	return g.err
}
