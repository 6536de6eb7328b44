package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/parley-agents/parley/store"
)

const most = 64 << 20 // what the write-ahead log may grow to

func logSize(t *testing.T, s *Store) int64 {
	t.Helper()
	info, err := os.Stat(s.writer.log)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// burden commits sets of 256 KiB each and returns the longest that the log was.
func burden(t *testing.T, s *Store, from, to int) (longest int64) {
	t.Helper()
	data := make([]byte, 256<<10)
	for n := from; n < to; n++ {
		err := s.Commit(t.Context(), store.WriteSet{Turns: []store.Turn{{Key: store.Key{Owner: "a", Conversation: "c", Peer: "b"}, Ordinal: n, Data: data}}})
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, logSize(t, s))
	}
	return longest
}

func TestTheWriteAheadLogStaysSmallWhileOthersRead(t *testing.T) {
	s := openTemp(t)
	k := store.Key{Owner: "a", Conversation: "c", Peer: "x"}
	for n := range 1 {
		set := store.WriteSet{Turns: []store.Turn{{Key: k, Ordinal: n, Data: make([]byte, 256<<10)}}}
		if err := s.Commit(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	reading, stop := context.WithCancel(t.Context())
	var reads sync.WaitGroup
	for range readers { // one always begins before another ends
		reads.Go(func() {
			for reading.Err() == nil {
				if _, err := s.Turns(t.Context(), k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	longest := burden(t, s, 1, 360) // 90 MiB
	stop()
	reads.Wait()
	if longest > most {
		t.Errorf("the log grew to %d bytes", longest)
	}
	if longest < 4<<20 {
		t.Errorf("the log never had more than %d bytes: this test proves nothing", longest)
	}
}

func TestAReadThatHoldsOnStopsNoWriterAndTheLogShrinksOnceItLetsGo(t *testing.T) {
	s := openTemp(t)
	burden(t, s, 1, 2)
	err := s.snapshot(t.Context(), func(in inTx) error {
		ordinals := func() int {
			found, err := list(t.Context(), in(s.query.turns), scanTurn, "a", "c", "b")
			if err != nil {
				t.Error(err)
			}
			return len(found)
		}
		before := ordinals()
		longest := burden(t, s, 2, 320) // 80 MiB, each of which must be committed
		if longest < most {
			t.Errorf("the log grew to %d bytes only: the read did not hold on", longest)
		}
		if after := ordinals(); before != 1 || after != before {
			t.Errorf("the read saw %d turns, then %d, want the one of its beginning", before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	burden(t, s, 320, 321)
	// The writer answers before it cuts the log back, so one more waits for that.
	if longest := burden(t, s, 321, 322); longest > foldBytes {
		t.Errorf("the log still has %d bytes", longest)
	}
}
