package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// world draws write sets over a few names, so that they meet each other. Its
// owners are its own: many worlds share one store without meeting.
type world struct {
	model  *model
	number int
	owners []string
	tick   int // the time of the next row; rises
}

// newWorld makes the next one of several.
func newWorld(worlds *int) *world {
	*worlds++
	m := &model{effects: map[store.EffectKey]store.Effect{}, callbacks: map[store.CallbackKey]store.Callback{}, pins: map[string]store.Pin{}}
	return &world{model: m, number: *worlds,
		owners: []string{fmt.Sprint(alice, *worlds), fmt.Sprint(bob, *worlds)}}
}

func (w *world) now() int { w.tick++; return w.tick }

func (w *world) owner(t *rapid.T) string { return rapid.SampledFrom(w.owners).Draw(t, "owner") }

func conversations() []string { return []string{"c", "d"} }
func peers() []string         { return []string{bob, carol} }
func ids() []string           { return []string{"m1", "m2", "m3", "m4", "m5"} }

func (w *world) key(t *rapid.T) store.Key {
	return key(w.owner(t), rapid.SampledFrom(conversations()).Draw(t, "conversation"), rapid.SampledFrom(peers()).Draw(t, "peer"))
}

func id(t *rapid.T) string { return rapid.SampledFrom(ids()).Draw(t, "id") }

func (w *world) inboxKey(t *rapid.T) store.InboxKey {
	return store.InboxKey{Recipient: w.owner(t), Sender: rapid.SampledFrom(peers()).Draw(t, "sender"), MessageID: id(t)}
}

func (w *world) effectKey(t *rapid.T) store.EffectKey {
	return store.EffectKey{Recipient: w.owner(t), Sender: bob, Capability: "urn:cap:x/v1", Key: id(t)}
}

func (w *world) exchange(t *rapid.T, k store.Key) store.Exchange {
	x := exchange(k, rapid.SampledFrom([]protocol.State{"received", "agreed", "cancelling", "done:ok", "done:failed"}).Draw(t, "state"))
	x.State.ReplyBy, x.State.AgreeBy, x.State.CancelBy = moment(t), moment(t), moment(t)
	x.State.Role = rapid.SampledFrom([]protocol.Role{protocol.Initiator, protocol.Participant}).Draw(t, "role")
	x.Correlation = rapid.SampledFrom(conversations()).Draw(t, "correlation")
	if rapid.Bool().Draw(t, "child") {
		x.Parent = key(x.Owner, rapid.SampledFrom(conversations()).Draw(t, "parent"), bob)
	}
	if x.State.Done() {
		x.EndedAt = moment(t)
	}
	x.OpenedAt = at(w.now())
	w.carried(t, &x)
	i, version := w.model.exchange(x.Key)
	if i >= 0 {
		x.OpenedAt = w.model.exchanges[i].OpenedAt
	}
	x.Version = version
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		x.Version++
	}
	return x
}

func (w *world) effect(t *rapid.T, status store.EffectStatus) store.Effect {
	return store.Effect{EffectKey: w.effectKey(t), Status: status, At: at(w.now()), ExpiresAt: moment(t),
		Conversation: rapid.SampledFrom(conversations()).Draw(t, "conversation")}
}

// note is an entry that belongs to a conversation and not to an exchange.
func (w *world) note(t *rapid.T) store.Entry {
	k := w.key(t)
	return store.Entry{Owner: k.Owner, Conversation: k.Conversation, At: at(w.now()),
		Kind: rapid.SampledFrom([]store.EntryKind{store.Bound, store.Reduced, store.Concluded}).Draw(t, "kind"),
		Note: []byte(fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 9).Draw(t, "note")))}
}

// writeSet draws a set. One in a few does not fit.
func (w *world) writeSet(t *rapid.T) store.WriteSet {
	var set store.WriteSet
	for _, k := range rapid.SliceOfNDistinct(rapid.Custom(w.key), 0, 4, rapid.ID[store.Key]).Draw(t, "moved") {
		set.Exchanges = append(set.Exchanges, w.exchange(t, k))
	}
	few := func(what string, add func()) {
		for range rapid.IntRange(0, 2).Draw(t, what) {
			add()
		}
	}
	few("entries", func() {
		k := w.key(t)
		e := entry(k.Owner, k.Conversation, id(t))
		e.Peer, e.Kind = k.Peer, rapid.SampledFrom([]store.EntryKind{store.Sent, store.Received, store.Rejected}).Draw(t, "kind")
		set.Entries = append(set.Entries, e)
	})
	few("notes", func() { set.Entries = append(set.Entries, w.note(t)) })
	few("noted", func() {
		k := w.key(t)
		set.Entries = append(set.Entries, store.Entry{Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Kind: store.Noted, At: at(w.now()),
			MessageID: id(t), Note: []byte(`{}`)})
	})
	few("unsent", func() { set.DropUnsent = append(set.DropUnsent, w.key(t)) })
	few("accepted", func() {
		row := accepted("", "", "")
		row.InboxKey, row.AcceptedAt, row.ExpiresAt = w.inboxKey(t), at(w.now()), rapid.SampledFrom([]time.Time{moment(t), {}}).Draw(t, "expires")
		set.Accept = append(set.Accept, row)
	})
	// Leases, settlements and deliveries mostly name rows that are there.
	if n := len(w.model.inbox); n > 0 && rapid.Bool().Draw(t, "lease") {
		row := w.model.inbox[rapid.IntRange(0, n-1).Draw(t, "which")]
		set.Leases = append(set.Leases, store.Lease{InboxKey: row.InboxKey, Fence: row.Attempt, Until: leaseEnd(t)})
	}
	few("posted", func() {
		k := w.key(t)
		o := outgoing(k.Owner, k.Conversation, k.Peer, id(t), moment(t))
		o.Overtakes = rapid.IntRange(0, 3).Draw(t, "overtakes") == 0
		o.Priority = rapid.SampledFrom([]string{"", "high", "low"}).Draw(t, "priority")
		set.Outbox = append(set.Outbox, o)
	})
	few("effects", func() {
		set.Effects = append(set.Effects, w.effect(t, store.Ended))
	})
	few("claimed", func() {
		set.Claim = append(set.Claim, w.effect(t, store.Begun))
	})
	few("released", func() { set.Release = append(set.Release, w.effectKey(t)) })
	few("turns", func() {
		set.Turns = append(set.Turns, store.Turn{Key: w.key(t), Ordinal: rapid.IntRange(1, 9).Draw(t, "ordinal"), Kind: store.Reply})
	})
	few("buried", func() {
		set.Bury = append(set.Bury, store.DeadLetter{DeadKey: deadKey(w.owner(t), id(t)), Reason: "expired", At: moment(t), Envelope: []byte("{}"),
			Conversation: rapid.SampledFrom(conversations()).Draw(t, "conversation")})
	})
	few("unburied", func() { set.Unbury = append(set.Unbury, deadKey(w.owner(t), id(t))) })
	if n := len(w.model.inbox); n > 0 && rapid.Bool().Draw(t, "settle") {
		row := w.model.inbox[rapid.IntRange(0, n-1).Draw(t, "which")]
		set.Settle = append(set.Settle, store.Settlement{InboxKey: row.InboxKey, Fence: row.Attempt})
	} else if rapid.IntRange(0, 9).Draw(t, "settle any") == 0 {
		set.Settle = append(set.Settle, store.Settlement{InboxKey: w.inboxKey(t), Fence: 1})
	}
	if n := len(w.model.outbox); n > 0 && rapid.Bool().Draw(t, "deliver") {
		row := w.model.outbox[rapid.IntRange(0, n-1).Draw(t, "which")]
		set.Deliveries = append(set.Deliveries, store.Delivery{Owner: row.Owner, MessageID: row.MessageID, Attempt: row.Attempt + 1, NextAt: moment(t),
			Status: rapid.SampledFrom([]store.OutboxStatus{store.Pending, store.Delivered, store.Dead}).Draw(t, "status")})
	}
	if n := len(w.model.outbox); n > 0 && rapid.IntRange(0, 3).Draw(t, "redrive") == 0 {
		row := w.model.outbox[rapid.IntRange(0, n-1).Draw(t, "which")]
		set.Redrive = append(set.Redrive, store.Redrive{Owner: row.Owner, MessageID: row.MessageID, NextAt: moment(t)})
	}
	if n := len(w.model.commands); n > 0 && rapid.IntRange(0, 3).Draw(t, "answer") == 0 {
		set.Answers = append(set.Answers, store.CommandAnswer{ID: w.model.commands[rapid.IntRange(0, n-1).Draw(t, "which")].ID, At: at(w.now()), Answer: "done"})
	}
	return set
}

// leaseEnd draws when a lease ends: soon, after more than an hour, or at once.
func leaseEnd(t *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{at(600), at(600 + 7_200_000), {}}).Draw(t, "lease end")
}

func agreesWithModel(t *testing.T, fresh func() Place) {
	s := fresh()()
	worlds := 0
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(&worlds)
		w.live(t, r, s)
		w.compare(t, r, s)
	})
}

// live takes a dozen steps on both sides.
func (w *world) live(t *testing.T, r *rapid.T, s store.Store) {
	for range rapid.IntRange(1, 12).Draw(r, "steps") {
		if rapid.IntRange(0, 9).Draw(r, "take over") == 0 {
			owner := w.owner(r)
			taken, err := s.TakeOver(t.Context(), owner)
			agree(r, "taken over", taken, err, w.model.takeOver(owner))
			continue
		}
		if rapid.IntRange(0, 9).Draw(r, "renew") == 0 {
			k, fence, until := w.inboxKey(r), rapid.Int64Range(1, 2).Draw(r, "fence"), leaseEnd(r)
			if got, want := s.Renew(t.Context(), k, fence, until), w.model.renew(k, fence, until); !errors.Is(got, want) {
				r.Fatalf("renew: got %v, want %v", got, want)
			}
			continue
		}
		if rapid.IntRange(0, 4).Draw(r, "post") == 0 {
			c := command(10*w.number+rapid.IntRange(0, 3).Draw(r, "command"), w.owner(r))
			c.At = moment(r)
			if got, want := s.Post(t.Context(), c), w.model.post(c); !errors.Is(got, want) {
				r.Fatalf("post: got %v, want %v", got, want)
			}
			continue
		}
		if rapid.IntRange(0, 2).Draw(r, "carry") == 0 {
			w.carry(t, r, s)
			continue
		}
		set := w.writeSet(r)
		next, faults := w.model.commit(set)
		err := s.Commit(t.Context(), set)
		if (err == nil) != (faults == nil) || err != nil && !slices.ContainsFunc(faults, func(f error) bool { return errors.Is(err, f) }) {
			r.Fatalf("commit: got %v, want one of %v", err, faults)
		}
		w.model = next
	}
}
