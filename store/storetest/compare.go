package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
)

// moment draws a time of the first fifty milliseconds.
func moment(t *rapid.T) time.Time { return at(rapid.IntRange(1, 50).Draw(t, "time")) }

// agree compares a list that an engine read with the model's.
func agree[T any](r *rapid.T, what string, got []T, err error, want []T) {
	if err != nil {
		r.Fatalf("%s: %v", what, err)
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		r.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// single makes a read of one record a list of at most one.
func single[T any](v T, err error) ([]T, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return []T{v}, err
}

// unchained is a log without its hashes, which are the engine's own.
func unchained(list []store.Entry) []store.Entry {
	for i := range list {
		list[i].Hash = [32]byte{}
	}
	return list
}

// compare makes every read of the world's names on both sides.
func (w *world) compare(t *testing.T, r *rapid.T, s store.Store) {
	w.compareTogether(t, r, s)
	for _, owner := range w.owners {
		w.compareOwner(t, r, s, owner)
		for _, conversation := range conversations() {
			for _, peer := range peers() {
				w.compareExchange(t, r, s, key(owner, conversation, peer))
			}
		}
		for _, id := range ids() {
			w.compareID(t, r, s, owner, id)
		}
	}
}

func (w *world) compareOwner(t *testing.T, r *rapid.T, s store.Store, owner string) {
	ctx, m := t.Context(), w.model
	byKey := func(a, b store.Exchange) int {
		return strings.Compare(a.Conversation+" "+a.Peer, b.Conversation+" "+b.Peer)
	}
	live, err := s.Exchanges(ctx, owner, "")
	wantLive := pick(m.exchanges, func(x store.Exchange) bool { return x.Owner == owner && !x.State.Done() })
	slices.SortFunc(live, byKey)
	slices.SortFunc(wantLive, byKey)
	agree(r, "live exchanges", live, err, wantLive)
	talks, err := s.Conversations(ctx, owner, 9)
	agree(r, "conversations", talks, err, m.conversations(owner))
	for _, name := range conversations() {
		want := pick(m.exchanges, func(x store.Exchange) bool { return x.Owner == owner && x.Conversation == name })
		slices.SortFunc(want, byKey)
		got, err := s.Exchanges(ctx, owner, name)
		agree(r, "exchanges", got, err, want)
		got, err = s.Correlated(ctx, owner, name)
		agree(r, "correlated", got, err, pick(m.exchanges, func(x store.Exchange) bool { return x.Owner == owner && x.Correlation == name }))
		for _, after := range []int64{0, 2} {
			log, err := s.Log(ctx, owner, name, after)
			agree(r, "log", unchained(log), err, m.log(owner, name, after))
		}
	}
	w.compareLists(t, r, s, owner)
	w.compareCarried(t, r, s, owner)
	for _, now := range times() {
		got, err := s.Due(ctx, []string{owner}, at(now), 1000)
		want := m.due(owner, at(now))
		sortTimers(got.Timers)
		agree(r, fmt.Sprint("timers at ", now), got.Timers, err, want.Timers)
		agree(r, fmt.Sprint("outbox at ", now), got.Outbox, err, want.Outbox)
		agree(r, fmt.Sprint("next at ", now), []time.Time{got.Next}, err, []time.Time{want.Next})
	}
}

// times are before, among and long after what is drawn. Half of what is drawn
// has aged at the last but one.
func times() []int { return []int{0, 25, 60, 30_025, 40_000} }

// compareLists makes every list that an operator asks for.
func (w *world) compareLists(t *testing.T, r *rapid.T, s store.Store, owner string) {
	ctx, m := t.Context(), w.model
	letters, err := s.DeadLetters(ctx, owner, 99)
	wantLetters := pick(m.letters, func(d store.DeadLetter) bool { return d.Owner == owner })
	slices.Reverse(wantLetters)
	slices.SortStableFunc(wantLetters, func(a, b store.DeadLetter) int { return b.At.Compare(a.At) })
	agree(r, "dead letters", letters, err, wantLetters)
	for _, statuses := range [][]store.OutboxStatus{nil, {store.Pending}, {store.Delivered, store.Dead}} {
		rows, err := s.Outboxes(ctx, owner, 3, statuses...)
		want := pick(m.outbox, func(o store.Outbox) bool {
			return o.Owner == owner && (statuses == nil || slices.Contains(statuses, o.Status))
		})
		slices.Reverse(want)
		agree(r, fmt.Sprint("outbox rows that are ", statuses), rows, err, want[:min(len(want), 3)])
	}
	for _, open := range []bool{false, true} {
		rows, err := s.Inboxes(ctx, owner, open, 3)
		want := pick(m.inbox, func(i store.Inbox) bool { return i.Recipient == owner && (!open || i.Status == store.InProgress) })
		slices.SortFunc(want, func(a, b store.Inbox) int { return b.AcceptedAt.Compare(a.AcceptedAt) })
		agree(r, fmt.Sprint("inbox rows, open ", open), rows, err, want[:min(len(want), 3)])
	}
	waiting, err := s.Commands(ctx, []string{owner}, 99)
	wantWaiting := pick(m.commands, func(c store.Command) bool { return c.Owner == owner && c.DoneAt.IsZero() })
	slices.SortFunc(wantWaiting, func(a, b store.Command) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	agree(r, "commands", waiting, err, wantWaiting)
	for _, c := range pick(m.commands, func(c store.Command) bool { return c.Owner == owner }) {
		one, err := single(s.Command(ctx, c.ID))
		agree(r, "command", one, err, []store.Command{c})
	}
}

// compareTogether asks what is due of all owners at once, all of it and a
// little of it. Rows of one time may come in any order.
func (w *world) compareTogether(t *testing.T, r *rapid.T, s store.Store) {
	for _, now := range times() {
		var want store.Due
		for _, owner := range w.owners {
			more := w.model.due(owner, at(now))
			want.Timers, want.Outbox = append(want.Timers, more.Timers...), append(want.Outbox, more.Outbox...)
			if want.Next.IsZero() || !more.Next.IsZero() && more.Next.Before(want.Next) {
				want.Next = more.Next
			}
		}
		all, err := s.Due(t.Context(), w.owners, at(now), 1000)
		agree(r, fmt.Sprint("next at ", now), []time.Time{all.Next}, err, []time.Time{want.Next})
		few, err := s.Due(t.Context(), w.owners, at(now), 3)
		agree(r, fmt.Sprint("next at ", now, " after a few"), []time.Time{few.Next}, err, []time.Time{want.Next})
		compareDue(r, fmt.Sprint("timers at ", now), all.Timers, few.Timers, want.Timers,
			func(x store.Timer) time.Time { return x.At }, func(a, b store.Timer) int { return a.At.Compare(b.At) })
		compareDue(r, fmt.Sprint("outbox at ", now), all.Outbox, few.Outbox, want.Outbox,
			func(o store.Outbox) string { return fmt.Sprint(o.Priority, o.NextAt) }, func(a, b store.Outbox) int { return leavesFirst(a, b, at(now)) })
	}
}

// compareDue compares the order of what is due, as far as place tells it.
func compareDue[T comparable, P any](r *rapid.T, what string, all, few, want []T, place func(T) P, order func(a, b T) int) {
	slices.SortStableFunc(want, order)
	agree(r, what+" in order", mapped(all, place), nil, mapped(want, place))
	agree(r, "a few "+what+" in order", mapped(few, place), nil, mapped(want[:min(len(want), 3)], place))
	for _, one := range append(slices.Clone(want), few...) {
		if !slices.Contains(all, one) {
			r.Fatalf("%s: %+v is missing", what, one)
		}
	}
}

func (w *world) compareExchange(t *testing.T, r *rapid.T, s store.Store, k store.Key) {
	ctx, m := t.Context(), w.model
	x, err := single(s.Exchange(ctx, k))
	agree(r, "exchange", x, err, pick(m.exchanges, func(x store.Exchange) bool { return x.Key == k }))
	children, err := s.Children(ctx, k)
	agree(r, "children", children, err, pick(m.exchanges, func(x store.Exchange) bool { return x.Parent == k }))
	outbox, err := s.Outbox(ctx, k)
	agree(r, "outbox", outbox, err, pick(m.outbox, func(o store.Outbox) bool { return o.Key() == k }))
	turns, err := s.Turns(ctx, k)
	want := pick(m.turns, func(t store.Turn) bool { return t.Key == k })
	slices.SortFunc(want, func(a, b store.Turn) int { return a.Ordinal - b.Ordinal })
	agree(r, "turns", turns, err, want)
}

func (w *world) compareID(t *testing.T, r *rapid.T, s store.Store, owner, id string) {
	ctx, m := t.Context(), w.model
	for _, kind := range []store.EntryKind{store.Sent, store.Received, store.Rejected, store.Noted} {
		all := pick(m.entries, func(e store.Entry) bool { return e.Owner == owner && e.Kind == kind && e.MessageID == id })
		for _, of := range all {
			k := store.Key{Owner: owner, Conversation: of.Conversation, Peer: of.Peer}
			want := pick(all, func(e store.Entry) bool { return e.Conversation == of.Conversation && e.Peer == of.Peer })
			got, err := single(s.Message(ctx, k, kind, id))
			agree(r, "message", unchained(got), err, want[:1])
		}
	}
	row, err := single(s.OutboxRow(ctx, owner, id))
	agree(r, "outbox row", row, err, pick(m.outbox, func(o store.Outbox) bool { return o.Owner == owner && o.MessageID == id }))
	for _, sender := range peers() {
		k := store.InboxKey{Recipient: owner, Sender: sender, MessageID: id}
		row, err := single(s.Inbox(ctx, k))
		agree(r, "inbox", row, err, pick(m.inbox, func(i store.Inbox) bool { return i.InboxKey == k }))
	}
	k := store.EffectKey{Recipient: owner, Sender: bob, Capability: "urn:cap:x/v1", Key: id}
	var want []store.Effect
	if e, ok := m.effects[k]; ok {
		want = append(want, e)
	}
	effect, err := single(s.Effect(ctx, k))
	agree(r, "effect", effect, err, want)
}
