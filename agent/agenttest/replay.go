package agenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// Replay runs a recorded conversation again with the agents as they are
// described now, and fails the test where they no longer do what the record
// says. It is Reexecute for tests.
func Replay(t testing.TB, recorded store.Store, conversation string, agents ...*agent.Agent) {
	t.Helper()
	again, err := Reexecute(t.Context(), recorded, conversation, agents...)
	if err != nil {
		t.Errorf("replay of %s: %v", conversation, err)
		return
	}
	if len(again.Differences) == 0 {
		return
	}
	var report strings.Builder
	for _, d := range again.Differences {
		fmt.Fprintf(&report, "\n  %s", d)
	}
	for _, failed := range again.Failures {
		fmt.Fprintf(&report, "\n  meanwhile: %v", failed)
	}
	t.Errorf("replay of %s: it went another way than recorded:%s", conversation, report.String())
}

// Rerun is what came of running a conversation again.
type Rerun struct {
	// Exchanges are those whose work was done again, in the order in which it
	// was done: each belongs to one of the agents.
	Exchanges []store.Key
	// Differences are the acts that are not those of the record. None means
	// that the recorded conversation still holds.
	Differences []Difference
	// Failures are what handlers, checks and tools failed with meanwhile, for
	// whoever looks for the cause of a difference.
	Failures []error
}

// Reexecute runs the work of the agents in a recorded conversation again, and
// in those that its work opened, on a store and a clock of its own. Their
// handlers and their models' turns run in earnest; what the peers said, what
// the models replied, what tools and durable steps gave and what nested
// questions were answered comes from the record, and none of it is done again.
// What a handler does without Once, Ask or a tool is.
//
// recorded is the store of the agents' host, perhaps one that runs no more, in
// which the conversation has ended; nothing is written to it. The agents must
// belong to no host yet, and cannot be used for another afterwards; an agent
// with a model or with tools must be given Replayable. Those that take no part
// in the conversation may be left out.
//
// What is asked for and not in the record is a *MissError, and nothing is run
// after it. Acts that are not those of the record are Differences. It returns
// when all the work has ended, or ctx; it fails when work stands still for ten
// seconds.
//
// What differs from run to run is not compared: ids, times, traces, salts, and
// when the runtime agreed. A prompt is compared as far as the record says what
// it was.
func Reexecute(ctx context.Context, recorded store.Store, conversation string, agents ...*agent.Agent) (*Rerun, error) {
	owners, err := recorded.Owners(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	if len(owners) == 0 {
		return nil, fmt.Errorf("reading the record: it has no agents: %w", store.ErrNotFound)
	}
	home, err := envelope.ParseURI(owners[0])
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	run := newRerun()
	host := agent.NewHost(agent.Config{Store: judged{run.store, run}, Clock: sleeper{run.clock, run}, Authority: home.Authority,
		Log: slog.New(slog.DiscardHandler), Observer: run}, agents...)
	mine := map[string]bool{}
	for _, a := range agents {
		mine[a.URI()] = true
	}
	works, err := read(ctx, recorded, conversation, owners, mine)
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	if err := run.prepare(ctx, recorded, works); err != nil {
		return nil, err
	}
	return run.all(ctx, host, works, mine)
}

// prepare makes the new store what the old one was when the work began, but for
// the replies of models, which are given when they are asked for.
func (run *rerun) prepare(ctx context.Context, recorded store.Store, works []*work) error {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	// Under the same secret equal questions open equal conversations.
	meta, err := recorded.Meta(ctx, store.Meta{Generation: 1, Secret: secret})
	if err == nil {
		_, err = run.store.Meta(ctx, meta)
	}
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	for _, w := range works {
		if err := run.store.Commit(ctx, store.WriteSet{Turns: w.seeds()}); err != nil {
			return fmt.Errorf("preparing the work of %s: %w", w.main.key.Owner, err)
		}
	}
	return nil
}

// all runs the host, with everybody else played from the record, until each
// work has ended.
func (run *rerun) all(ctx context.Context, host *agent.Host, works []*work, mine map[string]bool) (again *Rerun, err error) {
	troupe, err := run.play(ctx, works, mine)
	stop := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		for _, h := range append(troupe, host) {
			err = errors.Join(err, h.Stop(ctx))
		}
	}
	if err != nil {
		stop()
		return nil, err
	}
	if err = host.Start(context.WithValue(ctx, rerunKey{}, run)); err != nil {
		stop()
		return nil, err
	}
	for _, h := range troupe {
		host.Connect(agent.PeerHost(h).Silent().Through(func(agent.Transport) agent.Transport { return peers{run} }))
	}
	for _, w := range works {
		if err = run.drive(ctx, host, w); err != nil {
			break
		}
		run.result.Exchanges = append(run.result.Exchanges, w.main.key)
	}
	stop()
	if missed := run.missing(); missed != nil {
		return nil, missed
	}
	if err != nil {
		return nil, err
	}
	return &run.result, nil
}

// newRerun is a run that has not begun.
func newRerun() *rerun {
	return &rerun{store: memory.New(), clock: NewClock(begin), changed: make(chan struct{}, 1), parts: map[store.Key]*part{}}
}
