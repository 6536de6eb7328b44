package a2a

import (
	"context"
	"slices"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// logPage is how many entries of a log are read at a time: so many at most are
// held for a reader that takes its time.
const logPage = 32

// track reads the log of a task and those of the questions about it as one, in
// the order of time. It reads on from where it is, never anything twice.
type track struct {
	store store.Store
	owner string
	peer  string
	// logs are the task's own first, then those of the questions as they were
	// asked.
	logs []logReader
}

// logReader is a place in one log.
type logReader struct {
	conversation string
	// last is the index of the last entry that was read, waiting are those read
	// and not taken.
	last    int64
	waiting []store.Entry
	// more: the log may have entries that were not read. over: it has none that
	// matter any more.
	more, over bool
}

// newTrack begins behind the entry with that index in the task's own log.
func newTrack(st store.Store, x store.Exchange, after int64) *track {
	return &track{store: st, owner: x.Owner, peer: x.Peer, logs: []logReader{{conversation: x.Conversation, last: after}}}
}

// look has the track read what has come since, also about further questions.
func (t *track) look(asked []store.Exchange) {
	for _, q := range asked {
		if !t.knows(q.Conversation) {
			t.logs = append(t.logs, logReader{conversation: q.Conversation})
		}
	}
	for i := range t.logs {
		t.logs[i].more = !t.logs[i].over
	}
}

func (t *track) knows(conversation string) bool {
	return slices.ContainsFunc(t.logs, func(l logReader) bool { return l.conversation == conversation })
}

// next takes the next entry; ok is false when there is none yet. The entry that
// ends the task comes after all the others that are there.
func (t *track) next(ctx context.Context) (e store.Entry, ok bool, err error) {
	var first *logReader
	for i := range t.logs {
		l := &t.logs[i]
		if err := t.fill(ctx, l); err != nil {
			return store.Entry{}, false, err
		}
		if len(l.waiting) > 0 && (first == nil || t.before(l, first)) {
			first = l
		}
	}
	if first == nil {
		return store.Entry{}, false, nil
	}
	e, first.waiting = first.waiting[0], first.waiting[1:]
	first.over = first != &t.logs[0] && e.To.Done()
	return e, true, nil
}

// from is the state in which the next entry finds the task's exchange, or that in
// which it is when there is none.
func (t *track) from(ctx context.Context, now protocol.State) (protocol.State, error) {
	own := &t.logs[0]
	if err := t.fill(ctx, own); err != nil || len(own.waiting) == 0 || own.waiting[0].From == "" {
		return now, err
	}
	return own.waiting[0].From, nil
}

// fill reads the next page of a log of which nothing waits.
func (t *track) fill(ctx context.Context, l *logReader) error {
	for len(l.waiting) == 0 && l.more {
		page, err := t.store.LogPage(ctx, t.owner, l.conversation, l.last, logPage)
		if err != nil {
			return err
		}
		l.more = len(page) == logPage
		if len(page) > 0 {
			l.last = page[len(page)-1].Index
		}
		// Others may have exchanges of their own in the conversation.
		l.waiting = slices.DeleteFunc(page, func(e store.Entry) bool { return e.Peer != t.peer })
	}
	return nil
}

// before reports whether the first entry that waits of l comes before that of
// other. Of those of one moment the task's own come first: it was asked, then it
// asked.
func (t *track) before(l, other *logReader) bool {
	a, b := l.waiting[0], other.waiting[0]
	if other == &t.logs[0] && b.To.Done() {
		return true
	}
	return a.At.Before(b.At)
}
