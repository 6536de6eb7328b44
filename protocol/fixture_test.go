package protocol

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
)

const (
	planner      = "agent://acme/planner"
	flights      = "agent://acme/flights"
	conversation = "019535d9-3df7-79fb-b466-000000000000"
	capability   = "urn:cap:acme.flight.book/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// failer is what a sealer needs of a test or a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sealer seals the acts and receipts of a test, each under a new id.
type sealer struct {
	failer
	ids int
}

func newSealer(f failer) *sealer { return &sealer{failer: f} }

func (s *sealer) id() string {
	s.ids++
	return fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", s.ids)
}

// opened is an exchange of the role in which nothing has happened.
func opened(protocol string, r Role) Exchange {
	owner, peer := planner, flights
	if r == Participant {
		owner, peer = flights, planner
	}
	x := Open(protocol, conversation, owner, peer, r)
	if protocol == ContractNetV1 {
		x.MaxRounds = 3
	}
	return x
}

// requests are the two protocols that ask for one thing and get it.
func requests() []*Protocol {
	return slices.DeleteFunc(All(), func(p *Protocol) bool { return p.Name != RequestV1 && p.Name != QueryV1 })
}

// opening is the act that opens an exchange of the protocol.
func opening(p *Protocol) string {
	for _, a := range envelope.Performatives() {
		if p.Opens(a) {
			return string(a)
		}
	}
	return ""
}

// header is the header of what the event sends or receives in the exchange.
func (s *sealer) header(x Exchange, on Event) envelope.Header {
	h := envelope.Header{
		Protocol: x.Protocol, Sender: x.Owner, Receiver: x.Peer, SenderGeneration: 7, MessageID: s.id(), ConversationID: x.Conversation,
		CorrelationID: "trip", Timestamp: noon, Labels: envelope.Labels{Integrity: envelope.Peer},
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, Seq: x.Sent + 1,
	}
	if on.Receives() {
		h.Sender, h.Receiver, h.Seq = h.Receiver, h.Sender, x.Received+1
	}
	word := string(on[1:])
	if on == Nacked {
		word = "nack"
	}
	h.InReplyTo = x.answered(on)
	if slices.Contains(envelope.Receipts(), envelope.Receipt(word)) {
		h.Receipt, h.Seq, h.Error = envelope.Receipt(word), 0, detailed()
		if h.Receipt == envelope.Ack {
			h.Error = nil
		}
		return h
	}
	if word == fence {
		word, h.Fence = "inform", &envelope.Fence{ID: "g1", Proposed: string(TerminalCompleted)}
	}
	u := utterance(word)
	if x.Protocol == GatherV1 && u.Status == envelope.Partial {
		h.Gather = &envelope.Gather{ID: "g1"}
	}
	h.Performative, h.Status, h.Schema, h.Salt = u.Performative, u.Status, "acme.flight.book/v1", bytes.Repeat([]byte{1}, 16)
	switch u.Performative {
	case envelope.Request, envelope.CFP, envelope.Propose, envelope.Agree:
		if u.Performative == envelope.Agree && x.Protocol != ContractNetV1 {
			break
		}
		h.Capability, h.ReplyBy, h.IdempotencyKey = capability, noon.Add(time.Minute), "trip-8841"
		if u.Performative == envelope.Request || x.State == Start && u.Performative != envelope.Agree {
			h.InReplyTo = ""
		}
	case envelope.Refuse, envelope.Failure:
		h.Error = detailed()
	}
	return h
}

// answered is the id of what a message of the event answers.
func (x Exchange) answered(on Event) string {
	id := x.Opening
	switch {
	case on == acked:
		id = x.Fence
	case on.Sends() && x.Trigger != "" && on != "!cancel":
		id = x.Trigger
	case on.Receives() && x.Role == Participant && on != "?cancel":
		id = ""
		if len(x.Asked) > 0 {
			id = x.Asked[len(x.Asked)-1]
		}
	}
	if id == "" {
		id = "019535d9-3df7-79fb-b466-ffffffffffff"
	}
	return id
}

// detailed is an error with every member that survives a store.
func detailed() *envelope.Error {
	e := envelope.NewError(envelope.CodeCapacity, "overloaded")
	e.RetryAfter = 1500 * time.Millisecond
	e.Detail = &envelope.Detail{Pointer: "/content/flight", Rule: "content", Want: "a flight", Got: "null", Incident: "i-1"}
	return e
}

func (s *sealer) seal(h envelope.Header) *envelope.Envelope {
	s.Helper()
	var content []byte
	if h.Receipt == "" {
		content = []byte("{}")
	}
	e, err := envelope.Seal(h, content)
	if err != nil {
		s.Fatalf("seal %s%s: %v", h.Performative, h.Receipt, err)
	}
	return e
}

// input makes the event happen in the exchange, and says when.
func (s *sealer) input(x Exchange, on Event) (Input, time.Time) {
	s.Helper()
	switch {
	case on.Fires():
		t := Timer(on[1:])
		return Fire(t), x.Timers()[t]
	case on == Nacked:
		return Refusal(s.seal(s.header(x, on))), noon
	case on.Sends():
		return Send(s.seal(s.header(x, on))), noon
	}
	return Receive(s.seal(s.header(x, on))), noon
}

// drive takes the exchange through the events and holds every step to the
// table.
func (s *sealer) drive(x Exchange, events ...Event) Exchange {
	s.Helper()
	p, err := Lookup(x.Protocol)
	if err != nil {
		s.Fatalf("%v", err)
	}
	for _, on := range events {
		in, now := s.input(x, on)
		next, _, err := Advance(x, now, in)
		if err != nil {
			s.Fatalf("%s in %s: %v", on, x.State, err)
		}
		if to, _ := p.Table(x.Role).Next(x.State, on); to != next.State {
			s.Fatalf("%s in %s led to %s, the table says %s", on, x.State, next.State, to)
		}
		x = next
	}
	return x
}

// path is the shortest way from the start of the table to the state.
func path(table *Table, to State) []Event {
	ways := map[State][]Event{Start: {}}
	for queue := []State{Start}; len(queue) > 0; queue = queue[1:] {
		for _, row := range table.Rows() {
			if _, known := ways[row.To]; row.From == queue[0] && !known {
				ways[row.To] = append(slices.Clone(ways[row.From]), row.On)
				queue = append(queue, row.To)
			}
		}
	}
	return ways[to]
}

// in is an exchange of the role that came to the state on the shortest way.
func (s *sealer) in(protocol string, r Role, state State) Exchange {
	s.Helper()
	p, err := Lookup(protocol)
	if err != nil {
		s.Fatalf("%v", err)
	}
	return s.drive(opened(protocol, r), path(p.Table(r), state)...)
}

// advanceUnchanged advances a copy of x whose slices have room to spare, and
// fails if Advance wrote into it.
func advanceUnchanged(f failer, x Exchange, now time.Time, in Input) (Exchange, []Output, error) {
	f.Helper()
	if x.Asked != nil {
		x.Asked = append(make([]string, 0, 8), x.Asked...)
	}
	before := x
	before.Asked = slices.Clone(x.Asked)
	next, out, err := Advance(x, now, in)
	room := x.Asked[len(x.Asked):cap(x.Asked)]
	x.Asked = slices.Clone(x.Asked)
	if !reflect.DeepEqual(x, before) || slices.ContainsFunc(room, func(id string) bool { return id != "" }) {
		f.Fatalf("the argument was changed from %+v to %+v, behind it %v", before, x, room)
	}
	return next, out, err
}

// does lists what the outputs ask for.
func does(out []Output) (list []string) {
	for _, o := range out {
		text := string(o.Do)
		if o.Do == Utter {
			text += " " + o.Act.word()
		}
		if o.Error != nil {
			text += fmt.Sprintf(" (%s %s)", o.Error.Code, o.Error.Reason)
		}
		list = append(list, text)
	}
	return list
}

func wantDoes(t *testing.T, out []Output, want ...string) {
	t.Helper()
	if got := does(out); !slices.Equal(got, want) {
		t.Errorf("outputs %q, want %q", got, want)
	}
}
