package transcript_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	inn  = "agent://local/hotels"
	cars = "agent://local/cars"
)

// pass delivers what the sender said first to the receiver, the given number of times.
func (w *world) pass(sender, receiver string, times int) {
	for range times {
		if len(w.wire[[2]string{sender, receiver}]) == 0 {
			w.Fatalf("%s has nothing for %s", sender, receiver)
		}
		w.now = w.now.Add(100 * time.Millisecond)
		w.arrive([2]string{sender, receiver}, 0)
	}
}

// tell lets an agent say words to a peer, one after the other, and delivers them.
func (w *world) tell(sender, receiver string, words ...string) {
	for _, word := range words {
		w.now = w.now.Add(100 * time.Millisecond)
		w.send(sender, receiver, word, nil, nil)
		w.pass(sender, receiver, 1)
	}
}

// wait lets the planner's timers fire until all its exchanges have ended.
func (w *world) wait() {
	for range 100 {
		i := slices.IndexFunc(w.timers(), func(t timer) bool { return t.owner == planner })
		if i < 0 {
			return
		}
		w.fire(w.timers()[i])
	}
	w.Fatalf("the planner's timers never end")
}

// scenario is one run from beginning to end.
type scenario struct {
	protocol string
	members  []string
	policy   int // see settle
	want     transcript.State
	play     func(*world)
}

func scenarios() map[string]scenario {
	two, three := []string{flights, inn}, []string{cars, flights, inn}
	all := func(w *world, words ...string) { // each member in turn
		for i, word := range words {
			w.pass(planner, w.members[i], 1)
			w.tell(w.members[i], planner, word)
		}
	}
	acks := func(w *world, from ...string) {
		for _, m := range from {
			w.pass(planner, m, 1)
			w.pass(m, planner, 1)
		}
	}
	return map[string]scenario{
		"request": {protocol.RequestV1, two[:1], 0, transcript.Completed, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree", "inform~", "inform")
		}},
		"request-failed": {protocol.RequestV1, two[:1], 0, transcript.Blocked, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree", "failure")
		}},
		"request-unknown": {protocol.RequestV1, two[:1], 0, transcript.TimedOut, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
			w.wait()
		}},
		"request-cancelled": {protocol.RequestV1, two[:1], 0, transcript.Cancelled, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
			w.tell(planner, flights, "cancel")
			w.tell(flights, planner, "inform.c")
		}},
		"request-cancel-overtaken": {protocol.RequestV1, two[:1], 0, transcript.Completed, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
			w.send(planner, flights, "cancel", nil, nil)
			w.tell(flights, planner, "inform")
		}},
		"request-void": {protocol.RequestV1, two[:1], 0, transcript.Blocked, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
			w.send(flights, planner, "inform", nil, nil)
			e := w.take([2]string{flights, planner}, 0)
			w.void(w.sides[planner], w.sides[planner].rows[flights], e)
		}},
		"query-refused": {protocol.QueryV1, two[:1], 0, transcript.Blocked, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "refuse")
		}},
		"query-rejected-item": {protocol.QueryV1, two[:1], 0, transcript.Completed, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
			w.send(flights, planner, "inform~", nil, nil)
			s := w.sides[planner]
			w.reject(s, s.rows[flights], w.take([2]string{flights, planner}, 0), "schema")
			w.tell(flights, planner, "inform")
		}},
		"subscribe": {protocol.SubscribeV1, two[:1], 0, transcript.Completed, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree", "inform~", "inform~", "inform~", "inform")
		}},
		"propose-accepted": {protocol.ProposeV1, two[:1], 0, transcript.Completed, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "agree")
		}},
		"propose-rejected": {protocol.ProposeV1, two[:1], 0, transcript.Blocked, func(w *world) {
			w.pass(planner, flights, 1)
			w.tell(flights, planner, "refuse")
		}},
		"contract-net": {protocol.ContractNetV1, three, 0, transcript.Completed, func(w *world) {
			all(w, "propose", "refuse", "propose")
			awarded := cars
			if w.sides[planner].rows[inn].State.State == "awarded" {
				awarded = inn
			}
			w.pass(planner, awarded, 1)
			w.tell(awarded, planner, "inform")
		}},
		"contract-net-silent": {protocol.ContractNetV1, three, 0, transcript.TimedOut, func(w *world) {
			all(w, "refuse", "refuse")
			w.wait()
		}},
		"contract-net-withdrawn": {protocol.ContractNetV1, two[:1], 0, transcript.Blocked, func(w *world) {
			w.pass(planner, flights, 1)
			w.send(flights, planner, "propose", nil, nil)
			w.send(flights, planner, "cancel", nil, nil)
			w.wire[[2]string{flights, planner}] = w.wire[[2]string{flights, planner}][1:] // the cancel overtakes it
			w.pass(flights, planner, 1)
		}},
		"gather-one": {protocol.GatherV1, two[:1], 1, transcript.Completed, func(w *world) {
			all(w, "inform~")
			acks(w, flights)
		}},
		"gather": {protocol.GatherV1, two, 1, transcript.Completed, func(w *world) {
			all(w, "inform~", "inform~")
			acks(w, inn, flights)
		}},
		"gather-abstained": {protocol.GatherV1, two, 0, transcript.Blocked, func(w *world) {
			all(w, "inform~", "refuse")
			acks(w, flights, inn)
		}},
		"gather-blocked": {protocol.GatherV1, two, 1, transcript.Blocked, func(w *world) {
			all(w, "inform~", "inform~")
			acks(w, flights)
			w.wait()
		}},
		"gather-missing": {protocol.GatherV1, three, 1, transcript.TimedOut, func(w *world) {
			all(w, "inform~", "inform~")
			for _, t := range w.timers() {
				if t.owner == planner && t.peer == inn {
					w.fire(t)
				}
			}
			acks(w, cars, flights)
			w.wait()
		}},
		"gather-quorum": {protocol.GatherV1, three, 10, transcript.Completed, func(w *world) {
			all(w, "inform~", "inform~")
			acks(w, cars, flights)
			w.wait()
		}},
		"gather-dissent": {protocol.GatherV1, three, 0, transcript.DissentRecorded, func(w *world) {
			for _, m := range w.members {
				w.pass(planner, m, 1)
				w.dissents = m == flights
				w.tell(m, planner, "inform~")
			}
			acks(w, three...)
		}},
		"gather-cancelled": {protocol.GatherV1, two, 1, transcript.Cancelled, func(w *world) {
			all(w, "inform~")
			w.say(*w.sides[planner].rows[inn], "cancel")
			w.wait()
		}},
	}
}

// played is a scenario that was run.
func played(t *testing.T, name string) *world {
	t.Helper()
	s := scenarios()[name]
	w := newWorld(t, 7, s.protocol, s.members...)
	w.stance = true
	w.settle(s.policy)
	w.start()
	s.play(w)
	return w
}

func exported(t *testing.T, w *world) transcript.Trace {
	t.Helper()
	trace, err := transcript.Export(w.sides[planner].log, w.rowsOf(planner))
	if err != nil {
		t.Fatalf("%s: %v", w.protocol, err)
	}
	return trace
}

func TestEachScenarioExportsToItsGoldenTrace(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(scenarios())) {
		t.Run(name, func(t *testing.T) {
			w := played(t, name)
			trace := exported(t, w)
			if want := scenarios()[name].want; trace.Terminal.State != want {
				t.Errorf("the terminal is %s, want %s", trace.Terminal.State, want)
			}
			wantGolden(t, name+".trace.json", trace)
			wantGolden(t, name+".run.json", struct {
				Exchanges []store.Exchange
				Log       []store.Entry
			}{w.rowsOf(planner), w.sides[planner].log})
		})
	}
}

func wantGolden(t *testing.T, name string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	must(t, err)
	data = append(data, '\n')
	path := filepath.Join("testdata", "scenarios", name)
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, data, 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if string(want) != string(data) {
		t.Errorf("%s differs from what is in testdata", name)
	}
}
