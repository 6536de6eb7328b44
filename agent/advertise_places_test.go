package agent

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
)

func TestAnExchangeTakesOnePlaceHoweverOftenItHoldsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p places
		held := map[store.Key]int{}
		capacity := rapid.IntRange(1, 3).Draw(t, "capacity")
		for range rapid.IntRange(1, 40).Draw(t, "moves") {
			k := store.Key{Owner: "agent://local/a", Conversation: rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(t, "conversation")}
			if held[k] > 0 && rapid.Bool().Draw(t, "release") {
				p.release(k)
				if held[k]--; held[k] == 0 {
					delete(held, k)
				}
				continue
			}
			force := rapid.Bool().Draw(t, "force")
			want := force || held[k] > 0 || len(held) < capacity
			if got := p.take(k, capacity, force); got != want {
				t.Fatalf("with %v of %d held, taking %s gives %v", held, capacity, k.Conversation, got)
			}
			if want {
				held[k]++
			}
		}
	})
}
