package transcript_test

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// run lets things happen at random until nothing can.
func (w *world) run() {
	w.start()
	for range 2000 {
		actions := w.actions()
		if len(actions) == 0 {
			return
		}
		if w.gossips && w.IntN(6) == 0 {
			w.hear()
		}
		actions[w.IntN(len(actions))]()
	}
	w.Fatalf("no end in sight: %v", w.timers())
}

// timer is one that runs.
type timer struct {
	owner, peer string
	name        protocol.Timer
	at          time.Time
}

func (w *world) timers() (list []timer) {
	for _, owner := range slices.Sorted(maps.Keys(w.sides)) {
		for _, x := range w.rowsOf(owner) {
			due := x.State.Timers()
			for _, name := range slices.Sorted(maps.Keys(due)) {
				list = append(list, timer{owner, x.Peer, name, due[name]})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b timer) int { return a.at.Compare(b.at) })
	return list
}

// actions are all that can happen now. Timers come before what happens later, unless a host is slow.
func (w *world) actions() (list []func()) {
	timers := w.timers()
	if len(timers) > 0 && !timers[0].at.After(w.now) && w.IntN(8) > 0 {
		return []func(){func() { w.fire(timers[0]) }}
	}
	if len(timers) > 0 {
		list = append(list, func() { w.fire(timers[0]) })
	}
	for _, way := range slices.SortedFunc(maps.Keys(w.wire), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		for i, e := range w.wire[way] {
			if i > 0 && e.Act() != envelope.Cancel {
				continue
			}
			list = append(list, func() { w.later(); w.arrive(way, i) }, func() { w.later(); w.arrive(way, i) })
			if w.loses {
				list = append(list, func() { w.take(way, i) })
			}
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(w.sides)) {
		for _, x := range w.rowsOf(owner) {
			for _, word := range w.sayable(x) {
				list = append(list, func() { w.later(); w.say(x, word) })
			}
		}
	}
	return list
}

// say says a word. A gather is cancelled as a whole.
func (w *world) say(x store.Exchange, word string) {
	if w.protocol != protocol.GatherV1 || word != "cancel" {
		w.send(x.Owner, x.Peer, word, nil, nil)
		return
	}
	p, err := protocol.Lookup(w.protocol)
	if err != nil {
		w.Fatalf("%v", err)
	}
	for _, x := range w.rowsOf(x.Owner) {
		if _, ok := p.Table(x.State.Role).Next(x.State.State, "!cancel"); ok {
			w.send(x.Owner, x.Peer, word, nil, nil)
		}
	}
}

func (w *world) later() { w.now = w.now.Add(time.Duration(w.IntN(400)) * time.Millisecond) }

// sayable are what the owner of an exchange may decide to say: a participant anything, an initiator a cancel, now and then.
func (w *world) sayable(x store.Exchange) (list []string) {
	p, err := protocol.Lookup(w.protocol)
	if err != nil {
		w.Fatalf("%v", err)
	}
	for _, row := range p.Table(x.State.Role).Rows() {
		word := string(row.On[1:])
		if row.From != x.State.State || !row.On.Sends() || word == "ack" || word == "not-understood" || w.said > 60 && word == "inform~" && row.To == row.From {
			continue
		}
		if x.State.Role == protocol.Initiator && (word != "cancel" || w.IntN(20) > 0) || x.State.Role == protocol.Participant && word == "cancel" && w.IntN(4) > 0 {
			continue
		}
		list = append(list, word)
	}
	return list
}

func (w *world) fire(t timer) {
	if t.at.After(w.now) {
		w.now = t.at
	}
	w.step(t.owner, t.peer, t.at, protocol.Fire(t.name), store.Entry{Kind: store.Fired, Event: t.name.Firing()})
}

func (w *world) take(way [2]string, i int) *envelope.Envelope {
	e := w.wire[way][i]
	w.wire[way] = slices.Delete(slices.Clone(w.wire[way]), i, i+1)
	if len(w.wire[way]) == 0 {
		delete(w.wire, way)
	}
	return e
}

// arrive hands a message to its receiver, as a guard lets it.
func (w *world) arrive(way [2]string, i int) {
	e := w.take(way, i)
	owner, peer := way[1], way[0]
	s := w.sides[owner]
	switch e.ReceiptKind() {
	case envelope.Nack:
		w.step(owner, peer, w.now, protocol.Refusal(e), entryOf(store.Received, protocol.Nacked, e))
		return
	case envelope.Ack, envelope.NotUnderstood:
		w.step(owner, peer, w.now, protocol.Receive(e), entryOf(store.Received, protocol.Receiving(e), e))
		return
	}
	p, err := protocol.Lookup(w.protocol)
	if err != nil {
		w.Fatalf("%v", err)
	}
	if s.rows[peer] == nil && e.Act() != envelope.Cancel && (!p.Opens(e.Act()) && e.Header().Fence == nil || e.Seq() != 1) {
		return // what it belongs to was lost
	}
	x := w.row(owner, peer, protocol.Participant)
	if x.State.State != protocol.Start && e.Act() != envelope.Cancel && !x.State.Closed && e.Seq() != x.State.Received+1 {
		return // a gap: its sender tries in vain
	}
	w.judge(s, x, p, e)
}

// judge refuses a message or lets it in.
func (w *world) judge(s *side, x *store.Exchange, p *protocol.Protocol, e *envelope.Envelope) {
	on := protocol.Receiving(e)
	opens := x.State.State == protocol.Start
	last := !opens && (on == "?inform" || on == "?failure" || on == "?refuse") && !x.State.Done() && x.State.Role == protocol.Initiator
	late := !x.State.ReplyBy.IsZero() && w.now.After(x.State.ReplyBy.Add(skew)) && (e.Act() == envelope.Agree || e.Act() == envelope.Inform) && e.Header().Fence == nil
	if g := w.binding.Gather; g != nil && x.State.State == "open" && w.now.After(g.Deadline) {
		late = true
	}
	switch {
	case w.odd && opens && w.IntN(12) == 0 && p.Opens(e.Act()):
		delete(s.rows, x.Peer)
		w.nack(e, envelope.CodeAuth, "policy")
	case w.odd && opens && w.IntN(12) == 0 && p.Opens(e.Act()):
		w.let(s, x, e)
		if _, ok := p.Table(x.State.Role).Next(x.State.State, "!not-understood"); ok {
			r := w.receipt(envelope.NotUnderstood, e, envelope.NewError(envelope.CodeValidation, "schema"))
			w.wire[[2]string{s.owner, x.Peer}] = append(w.wire[[2]string{s.owner, x.Peer}], r)
			w.step(s.owner, x.Peer, w.now, protocol.Send(r), entryOf(store.Sent, "!not-understood", r))
		}
	case w.odd && last && w.protocol != protocol.GatherV1 && w.IntN(10) == 0:
		w.void(s, x, e)
	case w.odd && !opens && w.IntN(15) == 0:
		w.reject(s, x, e, []string{"schema", "equivocation"}[w.IntN(2)])
	case late && !opens:
		w.reject(s, x, e, "late")
	case p.Table(x.State.Role).Judge(x.State, on) != nil:
		w.reject(s, x, e, "illegal-transition")
	default:
		w.let(s, x, e)
	}
}

func (w *world) let(s *side, x *store.Exchange, e *envelope.Envelope) {
	if !w.step(s.owner, x.Peer, w.now, protocol.Receive(e), entryOf(store.Received, protocol.Receiving(e), e)) {
		w.Fatalf("%s may not see %s in %s", s.owner, protocol.Receiving(e), x.State.State)
	}
	if w.protocol == protocol.SubscribeV1 && e.Status() == envelope.Partial {
		if peer := w.sides[x.Peer].rows[s.owner]; peer != nil { // the receipt of an item is a sign of life, and no entry
			peer.State = protocol.Renew(peer.State, w.now)
		}
	}
}

func (w *world) nack(e *envelope.Envelope, code envelope.Code, reason string) {
	way := [2]string{e.Receiver(), e.Sender()}
	w.wire[way] = append(w.wire[way], w.receipt(envelope.Nack, e, envelope.NewError(code, reason)))
}

func (w *world) reject(s *side, x *store.Exchange, e *envelope.Envelope, reason string) {
	if reason != "equivocation" {
		x.State = protocol.Consume(x.State, e)
	}
	entry := entryOf(store.Rejected, protocol.Receiving(e), e)
	entry.Peer, entry.From, entry.To, entry.Reason = x.Peer, x.State.State, x.State.State, reason
	w.write(s, entry)
	if reason != "equivocation" {
		w.nack(e, envelope.CodePermanent, reason)
	}
}

func (w *world) void(s *side, x *store.Exchange, e *envelope.Envelope) {
	entry := entryOf(store.Rejected, protocol.Receiving(e), e)
	entry.Peer, entry.From, entry.Reason = x.Peer, x.State.State, "schema"
	told := envelope.NewError(envelope.CodeValidation, "schema")
	told.Detail = &envelope.Detail{Pointer: "/content/n"}
	x.State = protocol.Void(x.State, e, told)
	x.EndedAt = w.now
	entry.To = x.State.State
	w.write(s, entry)
	w.conclude(s)
}
