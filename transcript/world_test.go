package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

const (
	conversationID = "019535d9-3df7-79fb-b466-0000000000c0"
	contract       = "acme.trip.plan"
	skew           = time.Second
)

// failer is a test or a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is one conversation between a planner and its members, each with a log of its own, run through the real Advance.
type world struct {
	failer
	*rand.Rand
	protocol string
	now      time.Time
	ids      int
	sides    map[string]*side
	members  []string
	wire     map[[2]string][]*envelope.Envelope // by sender and receiver
	binding  protocol.Binding
	loses    bool // messages
	gossips  bool // peers say things beside their exchanges
	odd      bool // messages are refused now and then
	said     int
	stance   bool // whether a contribution dissents is not left to chance
	dissents bool
	restored int64 // by how much the generation of whoever speaks has risen
}

// side is what one agent has in its store.
type side struct {
	owner     string
	rows      map[string]*store.Exchange
	log       []store.Entry
	reduced   *protocol.Reduction
	fenced    bool
	concluded bool
}

func newWorld(f failer, seed uint64, name string, members ...string) *world {
	w := &world{failer: f, Rand: rand.New(rand.NewPCG(seed, 1)), protocol: name, now: noon, sides: map[string]*side{}, members: members,
		wire: map[[2]string][]*envelope.Envelope{}}
	for _, owner := range append([]string{planner}, members...) {
		w.sides[owner] = &side{owner: owner, rows: map[string]*store.Exchange{}}
	}
	w.binding = protocol.Binding{Protocol: name, Capability: "urn:cap:" + contract + "/v1", Members: slices.Sorted(slices.Values(members)),
		Group: w.id(), Deadline: noon.Add(time.Minute)}
	return w
}

func (w *world) id() string {
	w.ids++
	return fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", w.ids)
}

// rowsOf are the rows of an agent as a store lists them.
func (w *world) rowsOf(owner string) (list []store.Exchange) {
	rows := w.sides[owner].rows
	for _, peer := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, *rows[peer])
	}
	return list
}

func (w *world) row(owner, peer string, r protocol.Role) *store.Exchange {
	s := w.sides[owner]
	if s.rows[peer] == nil {
		x := &store.Exchange{Key: store.Key{Owner: owner, Conversation: conversationID, Peer: peer}, Correlation: "trip-8841", OpenedAt: w.now}
		x.State = protocol.Open(w.protocol, conversationID, owner, peer, r)
		if w.protocol == protocol.ContractNetV1 {
			x.State.MaxRounds = max(1, w.binding.Rounds)
		}
		s.rows[peer] = x
	}
	return s.rows[peer]
}

// write appends an entry as an engine does.
func (w *world) write(s *side, e store.Entry) {
	var head [32]byte
	if n := len(s.log); n > 0 {
		head = s.log[n-1].Hash
	}
	e.Owner, e.Conversation, e.Index = s.owner, conversationID, int64(len(s.log)+1)
	if e.At.IsZero() {
		e.At = w.now
	}
	e.Hash = store.Link(head, e)
	s.log = append(s.log, e)
}

func (w *world) note(s *side, kind store.EntryKind, id string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		w.Fatalf("%v", err)
	}
	w.write(s, store.Entry{Kind: kind, MessageID: id, Note: data})
}

// hear notes what a peer said while nothing was asked.
func (w *world) hear() {
	s := w.sides[planner]
	x := s.rows[w.members[w.IntN(len(w.members))]]
	w.write(s, store.Entry{Peer: x.Peer, Kind: store.Noted, From: x.State.State, To: x.State.State, MessageID: w.id(),
		Note: fmt.Appendf(nil, `{"progress":%d}`, w.IntN(3))})
}

// start opens the conversation.
func (w *world) start() {
	s := w.sides[planner]
	multi := w.protocol == protocol.GatherV1 || w.protocol == protocol.ContractNetV1
	if multi {
		w.note(s, store.Bound, "", w.binding)
	}
	for _, m := range w.members {
		w.row(planner, m, protocol.Initiator)
		var group *envelope.Group
		if multi {
			group = w.group(w.binding.Group)
		}
		w.send(planner, m, map[string]string{protocol.ContractNetV1: "cfp", protocol.ProposeV1: "propose"}[w.protocol], group, nil)
	}
}

func (w *world) group(id string) *envelope.Group {
	return &envelope.Group{ID: id, Size: len(w.members), MembersDigest: strings.Repeat("ab", 32)}
}

// send seals an act of the owner, moves its exchange and puts the act on the wire. No word is a request.
func (w *world) send(owner, peer, word string, group *envelope.Group, told *envelope.Error) *envelope.Envelope {
	x := w.sides[owner].rows[peer].State
	h := envelope.Header{
		Protocol: w.protocol, Sender: owner, Receiver: peer, SenderGeneration: int64(7+len(owner)) + w.restored, MessageID: w.id(), ConversationID: conversationID,
		CorrelationID: "trip-8841", Timestamp: w.now, Labels: envelope.Labels{Integrity: envelope.Peer}, Group: group, Capability: w.binding.Capability,
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, Seq: x.Sent + 1, InReplyTo: x.Trigger,
		Performative: envelope.Performative(word), Schema: contract + "/v1", Salt: bytes.Repeat([]byte{3}, 16), Error: told,
	}
	content := fmt.Appendf(nil, `{"n":%d}`, w.IntN(9))
	if group != nil {
		content = []byte(`{"n":0}`)
	}
	switch word {
	case "", "request":
		h.Performative = envelope.Request
	case "inform", "inform~", "inform.c":
		h.Performative = envelope.Inform
		h.Status = map[string]envelope.Status{"inform": envelope.Final, "inform~": envelope.Partial, "inform.c": envelope.Cancelled}[word]
		h.Schema = contract + ".result/v1"
	case "refuse", "failure":
		if told == nil {
			h.Error = envelope.NewError(envelope.CodePermanent, "handler")
		}
		h.Schema = protocol.RefusalSchema
	case "cancel":
		h.InReplyTo, h.Schema = cmpOr(x.Opening, w.id()), protocol.CancelSchema
	}
	if h.Performative == envelope.Request || h.Performative == envelope.CFP || h.Performative == envelope.Propose ||
		word == "agree" && w.protocol == protocol.ContractNetV1 {
		h.ReplyBy, h.IdempotencyKey = w.now.Add(time.Minute), "trip-8841"
	}
	if x.State == protocol.Start {
		h.InReplyTo = ""
		if w.protocol == protocol.GatherV1 {
			h.ReplyBy, h.Gather = w.binding.Deadline, &envelope.Gather{ID: w.binding.Gather.ID}
		}
	}
	if w.protocol == protocol.GatherV1 && word == "inform~" {
		h.Gather, h.Schema = &envelope.Gather{ID: w.binding.Gather.ID}, contract+".contribution/v1"
		if w.stance && w.dissents || !w.stance && w.IntN(4) == 0 {
			h.Gather.Stance = envelope.StanceDissent
		}
	}
	return w.post(h, content)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// post seals a message and sends it.
func (w *world) post(h envelope.Header, content []byte) *envelope.Envelope {
	w.Helper()
	e, err := envelope.Seal(h, content)
	if err != nil {
		w.Fatalf("%s %s: %v", h.Performative, h.Receipt, err)
	}
	w.said++
	w.wire[[2]string{h.Sender, h.Receiver}] = append(w.wire[[2]string{h.Sender, h.Receiver}], e)
	if !w.step(h.Sender, h.Receiver, w.now, protocol.Send(e), entryOf(store.Sent, protocol.Sending(e), e)) {
		w.Fatalf("%s may not send %s in %s", h.Sender, protocol.Sending(e), w.sides[h.Sender].rows[h.Receiver].State.State)
	}
	return e
}

func entryOf(kind store.EntryKind, on protocol.Event, e *envelope.Envelope) store.Entry {
	return store.Entry{Kind: kind, Event: on, MessageID: e.ID(), Digest: e.Digest(), Envelope: e.WithoutAuth().Bytes()}
}

// receipt seals a receipt for e. A nack leaves no entry at its sender.
func (w *world) receipt(kind envelope.Receipt, e *envelope.Envelope, told *envelope.Error) *envelope.Envelope {
	h := e.Receipt(kind, told)
	h.MessageID, h.SenderGeneration, h.Timestamp = w.id(), int64(7+len(e.Receiver())), w.now
	h.Labels = envelope.Labels{Integrity: envelope.Peer}
	r, err := envelope.Seal(h, nil)
	if err != nil {
		w.Fatalf("%s: %v", kind, err)
	}
	return r
}

// step moves an exchange, logs that and does what must follow, all in one step.
func (w *world) step(owner, peer string, at time.Time, in protocol.Input, entry store.Entry) bool {
	s := w.sides[owner]
	x := s.rows[peer]
	next, outputs, err := protocol.Advance(x.State, at, in)
	if err != nil {
		return false
	}
	entry.Peer, entry.From, entry.To, entry.At = peer, x.State.State, next.State, at
	x.State = next
	x.Version++
	w.write(s, entry)
	was := w.now
	w.now = at
	for _, o := range outputs {
		w.follow(s, x, o, entry)
	}
	w.conclude(s)
	w.now = was
	return true
}

func (w *world) follow(s *side, x *store.Exchange, o protocol.Output, entry store.Entry) {
	switch o.Do {
	case protocol.Utter:
		word := string(o.Act.Performative)
		if o.Act.Status == envelope.Cancelled {
			word = "inform.c"
		}
		w.send(s.owner, x.Peer, word, nil, o.Error)
	case protocol.Acknowledge:
		fence := w.logged(s, x.State.Fence)
		ack := w.receipt(envelope.Ack, fence, nil)
		w.wire[[2]string{s.owner, x.Peer}] = append(w.wire[[2]string{s.owner, x.Peer}], ack)
		w.step(s.owner, x.Peer, w.now, protocol.Send(ack), entryOf(store.Sent, "!ack", ack))
	case protocol.Decide:
		w.decide(s)
	case protocol.End:
		x.Final, x.EndedAt = entry.MessageID, w.now
	}
}

func (w *world) logged(s *side, id string) *envelope.Envelope {
	for _, e := range s.log {
		if e.MessageID == id {
			m, err := envelope.Decode(e.Envelope)
			if err != nil {
				w.Fatalf("%v", err)
			}
			return m
		}
	}
	w.Fatalf("%s has no message %s", s.owner, id)
	return nil
}

// conclude writes the local fence once the last exchange that the owner opened has ended.
func (w *world) conclude(s *side) {
	c := protocol.Conclusion{Awards: w.binding.Awards, Reduction: s.reduced}
	for _, x := range w.rowsOf(s.owner) {
		if x.State.Role == protocol.Initiator {
			c.Exchanges = append(c.Exchanges, x.State)
		}
	}
	if terminal, over := c.Terminal(); over && !s.concluded && s.owner == planner && len(c.Exchanges) == len(w.members) {
		s.concluded = true
		w.note(s, store.Concluded, "", protocol.Closing{Terminal: terminal})
	}
}

// decide looks at the conversation as a whole.
func (w *world) decide(s *side) {
	if w.protocol == protocol.GatherV1 {
		w.reduce(s)
		return
	}
	var proposed []string
	for _, x := range w.rowsOf(s.owner) {
		switch x.State.State {
		case "called":
			return
		case "proposed":
			proposed = append(proposed, x.Peer)
		}
	}
	w.Shuffle(len(proposed), func(i, j int) { proposed[i], proposed[j] = proposed[j], proposed[i] })
	again := w.binding.Rounds > 1 && w.IntN(2) == 0
	for i, peer := range proposed {
		x := s.rows[peer].State
		_, ok := slices.BinarySearch(moves(x), "cfp")
		switch {
		case again && ok:
			w.send(s.owner, peer, "cfp", w.group("second-round"), nil)
		case i < max(1, w.binding.Awards):
			w.send(s.owner, peer, "agree", nil, nil)
		default:
			w.send(s.owner, peer, "refuse", nil, nil)
		}
	}
}

// moves are what the owner of an exchange may say, sorted.
func moves(x protocol.Exchange) (list []string) {
	for _, m := range x.Moves() {
		list = append(list, string(m.Performative))
	}
	slices.Sort(list)
	return list
}

// reduce fences the gather once nothing more is awaited.
func (w *world) reduce(s *side) {
	g := *w.binding.Gather
	var accepted []protocol.Contribution
	cancelled := false
	for _, e := range s.log {
		if e.Kind == store.Received && e.From == "open" && (e.To == "contributed" || e.To == "abstained") {
			m, _ := envelope.Decode(e.Envelope)
			accepted = append(accepted, protocol.Contribute(m))
		}
	}
	for _, x := range s.rows {
		cancelled = cancelled || x.State.CancelAsked
	}
	d := g.Decide(accepted, w.now)
	if s.fenced || d.Standing == protocol.StandingOpen && !cancelled {
		return
	}
	s.fenced = true
	r, err := g.Reduce(d)
	if err != nil {
		w.Fatalf("%v", err)
	}
	made := d.Reduction(r, cancelled)
	s.reduced = &made
	fence := w.id()
	w.note(s, store.Reduced, fence+"-result", made)
	for _, m := range w.members { // nobody waits for the others any more
		switch x := s.rows[m].State; {
		case x.State != "open":
		case w.now.Before(x.ReplyBy):
			w.send(s.owner, m, "cancel", nil, nil)
		default:
			w.step(s.owner, m, w.now, protocol.Fire(protocol.TimerGatherBy), store.Entry{Kind: store.Fired, Event: "#gather-by"})
		}
	}
	for _, m := range w.members {
		x := s.rows[m].State
		content, err := json.Marshal(d.Note(r, made.Proposed, m, false))
		if err != nil {
			w.Fatalf("%v", err)
		}
		w.post(envelope.Header{
			Protocol: w.protocol, Performative: envelope.Inform, Status: envelope.Final, Sender: s.owner, Receiver: m, SenderGeneration: int64(7 + len(s.owner)),
			MessageID: w.id(), ConversationID: conversationID, CorrelationID: "trip-8841", Timestamp: w.now, Labels: envelope.Labels{Integrity: envelope.Peer},
			Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, Seq: x.Sent + 1,
			InReplyTo: cmpOr(x.Trigger, x.Opening), Schema: protocol.FenceSchema, Salt: bytes.Repeat([]byte{4}, 16),
			Group: w.group(fence), Gather: &envelope.Gather{ID: g.ID}, Fence: &envelope.Fence{ID: fence, Proposed: string(made.Proposed)},
		}, content)
	}
}
