package a2a

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// The sizes of pages of tasks.
const (
	defaultPage = 50
	maxPage     = 100
	// maxPageBytes is how much of what was said and made a page shows before it
	// ends, though more tasks were asked for. The last task is shown whole.
	maxPageBytes = 4 << 20
)

// ListTasks implements wire.Service: the caller's own tasks, the one that moved
// last first. A task that moves while somebody goes through the pages is listed
// anew at the front, and is no longer where it was.
func (s *service) ListTasks(ctx context.Context, c wire.Call, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	size := r.PageSize
	if size == 0 {
		size = defaultPage
	}
	if size < 1 || size > maxPage {
		return nil, &wire.Error{Kind: wire.InvalidParams, Field: "pageSize", Message: "must be from 1 to 100"}
	}
	if err := checkLength(r.HistoryLength); err != nil {
		return nil, err
	}
	peer, err := s.caller(ctx, c)
	if err != nil {
		return nil, err
	}
	q := store.MailboxQuery{Owner: s.uri, Peer: peer, Correlation: r.ContextID, Since: r.StatusTimestampAfter}
	after, err := readPageToken(r.PageToken, r)
	if err != nil {
		return nil, err
	}
	found, total, err := s.page(ctx, q, r.Status, after, size)
	if err != nil {
		return nil, err
	}
	page := &wire.ListTasksResponse{Tasks: []wire.Task{}, PageSize: size, TotalSize: total}
	o := shown{history: r.HistoryLength, artifacts: r.IncludeArtifacts, whole: s.noStreams, reader: peer, parley: speaksParley(c)}
	full := 0
	for i, x := range found {
		if i == size || full >= maxPageBytes {
			end := found[i-1]
			page.NextPageToken = writePageToken(store.MailboxPlace{MovedAt: end.MovedAt, Task: end.Task}, r)
			break
		}
		s.heard(ctx, x)
		task, err := s.snapshotNow(ctx, x, o)
		if told, ok := errors.AsType[*wire.Error](err); ok && told.Kind == wire.TaskNotFound {
			continue // it was forgotten meanwhile
		}
		if err != nil {
			return nil, err
		}
		full += weight(task)
		page.Tasks = append(page.Tasks, *task)
	}
	return page, nil
}

// page lists the tasks behind a place, one more than asked for if there are
// more, and counts all of them. What state a task is in no store can tell: with
// a state given, every task is looked at.
func (s *service) page(ctx context.Context, q store.MailboxQuery, state wire.TaskState, after store.MailboxPlace, size int) ([]store.Exchange, int, error) {
	st := s.host.Store()
	if state == "" {
		total, err := st.CountMailboxes(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		q.After, q.Limit = after, size+1
		found, err := st.Mailboxes(ctx, q)
		return found, total, err
	}
	var found []store.Exchange
	total, past := 0, after == (store.MailboxPlace{})
	q.Limit = maxPage
	for {
		list, err := st.Mailboxes(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		for _, x := range list {
			q.After = store.MailboxPlace{MovedAt: x.MovedAt, Task: x.Task}
			past = past || behind(q.After, after)
			now, err := s.stateNow(ctx, x)
			if err != nil {
				return nil, 0, err
			}
			if now != state {
				continue
			}
			total++
			if past && len(found) <= size {
				found = append(found, x)
			}
		}
		if len(list) < q.Limit {
			return found, total, nil
		}
	}
}

// weight is about how many bytes a task has.
func weight(t *wire.Task) (n int) {
	add := func(parts []wire.Part, m wire.Metadata) {
		for _, p := range parts {
			n += len(p.Data) + len(p.Raw)
			if p.Text != nil {
				n += len(*p.Text)
			}
			for _, value := range p.Metadata {
				n += len(value)
			}
		}
		for _, value := range m {
			n += len(value)
		}
	}
	for _, m := range t.History {
		add(m.Parts, m.Metadata)
	}
	for _, a := range t.Artifacts {
		add(a.Parts, a.Metadata)
	}
	return n
}

// stateNow is where a task stands. Only of one that has not ended can a question
// be open.
func (s *service) stateNow(ctx context.Context, x store.Exchange) (wire.TaskState, error) {
	if x.State.Done() {
		return stateOf(x, nil), nil
	}
	x, asked, err := s.again(ctx, x)
	return stateOf(x, asked), err
}

// behind reports whether a place comes after the other in the order of
// store.Mailboxes.
func behind(p, other store.MailboxPlace) bool {
	if !p.MovedAt.Equal(other.MovedAt) {
		return p.MovedAt.Before(other.MovedAt)
	}
	return p.Task > other.Task
}

// The form of a page token: a byte for the form itself, the time in
// milliseconds, a sum of the filters that the pages are of, and the task.
const (
	tokenForm  = 1
	tokenFixed = 1 + 8 + 8
)

func writePageToken(p store.MailboxPlace, r *wire.ListTasksRequest) string {
	data := binary.BigEndian.AppendUint64([]byte{tokenForm}, uint64(p.MovedAt.UnixMilli()))
	data = binary.BigEndian.AppendUint64(data, filters(r))
	return base64.RawURLEncoding.EncodeToString(append(data, p.Task...))
}

// readPageToken is the place that a token names, zero for none.
func readPageToken(token string, r *wire.ListTasksRequest) (store.MailboxPlace, error) {
	if token == "" {
		return store.MailboxPlace{}, nil
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(data) < tokenFixed || data[0] != tokenForm || !isTaskID(string(data[tokenFixed:])) {
		return store.MailboxPlace{}, &wire.Error{Kind: wire.InvalidParams, Field: "pageToken", Message: "must be the nextPageToken of a page of tasks"}
	}
	if binary.BigEndian.Uint64(data[9:]) != filters(r) {
		return store.MailboxPlace{}, &wire.Error{Kind: wire.InvalidParams, Field: "pageToken", Message: "is of a list with other filters"}
	}
	return store.MailboxPlace{MovedAt: time.UnixMilli(int64(binary.BigEndian.Uint64(data[1:]))).UTC(), Task: string(data[tokenFixed:])}, nil
}

// filters is a sum of what decides which tasks are listed.
func filters(r *wire.ListTasksRequest) uint64 {
	sum := fnv.New64a()
	since := int64(0)
	if !r.StatusTimestampAfter.IsZero() {
		since = r.StatusTimestampAfter.UnixMilli()
	}
	for _, part := range []string{r.ContextID, string(r.Status), time.UnixMilli(since).UTC().String()} {
		sum.Write([]byte(part + "\x00"))
	}
	return sum.Sum64()
}
