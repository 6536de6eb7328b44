package protocol

import (
	"errors"
	"reflect"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

// states are the states of the table that have a way from the start.
func states(table *Table) (list []State) {
	seen := map[State]bool{}
	for _, row := range table.Rows() {
		for _, s := range []State{row.From, row.To} {
			if !seen[s] {
				seen[s] = true
				list = append(list, s)
			}
		}
	}
	return list
}

// snapshot is what an exchange alone says about a conversation.
func snapshot(x Exchange) Snapshot {
	acts := func(n int64) (list []Numbered) {
		for seq := range n {
			list = append(list, Numbered{Seq: seq + 1, Digest: envelope.Digest{byte(seq)}})
		}
		return list
	}
	return Snapshot{Protocol: x.Protocol, Conversation: x.Conversation, Exchanges: []ExchangeSnapshot{
		{Peer: x.Peer, Role: x.Role, State: x.State, Sent: acts(x.Sent), Received: acts(x.Received)},
	}}
}

func TestEveryPairOutsideTheTablesIsRefusedAndLeavesTheDigest(t *testing.T) {
	pairs, refused := 0, 0
	for _, p := range All() {
		for _, r := range []Role{Initiator, Participant} {
			for _, state := range states(p.Table(r)) {
				for _, on := range events {
					s := newSealer(t)
					x := s.in(p.Name, r, state)
					in, now := s.input(x, on)
					next, out, err := Advance(x, now, in)
					pairs++
					to, ok := expected(p, x, on)
					if next.State != to || ok != (err == nil) {
						t.Errorf("%s %s: %s in %s led to %s, %v", p.Name, r, on, state, next.State, err)
					}
					if ok {
						continue
					}
					refused++
					if _, is := errors.AsType[*Violation](err); !is || out != nil || !reflect.DeepEqual(next, x) {
						t.Errorf("%s %s: %s in %s: %v, %v, %+v", p.Name, r, on, state, err, out, next)
					}
					if StateDigest(snapshot(next)) != StateDigest(snapshot(x)) {
						t.Errorf("%s %s: %s in %s changed the digest", p.Name, r, on, state)
					}
				}
			}
		}
	}
	if refused < 2000 {
		t.Errorf("only %d of %d pairs were refused", refused, pairs)
	}
}

func FuzzAdvance(f *testing.F) {
	for i := range All() {
		f.Add(uint8(i), true, []byte{0, 1, 2, 3, 4, 5})
		f.Add(uint8(i), false, []byte{1, 0, 25, 30, 19, 21})
	}
	f.Fuzz(func(t *testing.T, protocol uint8, initiates bool, script []byte) {
		p, r := All()[int(protocol)%len(All())], Participant
		if initiates {
			r = Initiator
		}
		s, x := newSealer(t), opened(p.Name, r)
		for _, b := range script[:min(len(script), 20)] {
			on := events[int(b)%len(events)]
			to, ok := expected(p, x, on)
			in, now := s.input(x, on)
			next, _, err := advanceUnchanged(t, x, now, in)
			if next.State != to || ok != (err == nil) {
				t.Fatalf("%s in %s led to %s, %v", on, x.State, next.State, err)
			}
			x = next
		}
	})
}

func TestAnAckOfAnythingButTheFenceClosesNothing(t *testing.T) {
	s := newSealer(t)
	x := s.in(GatherV1, Initiator, "fencing")
	h := s.header(x, acked)
	h.InReplyTo = x.Opening
	next, out, err := Advance(x, noon, Receive(s.seal(h)))
	if v, ok := errors.AsType[*Violation](err); !ok || v.Reason != "illegal-transition" || out != nil || !reflect.DeepEqual(next, x) {
		t.Errorf("%v, %v, %+v", err, out, next)
	}
}

func TestACallBeyondTheRoundsIsIllegalOnBothSides(t *testing.T) {
	for _, c := range []struct {
		role Role
		on   Event
		way  []Event
	}{
		{Initiator, "!cfp", []Event{"?propose", "!cfp"}},
		{Participant, "?cfp", []Event{"!propose", "?cfp"}},
	} {
		for rounds := range 4 {
			s := newSealer(t)
			x := opened(ContractNetV1, c.role)
			x.MaxRounds = rounds
			x = s.drive(x, c.on)
			for range max(1, rounds) - 1 {
				x = s.drive(x, c.way...)
			}
			x = s.drive(x, c.way[0])
			if x.Round != max(1, rounds) || x.Opening == "" || (x.Call == "") != (x.Round == 1) {
				t.Errorf("%+v", x)
			}
			in, now := s.input(x, c.on)
			next, _, err := Advance(x, now, in)
			if v, ok := errors.AsType[*Violation](err); !ok || v.Reason != "illegal-transition" || !reflect.DeepEqual(next, x) {
				t.Errorf("%s with %d rounds: %v", c.role, rounds, err)
			}
			if p := mustLookup(t, ContractNetV1); p.Table(c.role).Judge(x, c.on) == nil {
				t.Errorf("%s with %d rounds: judged legal", c.role, rounds)
			}
		}
	}
}
