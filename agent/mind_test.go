package agent

import (
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func TestTheLoopIsWokenForWhatIsDueBeforeItLooks(t *testing.T) {
	o := newOutgoing()
	at := time.Unix(100, 0)
	if !o.misses(at) {
		t.Error("a loop that looks may not have seen it")
	}
	o.rest(at)
	if o.misses(at) || o.misses(at.Add(time.Second)) {
		t.Error("the loop looks in time and is woken")
	}
	if !o.misses(at.Add(-time.Millisecond)) {
		t.Error("the loop looks too late")
	}
	o.rest(time.Time{})
	if !o.misses(at) {
		t.Error("the loop rests for good")
	}
	o.rest(at)
	o.look()
	if !o.misses(at.Add(time.Second)) {
		t.Error("a loop that looks again may not have seen it")
	}
}

func TestAStepWakesTheLoopForWhatItMayHaveLetGo(t *testing.T) {
	at := time.Unix(100, 0)
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
		h.out.rest(at)
		h.mind(&c.step)
		if woken := len(h.out.wake) > 0; woken != c.want {
			t.Errorf("%s: woken is %v", name, woken)
		}
	}
}
