package a2a

import (
	"context"
	"iter"
	"strconv"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// events tells what happens to a task: the task as it is, then what the log has
// since, until the task has ended, ctx ends or the host stops; the stream of a
// client that speaks no Parley ends as well when the task waits for it.
//
// The id of an event is the place in the log of the exchange after which the
// stream goes on: it is the index of the last entry told. One that begins after
// such a place tells every entry behind it, and everything about the questions
// again, for they have logs of their own: a reader drops what it has. Its task
// is shown to a reader of Parley without what was said and made before.
//
// What the sequence yields is the reader's own. It reads the log once, a page at
// a time and no faster than it is ranged over. An error ends it: ctx's cause, or
// that the host goes down. It may be ranged over once.
func (s *service) events(ctx context.Context, x store.Exchange, after string, parley bool) iter.Seq2[wire.Event, error] {
	return s.follow(ctx, x, after, parley, parley)
}

// happening is what happens to a task until it has ended, whatever it waits for.
func (s *service) happening(ctx context.Context, x store.Exchange, after string, parley bool) iter.Seq2[wire.Event, error] {
	return s.follow(ctx, x, after, parley, true)
}

// follow is events; patient says that the stream goes on while the task waits for
// its client.
func (s *service) follow(ctx context.Context, x store.Exchange, after string, parley, patient bool) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		st := stream{service: s, x: x, shown: shown{artifacts: true, reader: x.Peer, parley: parley}, patient: patient, yield: yield}
		if err := st.run(ctx, after); err != nil {
			yield(wire.Event{}, err)
		}
	}
}

// placeOf reads the id of an event, "" being the place before everything.
func placeOf(id string) (int64, error) {
	if id == "" {
		return 0, nil
	}
	place, err := strconv.ParseInt(id, 10, 64)
	if err != nil || place < 0 {
		bad := wire.Errorf(wire.InvalidParams, "must be the id of an event of this task")
		bad.Field = "Last-Event-ID"
		return 0, bad
	}
	return place, nil
}

// stream is one reader's way through the log of a task.
type stream struct {
	*service
	x       store.Exchange
	shown   shown
	patient bool
	yield   func(wire.Event, error) bool

	track *track
	fold  fold
	// came says that the task has come to wait for its client, left that the
	// reader has gone.
	came, left bool
}

// run tells everything. A reader that leaves is no error.
func (st *stream) run(ctx context.Context, after string) error {
	place, err := placeOf(after)
	if err != nil {
		return err
	}
	read := func() (over bool, err error) { return st.begin(ctx, after != "", place) }
	for {
		// Taken before the log is read, so that no step falls between.
		next, release := st.host.Follow(st.x.Owner, st.x.Task)
		over, err := read()
		if err != nil || over {
			release()
			return err
		}
		read = func() (bool, error) { return st.goOn(ctx) }
		select {
		case <-next:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-st.down:
			err = errGoingDown
		}
		release()
		if err != nil {
			return err
		}
	}
}

// begin tells the task as it is and, if the reader has come back, what it has
// missed. It reports whether the stream is over.
func (st *stream) begin(ctx context.Context, resumed bool, place int64) (over bool, err error) {
	x, asked, err := st.again(ctx, st.x)
	if err != nil {
		return false, err
	}
	st.heard(ctx, x)
	if place, err = st.reached(ctx, place); err != nil {
		return false, err
	}
	st.track = newTrack(st.host.Store(), x, place)
	st.fold = st.newFold(x, st.shown)
	if !resumed {
		task, err := st.picture(ctx, x, asked, st.shown, &st.fold, st.track)
		if err != nil {
			return false, err
		}
		st.send(wire.StreamResponse{Task: task})
		st.came = st.fold.told.Interrupted()
		return st.over(), nil
	}
	task, err := st.glance(ctx, x, asked)
	if err != nil {
		return false, err
	}
	st.track.look(asked)
	from, err := st.track.from(ctx, x.State.State)
	if err != nil {
		return false, err
	}
	st.fold.resume(place, from, task.Status.State)
	st.send(wire.StreamResponse{Task: task})
	over, err = st.drain(ctx)
	return over || err == nil && st.over(), err
}

// reached is the place, or that before everything if the log has not come to it:
// then the id is none of this log's, and its end would never be told.
func (st *stream) reached(ctx context.Context, place int64) (int64, error) {
	if place == 0 {
		return 0, nil
	}
	page, err := st.host.Store().LogPage(ctx, st.x.Owner, st.x.Conversation, place-1, 1)
	if len(page) == 0 {
		place = 0
	}
	return place, err
}

// glance is the task of a stream that goes on: a reader of Parley has what was
// said and made, and any other takes a task for all of it.
func (st *stream) glance(ctx context.Context, x store.Exchange, asked []store.Exchange) (*wire.Task, error) {
	f := st.newFold(x, st.shown)
	if !st.shown.parley {
		return st.picture(ctx, x, asked, st.shown, &f, newTrack(st.host.Store(), x, 0))
	}
	return f.glance(x, asked)
}

// goOn tells what has come since.
func (st *stream) goOn(ctx context.Context) (over bool, err error) {
	x, asked, err := st.again(ctx, st.x)
	if err != nil {
		return false, err
	}
	st.heard(ctx, x)
	st.track.look(asked)
	over, err = st.drain(ctx)
	return over || err == nil && st.over(), err
}

// drain tells what the log has, and reports whether the task ended in it.
func (st *stream) drain(ctx context.Context) (ended bool, err error) {
	for !st.left {
		e, ok, err := st.track.next(ctx)
		if err != nil || !ok {
			return false, err
		}
		s, err := st.fold.take(e)
		if err != nil {
			return false, err
		}
		st.tell(s)
		if e.Conversation == st.x.Conversation && e.To.Done() {
			return true, nil
		}
	}
	return false, nil
}

// over reports whether nothing more is to be told, now that all that was there
// has been.
func (st *stream) over() bool {
	return st.left || st.fold.told.Terminal() || st.came && !st.patient
}

// tell tells what an entry shows. The status comes last: a task never ends
// before its result is there.
func (st *stream) tell(s said) {
	if s.artifact != nil {
		st.send(wire.StreamResponse{ArtifactUpdate: &wire.ArtifactUpdate{TaskID: st.x.Task, ContextID: st.x.Correlation,
			Artifact: *s.artifact, LastChunk: true}})
	}
	if s.moved {
		st.came = s.status.State.Interrupted()
		st.send(wire.StreamResponse{StatusUpdate: &wire.StatusUpdate{TaskID: st.x.Task, ContextID: st.x.Correlation, Status: s.status}})
	}
}

func (st *stream) send(r wire.StreamResponse) {
	if !st.left {
		st.left = !st.yield(wire.Event{ID: strconv.FormatInt(st.fold.index, 10), Response: r}, nil)
	}
}
