package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// poison lets somebody who has seen a message that was taken try what can be
// made of it: its sender's token is still good. Nothing of that may move an
// exchange, and whatever contradicts the message must be found out.
func (l link) poison(genuine *envelope.Envelope, data []byte, how float64) {
	w := l.from.world
	if genuine == nil || !l.to.up || genuine.ReceiptKind() != "" {
		return
	}
	attempts := forgeries(data, genuine, w.faults.draw("forgery", w.turn()))
	forged := attempts[int(how*float64(len(attempts)))]
	before := l.to.states(genuine.Receiver())
	replies, err := l.to.host.Deliver(context.Background(), forged.data)
	if !l.to.up || crashed(err) || errors.Is(err, agent.ErrStopped) {
		return // an accident of its own, or a host that stops
	}
	w.tally.Forgeries++
	if after := l.to.states(genuine.Receiver()); !slices.Equal(before, after) {
		w.violate(forged.property, "%s of %s moved something at %s: %s", forged.name, genuine.ID(), l.to.name, difference(before, after))
	}
	if forged.reason == "" || err != nil && strings.Contains(err.Error(), errDisk.Error()) {
		return
	}
	if told := reasonOf(replies); told != forged.reason {
		w.violate(forged.property, "%s of %s was answered %q (%v), want %q", forged.name, genuine.ID(), told, err, forged.reason)
	}
}

// forgery is what is made of a message that was taken.
type forgery struct {
	name     string
	property string
	data     []byte
	// reason is what the receipt must say, "" if anything but a move will do.
	reason string
}

// forgeries are what can be made of a message.
func forgeries(data []byte, genuine *envelope.Envelope, where float64) []forgery {
	at := int(where * float64(len(data)))
	flipped := bytes.Clone(data)
	flipped[at] ^= 1 << (at % 7)
	list := []forgery{
		{name: "a half", property: "P2", data: data[:at]},
		{name: "a copy with a flipped bit", property: "P15", data: flipped},
		{name: "a copy that nests deeply", property: "P2", data: bytes.Replace(data, []byte(`{`), []byte(`{"x":`+strings.Repeat("[", 5000)), 1)},
	}
	members := []struct {
		name, reason string
		value        any
	}{
		{"/timestamp", "equivocation", "2026-01-01T00:00:00.001Z"},
		{"/priority", "equivocation", "low"},
		{"/hop", "equivocation", genuine.Header().Hop + 1},
		{"/actor", "equivocation", "user:mallory"},
		{"/sender", "", "agent://local/nobody"},
		{"/receiver", "", "agent://local/nobody"},
		{"/tenant", "", "elsewhere"},
		{"/sender_generation", "", 1},
		{"/protocol", "", "unknown/v1"},
		{"/performative", "", "agree"},
		{"/seq", "", 99},
		{"/unheard_of", "", "x"},
	}
	for _, m := range members {
		if changed, ok := replaced(data, m.name[1:], m.value); ok {
			list = append(list, forgery{"a copy with another " + m.name, "P16", changed, m.reason})
		}
	}
	return list
}

// replaced is the message with one member changed.
func replaced(data []byte, name string, value any) ([]byte, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, false
	}
	raw, err := json.Marshal(value)
	if err != nil || bytes.Equal(members[name], raw) {
		return nil, false
	}
	members[name] = raw
	changed, err := json.Marshal(members)
	return changed, err == nil
}

// reasonOf is the reason that the receipt among some replies tells.
func reasonOf(replies [][]byte) string {
	for _, r := range replies {
		if e, err := envelope.Decode(r); err == nil && e.Header().Error != nil {
			return e.Header().Error.Reason
		}
	}
	return ""
}

// states are the exchanges of one of the node's agents as they are stored, but
// for what a refused message may move: its place in the sequence.
func (n *Node) states(owner string) []string {
	var list []string
	ctx := context.Background()
	conversations, err := n.disk.Conversations(ctx, owner, 1000)
	if err != nil {
		return nil
	}
	for _, c := range conversations {
		exchanges, err := n.disk.Exchanges(ctx, owner, c.ID)
		if err != nil {
			return nil
		}
		for _, x := range exchanges {
			x.State.Received = 0
			x.State.Messages = 0
			state, err := json.Marshal(x.State)
			if err != nil {
				return nil
			}
			list = append(list, string(state))
		}
	}
	slices.Sort(list)
	return list
}

// difference tells the first of two lists that differs.
func difference(before, after []string) string {
	for _, s := range after {
		if !slices.Contains(before, s) {
			return s
		}
	}
	return "something is gone"
}
