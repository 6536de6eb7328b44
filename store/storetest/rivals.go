package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/parley-agents/parley/store"
)

// rivals commits at once, again and again, steps of one exchange from one
// version, each with a message that only one may accept, among steps of
// exchanges that nobody else moves.
func rivals(t *testing.T, fresh func() Place) {
	s := fresh()()
	const rounds, many = 10, 32
	for version := range int64(rounds) {
		var (
			once    sync.WaitGroup
			answers [many]error
			others  [many]error
		)
		for n := range many {
			once.Go(func() {
				x := exchange(key(alice, "c", bob), "received")
				x.Version = version
				answers[n] = s.Commit(t.Context(), store.WriteSet{
					Entries:   []store.Entry{entry(alice, "c", fmt.Sprint(version))},
					Exchanges: []store.Exchange{x},
					Accept:    []store.Inbox{accepted(alice, bob, fmt.Sprint(version))},
				})
			})
			once.Go(func() {
				x := exchange(key(alice, fmt.Sprint(n), carol), "received")
				x.Version = version
				others[n] = s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x}, Entries: []store.Entry{entry(alice, fmt.Sprint(n), "m")}})
			})
		}
		once.Wait()
		won := 0
		for n := range many {
			if answers[n] == nil {
				won++
			} else if !errors.Is(answers[n], store.ErrConflict) {
				t.Errorf("a step from version %d that lost: got %v, want a conflict", version, answers[n])
			}
			if others[n] != nil {
				t.Errorf("a step that nobody rivalled: %v", others[n])
			}
		}
		equal(t, fmt.Sprint("steps from version ", version, " that won"), won, 1)
	}
	equal(t, "version", must(s.Exchange(t.Context(), key(alice, "c", bob)))(t).Version, int64(rounds))
	equal(t, "entries", len(must(s.Log(t.Context(), alice, "c", 0))(t)), rounds)
	for n := range many {
		equal(t, "entries of a step that nobody rivalled", len(must(s.Log(t.Context(), alice, fmt.Sprint(n), 0))(t)), rounds)
	}
}
