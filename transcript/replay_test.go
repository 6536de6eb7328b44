package transcript_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// drawWorld is a random run of a random protocol that has come to its end.
func drawWorld(t *rapid.T) *world {
	seed := rapid.Uint64().Draw(t, "seed")
	name := rapid.SampledFrom([]string{protocol.RequestV1, protocol.QueryV1, protocol.SubscribeV1, protocol.ProposeV1,
		protocol.ContractNetV1, protocol.GatherV1}).Draw(t, "protocol")
	members := []string{flights}
	if name == protocol.ContractNetV1 || name == protocol.GatherV1 {
		members = []string{flights, "agent://local/hotels", "agent://local/cars"}[:rapid.IntRange(1, 3).Draw(t, "members")]
	}
	w := newWorld(t, seed, name, members...)
	w.loses, w.odd, w.gossips = rapid.Bool().Draw(t, "loses"), rapid.Bool().Draw(t, "odd"), rapid.Bool().Draw(t, "gossips")
	w.settle(rapid.IntRange(0, 7).Draw(t, "policy"))
	w.run()
	return w
}

// settle fixes what the protocol leaves open.
func (w *world) settle(choice int) {
	switch w.protocol {
	case protocol.ContractNetV1:
		w.binding.Awards, w.binding.Rounds = 1+choice%2, 1+choice/2%3
	case protocol.GatherV1:
		g := protocol.Gather{ID: "g-1", Members: w.binding.Members, Policy: protocol.PolicyAll, Reducer: protocol.ReducerPreserveDissent, Deadline: w.binding.Deadline}
		switch choice % 4 {
		case 1:
			g.Reducer = protocol.ReducerOrderedList
		case 2:
			g.Policy, g.Quorum = protocol.PolicyQuorum, 1+choice%len(g.Members)
		case 3:
			g.Policy, g.Reducer = protocol.PolicyFirstSuccess, protocol.ReducerFirstByCanonicalOrder
		}
		w.binding.Gather = &g
	}
}

func TestEveryLogFoldsToWhatTheStoreHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for owner, s := range w.sides {
			if len(s.log) == 0 {
				continue
			}
			r, err := transcript.Replay(s.log, w.rowsOf(owner))
			if err != nil {
				t.Fatalf("%s, %s: %v", w.protocol, owner, err)
			}
			if (owner == planner) != (r.Terminal != "") || r.Entries != len(s.log) {
				t.Fatalf("%s, %s: %+v", w.protocol, owner, r)
			}
		}
	})
}

func TestEveryCausallyValidOrderFoldsToOneDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
		for owner, s := range w.sides {
			if len(s.log) == 0 {
				continue
			}
			rows := w.rowsOf(owner)
			want, err := transcript.Replay(s.log, rows)
			if err != nil {
				t.Fatalf("%v", err)
			}
			order := transcript.Shuffle(s.log, r)
			if err := transcript.Causal(s.log, order); err != nil {
				t.Fatalf("%v", err)
			}
			if got, err := transcript.StateOf(order, rows); err != nil || got != want.Digest {
				t.Fatalf("%s, %s: %s, want %s (%v)", w.protocol, owner, got, want.Digest, err)
			}
		}
	})
}

func TestEveryEndedConversationExportsToAValidTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		s := w.sides[planner]
		trace, err := transcript.Export(s.log, w.rowsOf(planner))
		if err != nil {
			t.Fatalf("%s: %v", w.protocol, err)
		}
		data, err := json.Marshal(trace)
		if v := transcript.Validate(data); err != nil || !v.Valid {
			t.Fatalf("%s: %v %v", w.protocol, v.Errors, err)
		}
		for owner, s := range w.sides {
			if owner == planner || len(s.log) == 0 {
				continue
			}
			if _, err := transcript.Export(s.log, w.rowsOf(owner)); !errors.Is(err, transcript.ErrPartialView) {
				t.Fatalf("%s: %v", owner, err)
			}
		}
	})
}

func TestALogThatWasCutOffDoesNotExport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		log := w.sides[planner].log
		// What comes after the end may be absorbed without a trace.
		end := slices.IndexFunc(log, func(e store.Entry) bool { return e.Kind == store.Concluded })
		n := rapid.IntRange(0, end).Draw(t, "entries")
		_, err := transcript.Export(log[:n], w.rowsOf(planner))
		if _, diverged := errors.AsType[*transcript.Divergence](err); !diverged && !errors.Is(err, transcript.ErrNothing) && !errors.Is(err, transcript.ErrLive) {
			t.Fatalf("%d of %d entries: %v", n, len(log), err)
		}
	})
}

func TestStepsTellTheStateAfterEachEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		s := w.sides[planner]
		var steps []transcript.Step
		for step, err := range transcript.Steps(s.log, w.rowsOf(planner)) {
			if err != nil {
				t.Fatalf("%v", err)
			}
			steps = append(steps, step)
		}
		r, err := transcript.Replay(s.log, w.rowsOf(planner))
		if err != nil || len(steps) != len(s.log) || steps[len(steps)-1].Digest != r.Digest {
			t.Fatalf("%d steps of %d entries (%v)", len(steps), len(s.log), err)
		}
	})
}

// Whatever is changed by hand is found, wherever it is.
func TestAChangedEntryOrRowIsADivergence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		log, rows := slices.Clone(w.sides[planner].log), w.rowsOf(planner)
		i := rapid.IntRange(0, len(log)-1).Draw(t, "entry")
		e, x := &log[i], &rows[rapid.IntRange(0, len(rows)-1).Draw(t, "row")]
		// relink makes the chain fit again: whoever can write the file can do that too.
		relink := false
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			e.At = e.At.Add(1e9)
		case 1:
			e.To += "x"
			relink = e.Peer != ""
		case 2:
			e.Reason += "x"
		case 3:
			e.Note = append(slices.Clone(e.Note), ' ', '{')
			relink = e.Peer == "" || e.Kind == store.Noted
		case 4:
			e.Digest[3]++
			relink = len(e.Envelope) > 0
		case 5:
			e.Envelope = append(slices.Clone(e.Envelope), 'x')
			if e.Peer == "" || e.Kind == store.Fired {
				return
			}
		case 6:
			if i == len(log)-1 && e.Kind == store.Noted {
				return // nothing counts it
			}
			if i == len(log)-1 && e.From == e.To && e.From.Done() && slices.Contains([]protocol.Event{"?ack", protocol.Nacked, protocol.Misunderstood}, e.Event) {
				return // a last receipt that an ended exchange absorbed: nothing counts it
			}
			log = slices.Delete(log, i, i+1)
		case 7:
			x.State.State = "done:unknown"
			if w.sides[planner].rows[x.Peer].State.State == "done:unknown" {
				x.State.State = "done:ok"
			}
		case 8:
			x.State.Received += 2
		case 9:
			x.Final += "0"
			if w.sides[planner].rows[x.Peer].Final == "" { // an ending over content that nobody kept names no message
				return
			}
		}
		if relink {
			var head [32]byte
			for i := range log {
				log[i].Hash = store.Link(head, log[i])
				head = log[i].Hash
			}
		}
		_, err := transcript.Replay(log, rows)
		if d, is := errors.AsType[*transcript.Divergence](err); !is && !(errors.Is(err, transcript.ErrNothing) && len(log) == 0) {
			t.Fatalf("%s, entry %d of %d: %v %v", w.protocol, i, len(log), d, err)
		}
	})
}
