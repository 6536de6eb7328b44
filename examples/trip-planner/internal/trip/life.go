package trip

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

// life is one process of a supplier.
type life struct {
	Process
	in     *os.File // what it reads; it ends when that is closed
	told   *os.File
	counts chan map[string]int64
	gone   chan struct{}
}

// live starts a process and hears what it tells until it has ended.
func (d *desk) live() (ready bool, err error) {
	l, err := d.begin()
	if err != nil {
		return false, err
	}
	defer close(l.gone)
	defer l.in.Close()
	defer l.told.Close()
	var told supplier.Told
	var fault error
	lines := json.NewDecoder(l.told)
	for err = lines.Decode(&told); err == nil; err = lines.Decode(&told) {
		switch {
		case told.Ready:
			ready = true
			d.arrived(l)
		case told.At != "":
			d.reached(l, told.At)
		case told.Counts != nil:
			select {
			case l.counts <- told.Counts:
			default: // whoever asked did not wait
			}
		case told.Error != "":
			fault = errors.New(told.Error)
		}
		told = supplier.Told{}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		_ = l.Kill() // it talks nonsense
	}
	err = l.Wait()
	d.died(l, err)
	return ready, cmp.Or(fault, err)
}

var errLeaving = errors.New("the trip planner is ending")

// begin starts a process.
func (d *desk) begin() (*life, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leave {
		return nil, errLeaving
	}
	listener, err := d.ln.File()
	if err != nil {
		return nil, err
	}
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	told, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, listener.Close(), in.Close(), ours.Close())
	}
	started, err := d.launch(d.part, listener, in, out)
	if err != nil {
		return nil, errors.Join(err, ours.Close(), told.Close())
	}
	d.now = &life{Process: started, in: ours, told: told, counts: make(chan map[string]int64, 1), gone: make(chan struct{})}
	return d.now, nil
}

// arrived notes that a process is ready.
func (d *desk) arrived(l *life) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log.Info("a supplier is ready", "supplier", d.part.Name, "pid", l.PID(), "url", d.url())
	if n := len(d.ends); n > 0 {
		d.ends[n-1].Next = l.PID()
		return
	}
	close(d.ready)
}

// reached kills a process at its point; the next one does not stop there.
func (d *desk) reached(l *life, at supplier.Point) {
	d.mu.Lock()
	d.part.Points = slices.DeleteFunc(slices.Clone(d.part.Points), func(p supplier.Point) bool { return p == at })
	d.mu.Unlock()
	if err := l.Kill(); err != nil {
		d.log.Error("killing a supplier failed", "supplier", d.part.Name, "error", err)
	}
}

// died notes how a process ended.
func (d *desk) died(l *life, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := "it stopped"
	if err != nil {
		ended = err.Error()
	}
	d.ends = append(d.ends, Restart{Agent: d.part.Name, PID: l.PID(), Ended: ended})
	if !d.leave {
		d.log.Warn("a supplier has ended and is started again", "supplier", d.part.Name, "pid", l.PID(), "ended", ended)
	}
}

// counts are what the host of the present process has counted; none if there is
// no process, or if it ends instead.
func (d *desk) counts(ctx context.Context) (map[string]int64, error) {
	d.asking.Lock()
	defer d.asking.Unlock()
	d.mu.Lock()
	l := d.now
	d.mu.Unlock()
	select {
	case <-l.counts: // of a question whose asker did not wait
	default:
	}
	if _, err := l.in.WriteString("counts\n"); err != nil {
		return nil, nil
	}
	select {
	case counts := <-l.counts:
		return counts, nil
	case <-l.gone:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
