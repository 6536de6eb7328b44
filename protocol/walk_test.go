package protocol

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// walk is one random interleaving of two exchanges through the real Advance:
// what is under way is lost, mixed up or delivered, timers fire, and whoever
// may act does so at random.
type walk struct {
	*sealer
	*rand.Rand
	network
	protocol *Protocol
	sealed   map[letter]*envelope.Envelope
	now      time.Time
	sides    map[Role]Exchange
	under    map[Role][]*envelope.Envelope // by the receiver's role
	ended    map[Role]int
	refused  int
}

// network says what the channels do besides letting a cancel overtake.
type network struct{ loses, mixes bool }

// letter is all that tells two messages of a protocol's walks apart.
type letter struct {
	role    Role
	word    Event
	seq     int64
	answers string
	replyBy time.Time
}

func other(r Role) Role {
	if r == Initiator {
		return Participant
	}
	return Initiator
}

// run takes steps until nothing can happen any more.
func (w *walk) run() {
	w.now, w.under, w.ended = noon, map[Role][]*envelope.Envelope{}, map[Role]int{}
	w.sides = map[Role]Exchange{Initiator: opened(w.protocol.Name, Initiator), Participant: opened(w.protocol.Name, Participant)}
	w.say(Initiator, Event("!"+opening(w.protocol)))
	for range 2000 {
		steps := w.steps()
		if len(steps) == 0 {
			return
		}
		steps[w.IntN(len(steps))]()
	}
	w.Fatalf("%s: no end in sight: %+v", w.protocol.Name, w.sides)
}

// steps are all that can happen now.
func (w *walk) steps() (list []func()) {
	for _, r := range []Role{Initiator, Participant} {
		x := w.sides[r]
		for i, e := range w.under[r] {
			if i == 0 || w.mixes || e.Act() == envelope.Cancel {
				list = append(list, func() { w.arrive(r, i) })
			}
			if w.loses {
				list = append(list, func() { w.take(r, i) })
			}
		}
		for _, row := range w.protocol.Table(r).Rows() {
			if row.From == x.State && row.On.Sends() && !x.spent(row.On) && x.State != Start {
				list = append(list, func() { w.say(r, row.On) })
			}
		}
		timers := x.Timers()
		for _, t := range slices.Sorted(maps.Keys(timers)) {
			list = append(list, func() {
				if due := timers[t]; due.After(w.now) {
					w.now = due
				}
				w.step(r, Fire(t))
			})
		}
	}
	return list
}

func (w *walk) take(r Role, i int) *envelope.Envelope {
	e := w.under[r][i]
	w.under[r] = slices.Delete(slices.Clone(w.under[r]), i, i+1)
	return e
}

// arrive hands the owner a message, unless its guard refuses the opening act.
func (w *walk) arrive(r Role, i int) {
	e := w.take(r, i)
	switch {
	case r == Participant && w.sides[r].State == Start && w.protocol.Opens(e.Act()) && w.IntN(20) == 0:
		x := w.sides[r]
		x.Trigger = e.ID()
		w.under[Initiator] = append(w.under[Initiator], w.write(x, "!nack"))
	case e.ReceiptKind() == envelope.Nack:
		w.step(r, Refusal(e))
	default:
		w.step(r, Receive(e))
	}
}

// say sends an act or receipt of the owner.
func (w *walk) say(r Role, on Event) {
	e := w.write(w.sides[r], on)
	w.under[other(r)] = append(w.under[other(r)], e)
	w.step(r, Send(e))
}

// step advances one side and does what must follow.
func (w *walk) step(r Role, in Input) {
	x := w.sides[r]
	next, out, err := Advance(x, w.now, in)
	if err != nil {
		if w.refused++; !w.mixes && !w.loses && in.event != Nacked {
			w.Fatalf("%s: %v", w.protocol.Name, err)
		}
		return
	}
	if to, ok := w.protocol.Table(r).Next(x.State, in.event); next.State != x.State && (!ok || to != next.State) {
		w.Fatalf("%s: %s %s in %s led to %s", w.protocol.Name, r, in.event, x.State, next.State)
	}
	w.sides[r] = next
	for _, o := range out {
		switch o.Do {
		case Utter:
			w.say(r, Event("!"+o.Act.word()))
		case Acknowledge:
			w.say(r, "!ack")
		case Decide:
			if w.protocol.Name == GatherV1 && in.event.Fires() {
				w.say(r, "!fence")
			}
		case End:
			w.ended[r]++
		}
	}
}

// write seals a message, or takes one that says the same.
func (w *walk) write(x Exchange, on Event) *envelope.Envelope {
	h := w.header(x, on)
	if !h.ReplyBy.IsZero() {
		h.ReplyBy = w.now.Add(time.Minute)
	}
	l := letter{x.Role, on, h.Seq, h.InReplyTo, h.ReplyBy}
	if w.sealed[l] == nil {
		hash := fnv.New64a()
		fmt.Fprint(hash, l)
		h.MessageID = fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", hash.Sum64()>>16)
		w.sealed[l] = w.seal(h)
	}
	return w.sealed[l]
}

func TestEveryInterleavingReachesExactlyOneTerminal(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Logf("SEED=%d go test -run %s ./protocol", seed, t.Name())
			w := &walk{sealer: newSealer(t), Rand: rand.New(rand.NewPCG(seed, 0)), protocol: p, sealed: map[letter]*envelope.Envelope{}}
			outcomes := map[string]int{}
			for i := range 10_000 {
				w.network = network{loses: i%4 == 1 || i%4 == 3, mixes: i%4 >= 2}
				w.run()
				checkWalk(t, w)
				outcomes[fmt.Sprintf("%s | %s", w.sides[Initiator].State, w.sides[Participant].State)]++
			}
			if len(outcomes) < 5 && p.Name != GatherV1 {
				t.Errorf("only these outcomes: %v", outcomes)
			}
			t.Logf("%d messages, %d refused, outcomes %v", len(w.sealed), w.refused, outcomes)
		})
	}
}

func checkWalk(t *testing.T, w *walk) {
	i, p := w.sides[Initiator], w.sides[Participant]
	if !i.Done() || w.ended[Initiator] != 1 {
		t.Fatalf("the initiator ended %d times, in %s", w.ended[Initiator], i.State)
	}
	if started := p.State != Start; started && (!p.Done() || w.ended[Participant] != 1) {
		t.Fatalf("the participant ended %d times, in %s", w.ended[Participant], p.State)
	}
	if (i.Outcome().OK() || i.Outcome() == Closed) && p.State != i.State {
		t.Fatalf("the initiator ended %s, the participant %s", i.State, p.State)
	}
	if len(i.Timers()) != 0 || p.Done() && len(p.Timers()) != 0 {
		t.Fatal("a timer is left")
	}
}
