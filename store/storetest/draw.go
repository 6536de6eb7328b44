package storetest

import (
	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
)

// WriteSets draws between one and most write sets about a few agents, meant
// to be committed in order to a store that holds nothing of theirs. They lean
// on each other, and about one in three does not fit what those before it
// wrote, some of them only in a late part.
func WriteSets(t *rapid.T, most int) []store.WriteSet {
	w := &world{model: &model{effects: map[store.EffectKey]store.Effect{}}, owners: []string{alice, bob}}
	sets := make([]store.WriteSet, rapid.IntRange(1, most).Draw(t, "sets"))
	for n := range sets {
		sets[n] = w.writeSet(t)
		w.model, _ = w.model.commit(sets[n])
	}
	return sets
}
