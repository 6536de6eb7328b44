package measure

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// What a conversation that waits may cost a host. Nothing should be kept of it:
// an entry of a map with its key alone takes more than maxIdleBytes, and a
// goroutine forty times as much. As many goroutines as maxIdleGoroutines may
// just be about to end.
const (
	maxIdleBytes      = 64
	maxIdleGoroutines = 4
)

var openConversations = Benchmark{
	Name:  "open-conversations",
	About: "what a conversation that waits for its answer costs a host in memory and goroutines",
	Measure: func(ctx context.Context, r *Run) ([]Gate, error) {
		// A host with few is what the others are compared with: it has said and
		// heard as much in the end, so that what is kept for the whole host, or
		// for its peers, is equal.
		few, err := r.idle(ctx, r.Answered)
		if err != nil {
			return nil, err
		}
		many, err := r.idle(ctx, r.Open)
		if err != nil {
			return nil, err
		}
		of := fmt.Sprintf("-of-%d", r.Open)
		more := float64(r.Open - r.Answered)
		heap := max(many.before.heap-few.before.heap, many.after.heap-few.after.heap, 0)
		goroutines := max(many.before.goroutines-few.before.goroutines, many.after.goroutines-few.after.goroutines, 0)
		return []Gate{
			{Name: "open-conversations-bytes-each" + of, Value: float64(heap) / more, Target: maxIdleBytes, AtMost: true},
			{Name: "open-conversations-goroutines" + of, Value: float64(goroutines), Target: maxIdleGoroutines, AtMost: true},
		}, nil
	},
}

// rest is what a host takes while nothing happens.
type rest struct {
	heap       int64
	goroutines int
}

// idle is what a host takes while all its conversations wait, and once some of
// them were answered.
type idle struct{ before, after rest }

// idle starts a host on a store in which so many conversations wait for an
// answer, and then a host that answers some of them.
func (r *Run) idle(ctx context.Context, open int) (found idle, err error) {
	folder, err := r.Folder()
	if err != nil {
		return found, err
	}
	mine, theirs := filepath.Join(folder, "planner.db"), filepath.Join(folder, "clerk.db")
	ids, err := r.asked(ctx, mine, theirs, open)
	if err != nil {
		return found, err
	}
	planner := agent.New("planner")
	began := time.Now()
	host, err := started(ctx, mine, nil, planner)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, host.Stop(context.WithoutCancel(ctx))) }()
	ready := time.Since(began)
	if found.before, err = settled(ctx); err != nil {
		return found, err
	}
	began = time.Now()
	if err := answerAll(ctx, host, planner, theirs, ids); err != nil {
		return found, err
	}
	answered := time.Since(began)
	if found.after, err = settled(ctx); err != nil {
		return found, err
	}
	r.Printf("%8d open  %4d KB of heap, %d goroutines, ready %v after the start; %d of them answered in %v, then %d KB of heap, %d goroutines",
		open, found.before.heap/1000, found.before.goroutines, ready.Round(time.Millisecond), len(ids), answered.Round(time.Millisecond),
		found.after.heap/1000, found.after.goroutines)
	return found, nil
}

// started opens a store and starts a host on it, connected with another one.
func started(ctx context.Context, path string, peer *agent.Host, agents ...*agent.Agent) (*agent.Host, error) {
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	h := newHost(s, agents...)
	if peer != nil {
		agent.Introduce(h, peer)
	}
	return h, h.Start(ctx) // closes the store if it fails
}

// answerAll starts the host of the peer, which has the questions in its inbox,
// and waits for the answers.
func answerAll(ctx context.Context, host *agent.Host, planner *agent.Agent, theirs string, ids []string) (err error) {
	peer, err := started(ctx, theirs, host, agent.New("clerk", agent.Handle(carry(), answer)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, peer.Stop(context.WithoutCancel(ctx))) }()
	errs := make([]error, len(ids))
	var group sync.WaitGroup
	for i, id := range ids {
		group.Go(func() {
			x, err := agent.Resume(ctx, planner, "clerk", id, carry())
			if err == nil {
				_, err = x.Wait(ctx)
			}
			errs[i] = err
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// asked commits what two agents commit for questions that are open, those to
// be answered also in the inbox of the peer. It returns the conversations of
// the latter.
func (r *Run) asked(ctx context.Context, mine, theirs string, open int) (ids []string, err error) {
	const together = 500
	planner, err := sqlite.Open(ctx, mine)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, planner.Close()) }()
	clerk, err := sqlite.Open(ctx, theirs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, clerk.Close()) }()
	steps := make([][]store.WriteSet, len(r.said.opened))
	for number := 1; number <= open; number++ {
		as := rename(int64(number))
		for i, step := range r.said.opened {
			set, err := as.sealed(step)
			if err != nil {
				return nil, err
			}
			steps[i] = append(steps[i], set)
		}
		if number <= r.Answered {
			set, err := as.sealed(r.said.accept)
			if err == nil {
				err = clerk.Commit(ctx, set)
			}
			if err != nil {
				return nil, err
			}
			ids = append(ids, set.Exchanges[0].Conversation)
		}
		if number%together == 0 || number == open {
			for i, sets := range steps {
				if err := planner.Commit(ctx, joined(sets)); err != nil {
					return nil, err
				}
				steps[i] = nil
			}
		}
	}
	return ids, nil
}

// sealed is the write set under fresh ids, its messages sealed again with
// those, for a host that is to read them.
func (r renaming) sealed(set store.WriteSet) (store.WriteSet, error) {
	set = r.set(set)
	for i := range set.Entries {
		old, err := envelope.Decode(set.Entries[i].Envelope)
		if err != nil {
			return set, err
		}
		h := old.Header()
		h.MessageID, h.ConversationID, h.CorrelationID = r.id(h.MessageID), r.id(h.ConversationID), r.id(h.CorrelationID)
		h.IdempotencyKey, h.ContentDigest = r.id(h.IdempotencyKey), ""
		fresh, err := envelope.Seal(h, old.Content())
		if err != nil {
			return set, err
		}
		set.Entries[i].Envelope, set.Entries[i].Digest = fresh.Bytes(), fresh.Digest()
		for j := range set.Accept {
			if set.Accept[j].MessageID == h.MessageID {
				set.Accept[j].Digest = fresh.Digest()
			}
		}
	}
	return set, nil
}

// settled waits until nothing moves any more, and returns what is in use.
func settled(ctx context.Context) (rest, error) {
	const still = 20
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the host does not come to rest"))
	defer cancel()
	last, same := -1, 0
	err := wait(ctx, func() (bool, error) {
		if n := runtime.NumGoroutine(); n != last {
			last, same = n, 0
		} else {
			same++
		}
		return same == still, nil
	})
	if err != nil {
		return rest{}, err
	}
	runtime.GC()
	runtime.GC() // what the first one finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return rest{int64(m.HeapAlloc), last}, nil
}
