package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	stdlog "log"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

var quietLog = stdlog.New(io.Discard, "", 0)

const (
	pushOwner = "agent://local/clerk"
	pushPeer  = "agent://local/anonymous"
)

// pushStage is a pusher with tasks that a test moves by hand, inside a bubble
// whose time is not real.
type pushStage struct {
	t *testing.T
	*pushes
	records *records
	hooks   *hooks
	said    *bytes.Buffer

	mu    sync.Mutex
	tasks map[string]*stagedTask
	ids   int
	// cancel tells the pusher to end, stop waits for that too.
	cancel, stop func()
}

func newPushStage(t *testing.T) *pushStage {
	s := &pushStage{t: t, said: &bytes.Buffer{}, tasks: map[string]*stagedTask{}}
	s.records = &records{Store: memory.New(), stage: s}
	s.hooks = &hooks{answer: func(post) int { return http.StatusOK }}
	s.start()
	return s
}

// start begins as a host does, on what the store has.
func (s *pushStage) start() {
	p := newPusher(s, s.records, false, slog.New(slog.NewTextHandler(s.said, nil)))
	p.client.Transport = s.hooks
	s.pushes = p.serve(pushOwner, s.find, s.read)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	s.cancel = cancel
	s.stop = func() {
		cancel()
		<-done
	}
}

func (s *pushStage) Now() time.Time { return time.Now() }

func (s *pushStage) At(at time.Time, f func()) func() {
	wait := time.Until(at)
	if wait <= 0 { // as the host's clock
		go f()
		return func() {}
	}
	timer := time.AfterFunc(wait, f)
	return func() { timer.Stop() }
}

func (s *pushStage) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("id-%d", s.ids)
}

func (s *pushStage) find(_ context.Context, c wire.Call, id string) (store.Exchange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := s.tasks[id]
	if task == nil || c.Caller != task.peer {
		return store.Exchange{}, wire.Errorf(wire.TaskNotFound, "task %s not found", id)
	}
	return task.exchange(), nil
}

func (s *pushStage) read(ctx context.Context, x store.Exchange, after string, _ bool) iter.Seq2[wire.Event, error] {
	return s.task(x.Task).since(ctx, after)
}

// open makes a task of the peer's, which begins with its first event.
func (s *pushStage) open(id, peer string) *stagedTask {
	task := &stagedTask{id: id, peer: peer, moved: make(chan struct{})}
	s.mu.Lock()
	s.tasks[id] = task
	s.mu.Unlock()
	task.move(wire.Submitted)
	return task
}

func (s *pushStage) task(id string) *stagedTask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[id]
}

// set sets up a webhook of a task and returns its id.
func (s *pushStage) set(task, url string) string {
	s.t.Helper()
	config, err := s.CreatePushConfig(s.t.Context(), s.call(task), &wire.PushConfig{TaskID: task, URL: url})
	if err != nil {
		s.t.Fatal(err)
	}
	return config.ID
}

func (s *pushStage) call(task string) wire.Call { return wire.Call{Caller: s.task(task).peer} }

// stagedTask is a task whose log is a list of states.
type stagedTask struct {
	id, peer string

	mu      sync.Mutex
	states  []wire.TaskState
	endedAt time.Time
	moved   chan struct{}
}

func (k *stagedTask) move(states ...wire.TaskState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range states {
		k.states = append(k.states, s)
		if s.Terminal() {
			k.endedAt = time.Now()
		}
	}
	close(k.moved)
	k.moved = make(chan struct{})
}

func (k *stagedTask) exchange() store.Exchange {
	k.mu.Lock()
	defer k.mu.Unlock()
	x := store.Exchange{Key: store.Key{Owner: pushOwner, Conversation: "conversation of " + k.id, Peer: k.peer}, Task: k.id, EndedAt: k.endedAt}
	x.State.State = protocol.Start
	if !k.endedAt.IsZero() {
		x.State.State = protocol.Over(protocol.OK)
	}
	return x
}

// since is like a service's events: it begins with the task as it is, and goes on
// behind the place.
func (k *stagedTask) since(ctx context.Context, after string) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		states, moved := k.log()
		at := len(states)
		if after != "" {
			var err error
			if at, err = strconv.Atoi(after); err != nil {
				yield(wire.Event{}, err)
				return
			}
		}
		task := &wire.Task{ID: k.id, Status: wire.TaskStatus{State: states[len(states)-1]}}
		if !yield(wire.Event{ID: strconv.Itoa(at), Response: wire.StreamResponse{Task: task}}, nil) {
			return
		}
		for !states[at-1].Terminal() {
			for ; at < len(states); at++ {
				status := &wire.StatusUpdate{TaskID: k.id, Status: wire.TaskStatus{State: states[at]}}
				if !yield(wire.Event{ID: strconv.Itoa(at + 1), Response: wire.StreamResponse{StatusUpdate: status}}, nil) {
					return
				}
				if states[at].Terminal() {
					return
				}
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
			states, moved = k.log()
		}
	}
}

func (k *stagedTask) log() ([]wire.TaskState, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.states), k.moved
}

// records is a store whose tasks are the stage's.
type records struct {
	store.Store
	stage *pushStage
	// fault is what AdvanceCallback fails with, nil if it does not.
	fault func(c store.Callback) error
}

func (r *records) Tasks(_ context.Context, _, task string) ([]store.Exchange, error) {
	return []store.Exchange{r.stage.task(task).exchange()}, nil
}

func (r *records) AdvanceCallback(ctx context.Context, c store.Callback) error {
	if r.fault != nil {
		if err := r.fault(c); err != nil {
			return err
		}
	}
	return r.Store.AdvanceCallback(ctx, c)
}

// hooks are all the webhooks there are: an http.RoundTripper that keeps what is
// posted.
type hooks struct {
	mu    sync.Mutex
	posts []post
	// answer is the status with which a post is answered, 0 if it gets nowhere;
	// retryAfter is that header of every answer.
	answer     func(post) int
	retryAfter string
}

// post is one attempt to tell a webhook: of the task as it is, or else of its
// new state. n counts those at its host, from 1.
type post struct {
	host  string
	n     int
	whole bool
	state wire.TaskState
	task  string
	at    time.Time
	head  http.Header
	ctx   context.Context
}

func (p post) String() string {
	state := strings.TrimPrefix(string(p.state), "TASK_STATE_")
	if p.whole {
		return "a task " + state
	}
	return state
}

func (h *hooks) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var response wire.StreamResponse
	if err := wire.Decode(body, &response); err != nil {
		return nil, err
	}
	p := post{host: r.URL.Host, n: 1, at: time.Now(), head: r.Header, ctx: r.Context()}
	switch {
	case response.Task != nil:
		p.whole, p.task, p.state = true, response.Task.ID, response.Task.Status.State
	case response.StatusUpdate != nil:
		p.task, p.state = response.StatusUpdate.TaskID, response.StatusUpdate.Status.State
	default:
		return nil, errors.New("nothing is said about a task")
	}
	h.mu.Lock()
	for _, before := range h.posts {
		if before.host == p.host {
			p.n++
		}
	}
	h.posts = append(h.posts, p)
	answer := h.answer
	h.mu.Unlock()
	status := answer(p)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if status == 0 {
		return nil, errors.New("no route to the host")
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {h.retryAfter}}, Body: io.NopCloser(strings.NewReader("thanks")), Request: r}, nil
}

// at returns what a host was posted, in order, failed attempts included.
func (h *hooks) at(host string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var told []string
	for _, p := range h.posts {
		if p.host == host {
			told = append(told, p.String())
		}
	}
	return told
}
