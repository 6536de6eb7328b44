package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// BenchmarkRequest is a request of 1 KiB that is accepted and answered: two
// sets a message, each of which its caller waits for.
func BenchmarkRequest(b *testing.B) {
	for _, callers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			s := openTemp(b)
			procs := min(callers, runtime.GOMAXPROCS(0))
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			b.SetParallelism(callers / procs)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := serveRequest(b.Context(), s); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

func serveRequest(ctx context.Context, s *Store) error {
	const owner, peer = "agent://local/flights", "agent://local/planner"
	id := func() string { return uuid.Must(uuid.NewV7()).String() }
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	soon, body := now.Add(time.Minute), bytes.Repeat([]byte("a"), 1024)
	conversation, request, reply := id(), id(), id()
	x := store.Exchange{Key: store.Key{Owner: owner, Conversation: conversation, Peer: peer}, Correlation: conversation, OpenedAt: now,
		State: protocol.Open(protocol.RequestV1, conversation, owner, peer, protocol.Participant)}
	x.State.State, x.State.ReplyBy, x.State.AgreeBy = "received", soon, soon
	work := store.Inbox{InboxKey: store.InboxKey{Recipient: owner, Sender: peer, MessageID: request}, Conversation: conversation,
		Seq: 1, Status: store.InProgress, Attempt: 1, LeaseUntil: soon, AcceptedAt: now, ExpiresAt: soon}
	entry := store.Entry{Owner: owner, Conversation: conversation, Peer: peer, Kind: store.Received, At: now, Event: "?request",
		From: "start", To: "received", MessageID: request, Envelope: body}
	err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}, Entries: []store.Entry{entry}, Accept: []store.Inbox{work}})
	if err != nil {
		return err
	}
	x.Version, x.State.State, x.Final, x.EndedAt = 1, "done:ok", reply, now
	entry.Kind, entry.Event, entry.From, entry.To, entry.MessageID = store.Sent, "!inform", "received", "done:ok", reply
	return s.Commit(ctx, store.WriteSet{
		Exchanges: []store.Exchange{x},
		Entries:   []store.Entry{entry},
		Settle:    []store.Settlement{{InboxKey: work.InboxKey, Fence: 1}},
		Outbox:    []store.Outbox{{Owner: owner, MessageID: reply, Conversation: conversation, Receiver: peer, NextAt: now, ExpiresAt: soon}},
	})
}
