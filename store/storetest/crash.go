package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/faulty"
)

// Crashes plays one conversation between two agents many times, each time
// dropping the store before or after another of its calls, and checks that
// the store, reopened, holds all of each call that was done and nothing of
// the others. Run does this too; an engine calls it again with a place whose
// Close is as rude as a crash.
func Crashes(t *testing.T, fresh func(t *testing.T) Place) {
	crashes(t, closing(t, fresh))
}

var errCrash = errors.New("the store is gone")

// point is a side of the nth call of a story, from 0.
type point struct {
	side faulty.Side
	n    int
	call string
}

func (p point) String() string { return fmt.Sprintf("%s call %d, %s", p.side, p.n, p.call) }

func crashes(t *testing.T, fresh func() Place) {
	points, states := calm(t, fresh)
	for _, p := range points {
		open := fresh()
		s := open()
		if err := story(t.Context(), faulty.New(s, dyingAt(p))); !errors.Is(err, errCrash) {
			t.Fatalf("%v: the story ended with %v, want a crash", p, err)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		done := p.n
		if p.side == faulty.After {
			done++
		}
		s = open()
		equal(t, "contents after a crash "+p.String(), contents(t, s), states[done])
		if err := s.Close(); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
	}
}

// calm plays the story without a crash. It returns every point of it and what
// the store holds after each number of calls.
func calm(t *testing.T, fresh func() Place) (points []point, states []map[string]any) {
	s := fresh()()
	states = append(states, contents(t, s))
	changes := 0
	err := story(t.Context(), faulty.New(s, func(side faulty.Side, call string) error {
		points = append(points, point{side, len(states) - 1, call})
		if side == faulty.After {
			states = append(states, contents(t, s))
			if fmt.Sprint(states[len(states)-1]) != fmt.Sprint(states[len(states)-2]) {
				changes++
			}
		}
		return nil
	}))
	if err != nil {
		t.Fatalf("the story without a crash: %v", err)
	}
	// Two identities, eleven write sets, a take-over, a renewal, a command, a key
	// that comes and goes, four changes of callbacks and a sweep.
	equal(t, "calls that changed the store", changes, 24)
	return points, states
}

// dyingAt is a fault that lets the store die at a point.
func dyingAt(p point) func(faulty.Side, string) error {
	n, dead := 0, false
	return func(side faulty.Side, _ string) error {
		if dead = dead || side == p.side && n == p.n; dead {
			return errCrash
		}
		if side == faulty.After {
			n++
		}
		return nil
	}
}

// story is a request that alice sends and bob accepts, works on and answers,
// on the store that both share. It ends at the first error.
func story(ctx context.Context, s store.Store) error {
	asks, answers := key(alice, "c", bob), key(bob, "c", alice)
	request, reply := entry(alice, "c", "new"), entry(bob, "c", "held")
	reply.Peer, reply.Envelope = alice, bytes.Repeat([]byte("large "), 20_000)
	received := func(e store.Entry, owner, from string) store.Entry {
		e.Owner, e.Peer, e.Kind = owner, from, store.Received
		return e
	}
	work := accepted(bob, alice, "new")
	effect := store.Effect{EffectKey: store.EffectKey{Recipient: bob, Sender: alice, Capability: "urn:cap:x/v1", Key: "k"},
		Conversation: "c", Status: store.Begun, At: at(2), ExpiresAt: at(900)}
	ended := effect
	ended.Status = store.Ended
	turn := func(ordinal int, kind store.TurnKind) store.WriteSet {
		return store.WriteSet{Turns: []store.Turn{{Key: answers, Ordinal: ordinal, Kind: kind, Name: "call-1", Data: []byte("{}"), At: at(3)}}}
	}
	delivered := func(owner, id string) store.WriteSet {
		return store.WriteSet{Deliveries: []store.Delivery{{Owner: owner, MessageID: id, Status: store.Delivered, Attempt: 1, NextAt: at(4)}}}
	}
	told := callback("t", "a")
	told.Place = "2"
	steps := []func() error{
		func() error { _, err := s.Meta(ctx, store.Meta{Generation: 1, Secret: []byte("s")}); return err },
		func() error { _, err := s.Identity(ctx, store.Identity{Owner: alice, Seed: []byte("a")}); return err },
		func() error { _, err := s.Identity(ctx, store.Identity{Owner: bob, Seed: []byte("b")}); return err },
		// Alice opens the exchange.
		func() error {
			return move(ctx, s, asks, "awaiting", store.WriteSet{Entries: []store.Entry{request},
				Outbox: []store.Outbox{outgoing(alice, "c", bob, "new", at(1))}})
		},
		func() error { _, err := s.Due(ctx, []string{alice, bob}, at(2), 9); return err },
		// Bob accepts it, agrees and records his turns.
		func() error {
			return move(ctx, s, answers, "received", store.WriteSet{Entries: []store.Entry{received(request, bob, alice)},
				Accept: []store.Inbox{work}, Claim: []store.Effect{effect}})
		},
		func() error { return s.Commit(ctx, delivered(alice, "new")) },
		func() error { _, err := s.TakeOver(ctx, bob); return err },
		func() error { return move(ctx, s, answers, "agreed", turn(1, store.Reply)) },
		func() error { return s.Commit(ctx, turn(2, store.Called)) },
		func() error { return s.Renew(ctx, work.InboxKey, 2, at(50)) },
		func() error { return s.Commit(ctx, turn(3, store.Result)) },
		func() error {
			return s.Commit(ctx, store.WriteSet{Leases: []store.Lease{{InboxKey: work.InboxKey, Fence: 2}}})
		},
		func() error { _, err := s.Turns(ctx, answers); return err },
		// He completes it, and the reply is delivered.
		func() error {
			return move(ctx, s, answers, "done:ok", store.WriteSet{Entries: []store.Entry{reply},
				Settle: []store.Settlement{{InboxKey: work.InboxKey, Fence: 2}}, Effects: []store.Effect{ended},
				Outbox: []store.Outbox{outgoing(bob, "c", alice, "held", at(3))}})
		},
		func() error {
			return move(ctx, s, asks, "done:ok", store.WriteSet{Entries: []store.Entry{received(reply, alice, bob)},
				Accept: []store.Inbox{accepted(alice, bob, "held")}})
		},
		func() error { return s.Commit(ctx, delivered(bob, "held")) },
		// An operator looks into a letter that was given up, and drops it.
		func() error {
			return s.Commit(ctx, store.WriteSet{Bury: []store.DeadLetter{{DeadKey: deadKey(bob, "lost"), Reason: "expired", At: at(5), Envelope: reply.Envelope}}})
		},
		func() error { return s.Post(ctx, command(1, bob)) },
		func() error { _, err := s.Commands(ctx, []string{alice, bob}, 9); return err },
		func() error {
			return s.Commit(ctx, store.WriteSet{Unbury: []store.DeadKey{deadKey(bob, "lost")}, Answers: []store.CommandAnswer{{ID: uuid(1), At: at(6), Answer: "dropped"}}})
		},
		// Carol is met, and asks to be called back.
		func() error { _, err := s.Pin(ctx, store.Pin{URI: carol, Key: []byte("key"), At: at(6)}); return err },
		func() error { return s.PutCallback(ctx, callback("t", "a")) },
		func() error { return s.PutCallback(ctx, callback("t", "b")) },
		func() error { return s.AdvanceCallback(ctx, told) },
		func() error { return s.DeleteCallback(ctx, callback("t", "b").CallbackKey) },
		func() error { return s.Unpin(ctx, carol) },
		// What has expired is swept.
		func() error { _, err := s.Sweep(ctx, at(1000), time.Time{}, 9); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// move commits the set together with a step of the exchange to the state, as
// a host does it: read, compute, commit.
func move(ctx context.Context, s store.Store, k store.Key, to protocol.State, w store.WriteSet) error {
	x, err := s.Exchange(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		x, err = exchange(k, to), nil
	}
	if err != nil {
		return err
	}
	x.State.State, x.State.ReplyBy = to, at(70)
	w.Exchanges = []store.Exchange{x}
	return s.Commit(ctx, w)
}
