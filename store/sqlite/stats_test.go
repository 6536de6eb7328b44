package sqlite

import (
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestStatsCountWhatWasCommittedAndNothingElse(t *testing.T) {
	s := openTemp(t)
	turn := store.WriteSet{Turns: []store.Turn{{Key: store.Key{Owner: "a", Conversation: "c", Peer: "b"}, Ordinal: 1, Kind: store.Reply}}}
	if err := s.Commit(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if got := s.Stats(); got != (Stats{Commits: 1, Sets: 1}) {
		t.Errorf("after one write set: %+v", got)
	}
	if err := s.Commit(t.Context(), turn); err == nil {
		t.Fatal("a turn was recorded twice")
	}
	if got := s.Stats(); got != (Stats{Commits: 1, Sets: 1}) {
		t.Errorf("after one that did not fit: %+v", got)
	}
}

func TestAnInspectedStoreHasNoStats(t *testing.T) {
	s := openTemp(t)
	i, err := Inspect(t.Context(), s.lock.Name()[:len(s.lock.Name())-len(".lock")])
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if got := i.Stats(); got != (Stats{}) {
		t.Errorf("%+v", got)
	}
}
