package guard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

// What the guard says and what the rules can do must fit together: whatever
// the peer sends, its answer can be carried out.
func TestEveryAnswerOfTheGuardCanBeCarriedOut(t *testing.T) {
	acts := []string{"request", "cfp", "propose", "agree", "refuse", "inform", "inform~", "inform.c", "failure", "cancel", "fence", "ack", "nack", "not-understood"}
	answers := map[guard.Answer]int{}
	told := map[string]bool{}
	for _, proto := range protocol.All() {
		others, faults := []string{proto.Name}, 1
		if proto.Name == protocol.RequestV1 {
			others, faults = append(others, protocol.QueryV1, "auction/v7"), 2
		}
		for _, history := range histories(proto.Name) {
			var played *protocol.Exchange
			if history != nil {
				played = exchangeIn(t, proto.Name, owner(history), history...)
			}
			for n := range len(acts) * len(others) * 3 * 2 * 2 * 2 * 2 {
				// Each digit of n chooses one thing about the case.
				choose := func(choices int) int {
					digit := n % choices
					n /= choices
					return digit
				}
				act := acts[choose(len(acts))]
				other, answered, gap, deep, spoilt, late := choose(len(others)), choose(3), choose(2), choose(2), choose(2), choose(2)
				if min(other, 1)+min(answered, 1)+gap+deep+spoilt+late > faults {
					continue // one of them is judged first, under every protocol
				}
				v, m := scene(proto.Name, owner(history), played, act)
				m.Protocol = others[other]
				fixed := m.InReplyTo == "" || act == "inform.c"
				if !fixed {
					m.InReplyTo = id([]int{1, 11, 99}[answered])
				}
				m.Seq += int64(gap)
				m.Hop = 9 * deep
				if spoilt == 1 && m.Receipt == "" {
					m.content = `{"x":1}`
				}
				v.Now = noon.Add(time.Duration(late) * time.Hour)
				if v.Exchange != nil && (m.Hop > 0 || m.Protocol == "auction/v7") || m.Receipt != "" && m.Seq > 1 || fixed && answered > 0 {
					continue // nothing tells it from another case
				}
				e := m.sealed(t)
				err := guard.Admit(v, e)
				if err == nil {
					answers[""]++
					if _, _, err := protocol.Advance(known(v, e), v.Now, protocol.Receive(e)); err != nil {
						t.Errorf("under %s after %v %s in reply to %s is admitted, but %v", proto.Name, history, act, e.InReplyTo(), err)
					}
					continue
				}
				bad := err.(*guard.Violation)
				answers[bad.Answer]++
				carryOut(t, v, e, bad)
				if text := bad.Error(); !told[text] {
					told[text] = true
					tell(t, e, bad)
				}
			}
		}
	}
	for _, a := range []guard.Answer{"", guard.Deny, guard.Again, guard.Reject, guard.Decline, guard.Misread, guard.Void} {
		if answers[a] == 0 {
			t.Errorf("no case was answered %q", a)
		}
	}
}

// histories lead to each state of both roles of a protocol, in the fewest words.
func histories(proto string) [][]string {
	p, err := protocol.Lookup(proto)
	if err != nil {
		panic(err)
	}
	list := [][]string{nil}
	for _, role := range []protocol.Role{protocol.Initiator, protocol.Participant} {
		ways := map[protocol.State][]string{protocol.Start: {}}
		for queue := []protocol.State{protocol.Start}; len(queue) > 0; queue = queue[1:] {
			for _, row := range p.Table(role).Rows() {
				if _, been := ways[row.To]; row.From != queue[0] || been || row.On == protocol.Nacked || row.On == "!not-understood" || row.On == "?not-understood" {
					continue
				}
				ways[row.To] = append(slices.Clone(ways[row.From]), string(row.On))
				queue = append(queue, row.To)
				list = append(list, ways[row.To])
			}
		}
	}
	return list
}

// owner is the one whose exchange has the history: whoever opened it.
func owner(history []string) string {
	if len(history) > 0 && strings.HasPrefix(history[0], "!") {
		return planner
	}
	return flights
}

// scene is an act of the owner's peer, next in sequence.
func scene(proto, owner string, x *protocol.Exchange, act string) (guard.View, message) {
	peer, next := planner, int64(1)
	if owner == planner {
		peer = flights
	}
	if x != nil {
		next = x.Received + 1
	}
	return view(peer, x), sayIn(proto, 20, peer, act, seq(next))
}

func known(v guard.View, e *envelope.Envelope) protocol.Exchange {
	if v.Exchange != nil {
		return *v.Exchange
	}
	return protocol.Open(e.Protocol(), e.Conversation(), v.Self, e.Sender(), protocol.Participant)
}

// carryOut does what the answer says.
func carryOut(t *testing.T, v guard.View, e *envelope.Envelope, bad *guard.Violation) {
	t.Helper()
	switch bad.Answer {
	case guard.Decline, guard.Misread:
		if _, err := protocol.Lookup(e.Protocol()); err != nil && bad.Answer == guard.Misread {
			break // nothing can be opened
		}
		x, _, err := protocol.Advance(known(v, e), v.Now, protocol.Receive(e))
		if err != nil {
			t.Errorf("%s: the exchange cannot be opened: %v", bad, err)
			return
		}
		event := protocol.Event("!refuse")
		if bad.Answer == guard.Misread {
			event = "!not-understood"
		}
		p, err := protocol.Lookup(e.Protocol())
		if err != nil {
			t.Fatal(err)
		}
		// A member of a gather has answered; what ends it is the fence.
		if to, ok := p.Table(x.Role).Next(x.State, event); !ok || !to.Done() && p.Name != protocol.GatherV1 {
			t.Errorf("%s: %s has no row in %s", bad, event, x.State)
		}
	case guard.Void:
		if v.Exchange.Done() {
			t.Errorf("%s: the exchange has ended already", bad)
		}
	case guard.Reject:
		if v.Exchange == nil && bad.Reason != guard.ReasonEquivocation {
			t.Errorf("%s: there is no exchange to log it in", bad)
		}
	}
}

// tell seals the receipt that answers the message.
func tell(t *testing.T, e *envelope.Envelope, bad *guard.Violation) {
	receipt := e.Receipt(envelope.Nack, bad.Told())
	receipt.MessageID, receipt.SenderGeneration, receipt.Timestamp = id(30), 7, noon
	receipt.Labels = envelope.Labels{Integrity: envelope.Peer}
	if _, err := envelope.Seal(receipt, nil); err != nil {
		t.Fatalf("%s cannot be told: %v", bad, err)
	}
}
