package agent

import (
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestWhatAStepLeavesIsInHandUntilAnotherStepIsTaken(t *testing.T) {
	k := store.Key{Owner: "o", Conversation: "c", Peer: "p"}
	first := func() *step { return &step{x: store.Exchange{Key: k, Version: 4}} }
	second := func() *step { return &step{x: store.Exchange{Key: k, Version: 5}} }
	for name, c := range map[string]struct {
		then func(j *jobs, s *step)
		want bool
	}{
		"it is not committed yet":                     {func(*jobs, *step) {}, false},
		"it is committed":                             {func(j *jobs, s *step) { j.moved(s) }, true},
		"another one follows":                         {func(j *jobs, s *step) { j.moved(s); j.moved(second()) }, false},
		"another one is told of before it":            {func(j *jobs, s *step) { j.moved(second()); j.moved(s) }, false},
		"it could not be committed":                   {func(j *jobs, s *step) { j.letGo(k) }, false},
		"it is given back":                            {func(j *jobs, s *step) { j.moved(s); j.letGo(k) }, false},
		"another one that leaves something follows":   {func(j *jobs, s *step) { j.moved(s); j.foresee(second()) }, false},
		"another one that leaves something was first": {func(j *jobs, s *step) { j.foresee(second()); j.moved(s) }, false},
	} {
		j, s := &jobs{}, first()
		j.foresee(s)
		c.then(j, s)
		switch got := j.inHand(k); {
		case (got != nil) != c.want:
			t.Errorf("%s: in hand is %v", name, got)
		case got != nil && got.left().Version != 5:
			t.Errorf("%s: it is of version %d, want that which was written", name, got.left().Version)
		}
	}
}
