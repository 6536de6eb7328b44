package a2a_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// A SendMessage and its completed task, without the network, on a durable store:
// what profiles are taken of.
func BenchmarkSendMessage(b *testing.B) {
	file, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "parley.db"))
	if err != nil {
		b.Fatal(err)
	}
	h := agent.NewHost(agent.Config{Store: file},
		agent.New("echo", agent.Handle(protocol.Chat(), func(_ context.Context, in protocol.Said) (protocol.Said, error) { return in, nil })))
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer h.Stop(context.Background())
	srv, err := a2a.NewServer(h, a2a.Config{Rate: -1})
	if err != nil {
		b.Fatal(err)
	}
	server := srv.Handler()
	var number atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage",`+
				`"params":{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"What will the weather be in Graz tomorrow?"}]}}}`, number.Add(1))))
			r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
			r.Header.Set("A2A-Version", "1.0")
			r.Header.Set("Content-Type", "application/json")
			got := httptest.NewRecorder()
			server.ServeHTTP(got, r)
			if !strings.Contains(got.Body.String(), "TASK_STATE_COMPLETED") {
				b.Error(got.Body)
				return
			}
		}
	})
}
