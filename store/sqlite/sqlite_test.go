package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/store/storetest"
)

func TestAFileIsAConformingStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "parley.db")
		return func() store.Store { return compared(t, path) }
	})
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(folder, "parley.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	k := store.Key{Owner: "agent://local/planner", Conversation: "trip-8841", Peer: "agent://local/flights"}
	x := store.Exchange{Key: k, State: protocol.Open(protocol.RequestV1, k.Conversation, k.Owner, k.Peer, protocol.Initiator)}
	if err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		log.Fatal(err)
	}
	read, err := s.Exchange(ctx, k)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.State.State, read.Version)
	// Output: start 1
}
