package explore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// pair is a configuration of real exchanges and sealed messages.
type pair struct {
	sides map[protocol.Role]protocol.Exchange
	under map[protocol.Role][]*envelope.Envelope // by the receiver's role
}

// letter is all that tells two messages of the runs apart.
type letter struct {
	role    protocol.Role
	word    string
	seq     int64
	answers string
}

// replay takes what an explorer walks through the real Advance.
type replay struct {
	*testing.T
	*explorer
	sealed map[letter]*envelope.Envelope
	steps  map[Fate]int
}

func other(r protocol.Role) protocol.Role {
	if r == protocol.Initiator {
		return protocol.Participant
	}
	return protocol.Initiator
}

// beginning is the pair in which nothing has happened.
func beginning(name string) pair {
	const conversation, planner, flights = "019535d9-3df7-79fb-b466-000000000000", "agent://acme/planner", "agent://acme/flights"
	sides := map[protocol.Role]protocol.Exchange{
		protocol.Initiator:   protocol.Open(name, conversation, planner, flights, protocol.Initiator),
		protocol.Participant: protocol.Open(name, conversation, flights, planner, protocol.Participant),
	}
	for r, x := range sides {
		x.MaxRounds = 1000 // the tables do not count
		sides[r] = x
	}
	return pair{sides, map[protocol.Role][]*envelope.Envelope{}}
}

func (p pair) clone() pair {
	next := pair{map[protocol.Role]protocol.Exchange{}, map[protocol.Role][]*envelope.Envelope{}}
	for r, x := range p.sides {
		next.sides[r], next.under[r] = x, slices.Clone(p.under[r])
	}
	return next
}

// take does one step of the walk with the real exchanges.
func (w *replay) take(p pair, s Step) pair {
	w.steps[s.Fate]++
	p = p.clone()
	x := p.sides[s.Role]
	switch {
	case s.Event.Fires():
		timer := protocol.Timer(s.Event[1:])
		due, running := x.Timers()[timer]
		if !running {
			w.Fatalf("%s: no %s runs for the %s in %s", w.tables.Name, timer, s.Role, x.State)
		}
		p.sides[s.Role] = w.advance(x, due, s, protocol.Fire(timer))
	case s.Event.Sends():
		e := w.write(x, string(s.Event[1:]))
		p.under[other(s.Role)] = append(p.under[other(s.Role)], e)
		p.sides[s.Role] = w.advance(x, noon, s, protocol.Send(e))
	default:
		e := p.under[s.Role][s.Place]
		p.under[s.Role] = slices.Delete(p.under[s.Role], s.Place, s.Place+1)
		switch {
		case s.Fate == Lost:
		case s.Fate == TurnedDown:
			x.Trigger = e.ID()
			p.under[other(s.Role)] = append(p.under[other(s.Role)], w.write(x, "nack"))
		case e.ReceiptKind() == envelope.Nack:
			p.sides[s.Role] = w.advance(x, noon, s, protocol.Refusal(e))
		default:
			p.sides[s.Role] = w.advance(x, noon, s, protocol.Receive(e))
		}
	}
	return p
}

// advance holds the real Advance to the tables.
func (w *replay) advance(x protocol.Exchange, now time.Time, s Step, in protocol.Input) protocol.Exchange {
	p, err := protocol.Lookup(x.Protocol)
	if err != nil {
		w.Fatal(err)
	}
	table := p.Table(x.Role)
	next, out, err := protocol.Advance(x, now, in)
	_, row := table.Next(x.State, s.Event)
	switch {
	case row || x.Done() && s.Event != protocol.Nacked:
		if err != nil {
			w.Fatalf("%s: %s in %s: %v", x.Protocol, s, x.State, err)
		}
	case err != nil:
		if _, is := errors.AsType[*protocol.Violation](err); !is || out != nil {
			w.Fatalf("%s: %s in %s: %v, %v", x.Protocol, s, x.State, err, out)
		}
	}
	ends := 0
	for _, o := range out {
		switch o.Do {
		case protocol.Utter:
			if !slices.Contains(table.Sends(next.State), o.Act) {
				w.Fatalf("%s: %s in %s asks for %+v, for which %s has no row", x.Protocol, s, x.State, o.Act, next.State)
			}
		case protocol.Acknowledge:
			if _, ok := table.Next(next.State, "!ack"); !ok {
				w.Fatalf("%s: %s in %s asks for an ack in %s", x.Protocol, s, x.State, next.State)
			}
		case protocol.End:
			ends++
		}
	}
	if (ends == 1) != (next.Done() && !x.Done()) || ends > 1 {
		w.Fatalf("%s: %s in %s led to %s and said %d times that it ended", x.Protocol, s, x.State, next.State, ends)
	}
	return next
}

// write seals what the owner says, or takes a message that says the same.
func (w *replay) write(x protocol.Exchange, word string) *envelope.Envelope {
	h := envelope.Header{
		Protocol: x.Protocol, Sender: x.Owner, Receiver: x.Peer, SenderGeneration: 7, ConversationID: x.Conversation,
		CorrelationID: "trip", Timestamp: noon, Labels: envelope.Labels{Integrity: envelope.Peer}, Seq: x.Sent + 1,
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}
	if h.InReplyTo = x.Opening; x.Trigger != "" && word != "cancel" {
		h.InReplyTo = x.Trigger
	}
	if envelope.Performative(word) == envelope.Request {
		h.InReplyTo = ""
	}
	l := letter{x.Role, word, h.Seq, h.InReplyTo}
	if w.sealed[l] != nil {
		return w.sealed[l]
	}
	h.MessageID = fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", len(w.sealed)+1)
	content := []byte("{}")
	if slices.Contains(envelope.Receipts(), envelope.Receipt(word)) {
		h.Receipt, h.Seq, content = envelope.Receipt(word), 0, nil
		if h.Receipt != envelope.Ack {
			h.Error = envelope.NewError(envelope.CodePermanent, "policy")
		}
	} else {
		h.Schema, h.Salt = "acme.flight.book/v1", bytes.Repeat([]byte{1}, 16)
		say(&h, word)
	}
	e, err := envelope.Seal(h, content)
	if err != nil {
		w.Fatalf("seal %s: %v", word, err)
	}
	w.sealed[l] = e
	return e
}

// say writes the act that the tables call by the word.
func say(h *envelope.Header, word string) {
	switch word {
	case "inform":
		h.Performative, h.Status = envelope.Inform, envelope.Final
	case "inform~":
		h.Performative, h.Status = envelope.Inform, envelope.Partial
		if h.Protocol == protocol.GatherV1 {
			h.Gather = &envelope.Gather{ID: "g1"}
		}
	case "inform.c":
		h.Performative, h.Status = envelope.Inform, envelope.Cancelled
	case "fence":
		h.Performative, h.Status = envelope.Inform, envelope.Final
		h.Fence = &envelope.Fence{ID: "g1", Proposed: string(protocol.TerminalCompleted)}
	default:
		h.Performative = envelope.Performative(word)
	}
	switch h.Performative {
	case envelope.Refuse, envelope.Failure:
		h.Error = envelope.NewError(envelope.CodePermanent, "handler")
	case envelope.Request, envelope.CFP, envelope.Propose, envelope.Agree:
		if h.Performative != envelope.Agree || h.Protocol == protocol.ContractNetV1 {
			h.Capability, h.ReplyBy, h.IdempotencyKey = "urn:cap:acme.flight.book/v1", noon.Add(time.Minute), "trip-8841"
		}
	}
}

func TestAdvanceGoesWhereverTheExplorerGoesAndNowhereElse(t *testing.T) {
	for _, p := range protocol.All() {
		for _, c := range Channels() {
			t.Run(fmt.Sprintf("%s %s", p.Name, c), func(t *testing.T) {
				w := &replay{T: t, explorer: walk(Of(p), c), sealed: map[letter]*envelope.Envelope{}, steps: map[Fate]int{}}
				pairs := map[config]pair{w.queue[0]: beginning(p.Name)}
				for _, from := range w.queue {
					for _, m := range w.after[from] {
						next := w.take(pairs[from], m.Step)
						if i, p := next.sides[protocol.Initiator].State, next.sides[protocol.Participant].State; i != m.to.Initiator || p != m.to.Participant {
							t.Fatalf("after %v the tables are in %s, the exchanges in %s | %s", append(w.run(from), m.Step), m.to, i, p)
						}
						if w.came[m.to] == (arrival{from, m.Step}) {
							pairs[m.to] = next
						}
					}
				}
				if len(pairs) != len(w.queue) || w.steps[""] < len(w.queue)-1 {
					t.Errorf("%d of %d configurations in %v steps", len(pairs), len(w.queue), w.steps)
				}
				t.Logf("%d configurations, %v steps, %d messages", len(pairs), w.steps, len(w.sealed))
			})
		}
	}
}
