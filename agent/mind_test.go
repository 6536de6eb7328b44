package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func TestTheLoopLooksInTimeForWhatIsDueBeforeItWould(t *testing.T) {
	at := time.Unix(100, 0)
	var set []time.Time
	stopped := 0
	o := newOutgoing(func(at time.Time) func() {
		set = append(set, at)
		return func() { stopped++ }
	})
	expect := func(what string, times ...time.Time) {
		t.Helper()
		if !slices.Equal(set, times) || len(set) > 0 && stopped != len(set)-1 {
			t.Errorf("%s: alarms %v, %d of them stopped", what, set, stopped)
		}
		set, stopped = set[:0], 0
	}
	o.rest(time.Time{})
	expect("a loop that rests for good")
	o.lookBy(at)
	expect("something is due", at)
	o.lookBy(at)
	o.lookBy(at.Add(time.Second))
	expect("the loop looks in time")
	o.lookBy(at.Add(-time.Second))
	if stopped != 1 {
		t.Errorf("%d alarms were stopped for an earlier one", stopped)
	}
	stopped = 0
	expect("something is due before", at.Add(-time.Second))
	o.look()
	if stopped != 1 {
		t.Errorf("%d alarms were stopped when the loop looked", stopped)
	}
	stopped = 0
	o.lookBy(at.Add(time.Second))
	o.lookBy(at.Add(2 * time.Second))
	expect("the loop looks, and may not have seen it")
	o.rest(at.Add(time.Minute))
	expect("what it may not have seen is due first", at.Add(time.Second))
	o.look()
	o.lookBy(at.Add(time.Second))
	stopped = 0
	o.rest(at)
	expect("what it has seen is due first", at)
}

func TestAStepWakesTheLoopForWhatItMayHaveLetGo(t *testing.T) {
	for name, c := range map[string]struct {
		step step
		want bool
	}{
		"nothing":                  {step{}, false},
		"an act":                   {step{set: store.WriteSet{Outbox: []store.Outbox{{}}}}, true},
		"one that was answered":    {step{set: store.WriteSet{Deliveries: []store.Delivery{{}}}}, true},
		"those a cancel overtakes": {step{set: store.WriteSet{DropUnsent: []store.Key{{}}}}, true},
		"one with another time":    {step{set: store.WriteSet{Redrive: []store.Redrive{{}}}}, true},
	} {
		h := NewHost(Config{})
		h.out.rest(time.Time{})
		h.mind(&c.step)
		if woken := len(h.out.wake) > 0; woken != c.want {
			t.Errorf("%s: woken is %v", name, woken)
		}
	}
}
