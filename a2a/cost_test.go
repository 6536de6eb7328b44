package a2a_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// watched is a store in which nobody reads while something is written, since what
// is being written is read from the file. It counts how often the host looks for
// what is due: that, like the other, depends on how goroutines take turns.
type watched struct {
	*sqlite.Store
	writing sync.RWMutex
	looks   atomic.Int64
}

func (w *watched) Commit(ctx context.Context, set store.WriteSet) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.Store.Commit(ctx, set)
}

func (w *watched) Exchange(ctx context.Context, k store.Key) (store.Exchange, error) {
	w.writing.RLock()
	defer w.writing.RUnlock()
	return w.Store.Exchange(ctx, k)
}

func (w *watched) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	w.writing.RLock()
	defer w.writing.RUnlock()
	return w.Store.Tasks(ctx, owner, task)
}

func (w *watched) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]store.Entry, error) {
	w.writing.RLock()
	defer w.writing.RUnlock()
	return w.Store.LogPage(ctx, owner, conversation, after, limit)
}

func (w *watched) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	w.looks.Add(1)
	return w.Store.Due(ctx, owners, now, limit)
}

// A message that opens a task and is answered asks SQLite nothing: whether it is new
// shows when it is written, and all that it reads was written by the two steps that
// it takes.
func TestAMessageIsTwoStepsAndNoRead(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Store: file}
	// No time passes, so that no timer adds a step.
	h := agent.NewHost(agent.Config{Store: w, Clock: agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))},
		agent.New("echo", agent.Handle(protocol.Chat(), func(_ context.Context, in protocol.Said) (protocol.Said, error) { return in, nil })))
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer h.Stop(context.Background())
	server := a2a.Handler(h)
	send := func(n int) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage",`+
			`"params":{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`, n)))
		r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("Content-Type", "application/json")
		got := httptest.NewRecorder()
		server.ServeHTTP(got, r)
		if !strings.Contains(got.Body.String(), "TASK_STATE_COMPLETED") {
			t.Fatal(got.Body)
		}
	}
	// What the host itself reads as it starts may fall between.
	const messages, starting = 40, 10
	before, looked := file.Stats(), w.looks.Load()
	for n := range messages {
		send(n)
	}
	after := file.Stats()
	reads := after.Reads - before.Reads - (w.looks.Load() - looked)
	if sets := after.Sets - before.Sets; sets != 2*messages || reads > starting {
		t.Errorf("%d messages were %d write sets and %d reads, want %d and at most %d", messages, sets, reads, 2*messages, starting)
	}
}
