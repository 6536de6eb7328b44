package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
	"github.com/parley-agents/parley/store/storetest"
)

func TestMemoryIsAConformingStore(t *testing.T) {
	storetest.Run(t, place)
}

// place is a store that each call after the first reopens.
func place(t *testing.T) storetest.Place {
	var s *memory.Store
	return func() store.Store {
		if s == nil {
			s = memory.New()
			return s
		}
		var err error
		if s, err = s.Reopen(); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestASecondHolderIsRefusedUntilTheFirstCloses(t *testing.T) {
	first := memory.New()
	if _, err := first.Reopen(); !errors.Is(err, store.ErrInUse) {
		t.Fatalf("got %v, want in use", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := first.Reopen()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil { // again, and not the second's
		t.Fatal(err)
	}
	if _, err := first.Reopen(); !errors.Is(err, store.ErrInUse) {
		t.Errorf("while the second is open: got %v, want in use", err)
	}
	if _, err := second.Owners(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNobodySharesMemoryWithTheStore(t *testing.T) {
	s := memory.New()
	ctx := t.Context()
	k := store.Key{Owner: "a", Conversation: "c", Peer: "b"}
	x := store.Exchange{Key: k, State: protocol.Exchange{Asked: []string{"m"}}}
	envelope, note, data := []byte("envelope"), []byte("note"), []byte("data")
	err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x},
		Entries: []store.Entry{{Owner: "a", Conversation: "c", Envelope: envelope, Note: note}},
		Turns:   []store.Turn{{Key: k, Ordinal: 1, Data: data}}})
	if err != nil {
		t.Fatal(err)
	}
	config, pinned := []byte("config"), []byte("key")
	callback := store.CallbackKey{Owner: "a", Task: "t", ID: "i"}
	if err := s.PutCallback(ctx, store.Callback{CallbackKey: callback, Config: config}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pin(ctx, store.Pin{URI: "b", Key: pinned}); err != nil {
		t.Fatal(err)
	}
	scribble := func() {
		x.State.Asked[0], envelope[0], note[0], data[0], config[0], pinned[0] = "!", '!', '!', '!', '!', '!'
	}
	for range 2 { // over what was written, then over what was read
		scribble()
		read, err := s.Exchange(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		log, err := s.Log(ctx, "a", "c", 0)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := s.Turns(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		called, err := s.Callback(ctx, callback)
		if err != nil {
			t.Fatal(err)
		}
		pin, err := s.Pinned(ctx, "b")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s %s %s %s", read.State.Asked, log[0].Envelope, log[0].Note, turns[0].Data, called.Config, pin.Key); got != "[m] envelope note data config key" {
			t.Fatalf("the store now holds %s", got)
		}
		x.State.Asked, envelope, note, data, config, pinned = read.State.Asked, log[0].Envelope, log[0].Note, turns[0].Data, called.Config, pin.Key
	}
}

func ExampleNew() {
	ctx := context.Background()
	s := memory.New()
	defer s.Close()

	k := store.Key{Owner: "agent://local/planner", Conversation: "trip-8841", Peer: "agent://local/flights"}
	x := store.Exchange{Key: k, State: protocol.Open(protocol.RequestV1, k.Conversation, k.Owner, k.Peer, protocol.Initiator)}
	if err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		log.Fatal(err)
	}
	found, err := s.Conversations(ctx, "", 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found[0].ID, found[0].Peers, found[0].State)
	// Output: trip-8841 [agent://local/flights] live
}

func ExampleStore_Reopen() {
	ctx := context.Background()
	s := memory.New()
	if _, err := s.Identity(ctx, store.Identity{Owner: "agent://local/planner"}); err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	again, err := s.Reopen()
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	fmt.Println(again.Owners(ctx))
	// Output: [agent://local/planner] <nil>
}
