package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestAnOwnerSetIsThatOfTheLastOwnersAsked(t *testing.T) {
	var s store.OwnerSet
	list := []string{"b", "a", "b"}
	for range 2 {
		if got := slices.Sorted(maps.Keys(s.Of(list))); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("got %q", got)
		}
	}
	list[0] = "c" // the caller's own slice
	if got := slices.Sorted(maps.Keys(s.Of(list))); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("after a change: %q", got)
	}
	if got := s.Of(nil); len(got) != 0 {
		t.Errorf("of nobody: %v", got)
	}
}
