package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/parley-agents/parley/store"
)

// One transaction takes up at most this many jobs, and no more once their
// sizes add up to this many bytes. Beyond a few hundred the cost of making a
// commit durable is spread thinly enough, and what a batch changes should
// stay within the writer's page cache.
const (
	batchJobs  = 256
	batchBytes = 4 << 20
)

// turns is how often those who may be about to come back get their turn on the
// processor before a transaction begins: long enough for a short piece of work, and
// next to nothing if there is nobody.
const turns = 8

// errSpoilt says that a job which did not fit had already written something,
// so that the transaction it shared with others cannot be kept.
var errSpoilt = errors.New("a write set that does not fit left a part of itself behind")

// gather takes up whatever else waits, without waiting for more: who comes alone is
// served at once. Those who were just answered may be about to come back, so they get
// some turns on the processor first.
func (w *writer) gather(first job) []job {
	batch, size := []job{first}, first.size
	for left := turns; left > 0 && len(batch) < batchJobs && size < batchBytes; {
		select {
		case j := <-w.jobs:
			batch, size, left = append(batch, j), size+j.size, turns
		default:
			runtime.Gosched()
			left--
		}
	}
	return batch
}

// serve answers every job of a batch as if each had been alone in a
// transaction, one after another.
//
// All share one transaction. Jobs that do not fit are rare, and most show it
// before they have written anything, so first nothing is done to undo one of
// them alone; if one leaves a part of itself behind, all start anew behind
// savepoints. If something unexpected happens, such as a full disk, each job
// gets a transaction of its own, so that none suffers from another.
func (w *writer) serve(ctx context.Context, batch []job) {
	answers, err := []error(nil), errSpoilt
	if len(batch) > 1 {
		if answers, err = w.together(ctx, batch, w.plainly); errors.Is(err, errSpoilt) {
			answers, err = w.together(ctx, batch, w.apart)
		}
	}
	for i, j := range batch {
		if err != nil {
			j.done <- w.alone(ctx, j)
		} else {
			j.done <- answers[i]
		}
	}
}

// together runs jobs in one transaction and returns the answer of each. If it
// returns an error, nothing was written and there are no answers.
func (w *writer) together(ctx context.Context, batch []job, run func(context.Context, job) (answer, err error)) ([]error, error) {
	answers := make([]error, len(batch))
	err := w.transact(ctx, func() (err error) {
		for i, j := range batch {
			if answers[i], err = run(ctx, j); err != nil {
				return err
			}
		}
		return nil
	})
	return answers, err
}

// alone runs one job in a transaction.
func (w *writer) alone(ctx context.Context, j job) error {
	return w.transact(ctx, func() error { return j.do(ctx, w) })
}

// plainly runs a job within a transaction that others share.
func (w *writer) plainly(ctx context.Context, j job) (answer, err error) {
	w.clean = false
	switch err := j.do(ctx, w); {
	case err == nil || misfit(err) && w.clean:
		return err, nil
	case misfit(err):
		return nil, errSpoilt
	default:
		return nil, err
	}
}

// apart runs a job within a transaction that others share, such that what it
// wrote can be undone.
func (w *writer) apart(ctx context.Context, j job) (answer, err error) {
	if _, err := w.stmt.savepoint.ExecContext(ctx); err != nil {
		return nil, fmt.Errorf("set a savepoint: %w", err)
	}
	answer = j.do(ctx, w)
	if answer != nil && !misfit(answer) {
		return nil, answer
	}
	if answer != nil {
		if _, err := w.stmt.rollbackTo.ExecContext(ctx); err != nil {
			return nil, fmt.Errorf("undo a write set: %w", err)
		}
		w.heads.forget()
		w.changes.forget()
	}
	if _, err := w.stmt.releaseSavepoint.ExecContext(ctx); err != nil {
		return nil, fmt.Errorf("release a savepoint: %w", err)
	}
	return answer, nil
}

// misfit reports whether an error says that a write set does not fit what is
// stored, and so is the answer to whoever sent it.
func misfit(err error) bool {
	return slices.ContainsFunc([]error{store.ErrConflict, store.ErrDuplicate, store.ErrFenced, store.ErrNotFound, store.ErrNotPending},
		func(one error) bool { return errors.Is(err, one) })
}

// transact runs do in a transaction. If it returns an error nothing was
// written, and the connection is ready for the next one.
func (w *writer) transact(ctx context.Context, do func() error) error {
	if _, err := w.stmt.begin.exec(ctx); err != nil {
		return named(fmt.Errorf("begin a transaction: %w", err))
	}
	w.changes.reset(&w.recent)
	defer func() { w.changes = changes{} }()
	err := do()
	if err == nil {
		w.recent.bar(&w.changes)
		if _, err = w.stmt.commit.exec(ctx); err == nil {
			w.recent.admit(&w.changes)
			w.commits.Add(1)
			return nil
		}
		w.recent.admit(nil)
		err = fmt.Errorf("commit the transaction: %w", err)
	}
	// A full disk may have made SQLite roll back already; only then does this
	// fail, and to no harm.
	_, _ = w.stmt.rollback.ExecContext(ctx)
	w.heads.forget()
	return named(err)
}

// named gives the error of a full disk its name.
func named(err error) error {
	if full(err) {
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	return err
}
