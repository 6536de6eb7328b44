package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/storetest"
)

// BenchmarkCommit is one accepted message per operation: an exchange, a log
// entry with a 1 KiB envelope and an inbox row.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			var (
				s       = openTemp(b)
				body    = make([]byte, 1024)
				message atomic.Int64
			)
			// RunParallel starts this many goroutines for each of GOMAXPROCS.
			procs := min(callers, runtime.GOMAXPROCS(0))
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			b.SetParallelism(callers / procs)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					id := fmt.Sprint(message.Add(1))
					k := store.Key{Owner: "agent://local/a", Conversation: id, Peer: "agent://local/b"}
					err := s.Commit(context.Background(), store.WriteSet{
						Exchanges: []store.Exchange{{Key: k}},
						Entries:   []store.Entry{{Owner: k.Owner, Conversation: id, Kind: store.Received, MessageID: id, Envelope: body}},
						Accept:    []store.Inbox{{InboxKey: store.InboxKey{Recipient: k.Owner, Sender: k.Peer, MessageID: id}, Attempt: 1}},
					})
					if err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkMessage is what one message costs in larger and larger stores.
func BenchmarkMessage(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Store { return openTemp(b) })
}
