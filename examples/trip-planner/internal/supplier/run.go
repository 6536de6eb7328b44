// Package supplier is an agent that sells, as a process of its own: it keeps a
// store and a ledger, and serves its agent over A2A.
package supplier

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// Told is what a supplier tells whoever started it, a JSON object a line.
type Told struct {
	// Ready: its agent takes requests.
	Ready bool `json:"ready,omitempty"`
	// At is the point at which it waits to be killed.
	At Point `json:"at,omitempty"`
	// Counts are what its host has counted, told after each line that it reads.
	Counts map[string]int64 `json:"counts,omitzero"`
	// Error is why it ends.
	Error string `json:"error,omitempty"`
}

const (
	// patience is how long the store may still be in use: the supplier of a
	// trip planner that was killed needs a moment to notice.
	patience = 15 * time.Second
	// stopTime is how long its host may take to stop.
	stopTime = 5 * time.Second
)

// Run plays the part: it serves the agent on the listener, which it closes, until
// in ends, and stops in order then. If ctx ends, it drops everything where it
// stands, as the death of the process would. The error is also told.
func Run(ctx context.Context, p Part, ln net.Listener, in io.Reader, out io.Writer, log *slog.Logger) error {
	defer ln.Close()
	serving, end := context.WithCancel(ctx)
	defer end()
	lines := make(chan struct{})
	go func() {
		defer end() // whoever started it has gone
		for s := bufio.NewScanner(in); s.Scan(); {
			select {
			case lines <- struct{}{}:
			case <-serving.Done():
				return
			}
		}
	}()
	s := &supplier{part: p, out: json.NewEncoder(out)}
	err := s.run(ctx, serving, ln, lines, log)
	if err != nil {
		err = fmt.Errorf("supplier %s: %w", p.Name, err)
		s.tell(Told{Error: err.Error()})
	}
	return err
}

// supplier is one life of it.
type supplier struct {
	part   Part
	ledger *Ledger

	mu  sync.Mutex
	out *json.Encoder
}

// tell says something to whoever started the supplier. If that is gone, so is
// the reason to say it.
func (s *supplier) tell(t Told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(t)
}

// run lives until serving ends, or is dropped when ctx does.
func (s *supplier) run(ctx, serving context.Context, ln net.Listener, lines <-chan struct{}, log *slog.Logger) error {
	opened, err := s.open(serving)
	if err != nil {
		return err
	}
	m := &mortal{Store: opened, points: s.part.Points, halt: func(p Point) {
		s.tell(Told{At: p})
		<-serving.Done()
	}}
	host := agent.NewHost(agent.Config{Store: m, Log: log}, s.agent())
	defer context.AfterFunc(ctx, func() { _ = host.Kill() })()
	server, err := a2a.NewServer(host, a2a.Config{NoPush: true, Log: log})
	if err == nil {
		err = host.Start(serving)
	}
	if err == nil {
		s.tell(Told{Ready: true})
		err = s.serve(serving, server, ln, lines, host)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(err, host.Stop(stopping))
}

// serve serves until ctx ends, and tells the host's counts when it is asked.
func (s *supplier) serve(ctx context.Context, server *a2a.Server, ln net.Listener, lines <-chan struct{}, host *agent.Host) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	for {
		select {
		case <-lines:
			counts := map[string]int64{}
			maps.Copy(counts, host.Counts())
			s.tell(Told{Counts: counts})
		case err := <-served:
			return err
		}
	}
}

// open opens the store, as soon as nobody else has it, and the ledger.
func (s *supplier) open(ctx context.Context) (store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := StorePath(s.part.Dir, s.part.Name)
	opened, err := sqlite.Open(ctx, path)
	for errors.Is(err, store.ErrInUse) && ctx.Err() == nil {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
		opened, err = sqlite.Open(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	// Nobody else writes the ledger now: the store is ours.
	if s.ledger, err = OpenLedger(LedgerPath(s.part.Dir, s.part.Name)); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// StorePath is the file of a supplier's store.
func StorePath(dir, name string) string { return filepath.Join(dir, name+".db") }

// LedgerPath is the file of a supplier's ledger.
func LedgerPath(dir, name string) string { return filepath.Join(dir, name+"-ledger.json") }

func (s *supplier) agent() *agent.Agent {
	if s.part.Name == Hotels {
		return s.hotels()
	}
	return s.flights()
}

// work waits as long as the systems behind the supplier take.
func (s *supplier) work(ctx context.Context) error {
	timer := time.NewTimer(s.part.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve makes the reservation of the work that ctx belongs to.
func (s *supplier) reserve(ctx context.Context, kind string) (reference string, err error) {
	work, _ := agent.Current(ctx)
	return s.ledger.Reserve(kind, agent.EffectKey(ctx), work.Correlation)
}
