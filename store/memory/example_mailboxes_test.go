package memory_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// A peer that reads what it asked for gets it page by page, what moved last
// first.
func ExampleStore_Mailboxes() {
	ctx := context.Background()
	s := memory.New()
	defer s.Close()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range 5 {
		k := store.Key{Owner: "agent://acme/flights", Conversation: fmt.Sprint("trip-", n), Peer: "agent://acme/planner"}
		x := store.Exchange{Key: k, State: protocol.Open(protocol.RequestV1, k.Conversation, k.Owner, k.Peer, protocol.Participant),
			Task: fmt.Sprint("task-", n), Mailbox: true, MovedAt: noon.Add(time.Duration(n) * time.Minute)}
		if err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
			log.Fatal(err)
		}
	}

	q := store.MailboxQuery{Owner: "agent://acme/flights", Peer: "agent://acme/planner", Since: noon.Add(time.Minute), Limit: 3}
	fmt.Println(s.CountMailboxes(ctx, q))
	for {
		page, err := s.Mailboxes(ctx, q)
		if err != nil {
			log.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		var tasks []string
		for _, x := range page {
			tasks = append(tasks, x.Task)
			q.After = store.MailboxPlace{MovedAt: x.MovedAt, Task: x.Task}
		}
		fmt.Println(tasks)
	}
	// Output:
	// 4 <nil>
	// [task-4 task-3 task-2]
	// [task-1]
}

// Whoever calls back does not revive what was deleted meanwhile.
func ExampleStore_AdvanceCallback() {
	ctx := context.Background()
	s := memory.New()
	defer s.Close()
	k := store.CallbackKey{Owner: "agent://acme/flights", Task: "task-1", ID: "hook"}
	if err := s.PutCallback(ctx, store.Callback{CallbackKey: k, Peer: "agent://acme/planner", Config: []byte(`{"url":"https://acme.example/hook"}`)}); err != nil {
		log.Fatal(err)
	}
	c, err := s.Callback(ctx, k)
	if err != nil {
		log.Fatal(err)
	}
	c.Place = "12"
	fmt.Println(s.AdvanceCallback(ctx, c))
	if err := s.DeleteCallback(ctx, k); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.AdvanceCallback(ctx, c))
	// Output:
	// <nil>
	// advance callback hook of agent://acme/flights under task task-1: not found
}

// The first key that an agent is met with stands until it is unpinned.
func ExampleStore_Pin() {
	ctx := context.Background()
	s := memory.New()
	defer s.Close()
	met := func(key string) {
		kept, err := s.Pin(ctx, store.Pin{URI: "agent://acme/flights", Key: []byte(key), From: "loopback"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", kept.Key)
	}
	met("first key")
	met("second key")
	if err := s.Unpin(ctx, "agent://acme/flights"); err != nil {
		log.Fatal(err)
	}
	met("second key")
	// Output:
	// first key
	// first key
	// second key
}
