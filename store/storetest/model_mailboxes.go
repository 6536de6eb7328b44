package storetest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
)

// carried draws what a carrier makes of an exchange. No two mailboxes of a peer
// have one task, so that their order is told by time and task.
func (w *world) carried(t *rapid.T, x *store.Exchange) {
	x.MovedAt = moment(t)
	if rapid.Bool().Draw(t, "carried") {
		x.Task = cmp.Or(x.Parent.Conversation, x.Conversation)
		x.Mailbox = rapid.Bool().Draw(t, "mailbox")
	}
}

// callback draws one of a few callbacks.
func (w *world) callback(t *rapid.T) store.Callback {
	c := callback(rapid.SampledFrom(conversations()).Draw(t, "task"), rapid.SampledFrom(ids()[:2]).Draw(t, "id"))
	c.Owner, c.Config = w.owner(t), []byte(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "config"))
	c.Place, c.Done, c.NextAt = fmt.Sprint(w.now()), rapid.Bool().Draw(t, "done"), moment(t)
	return c
}

// carry does one thing that a carrier does between its steps, on both sides.
func (w *world) carry(t *testing.T, r *rapid.T, s store.Store) {
	ctx, m, c := t.Context(), w.model, w.callback(r)
	var got, want error
	switch op := rapid.SampledFrom([]string{"put", "advance", "delete", "pin", "unpin"}).Draw(r, "op"); op {
	case "put":
		got = s.PutCallback(ctx, c)
		m.callbacks[c.CallbackKey] = c
	case "advance":
		got, want = s.AdvanceCallback(ctx, c), m.advance(c)
	case "delete":
		got, want = s.DeleteCallback(ctx, c.CallbackKey), remove(m.callbacks, c.CallbackKey)
	case "pin":
		p := store.Pin{URI: c.Owner, Key: c.Config, From: c.Place, At: c.NextAt}
		if _, known := m.pins[p.URI]; !known {
			m.pins[p.URI] = p
		}
		kept, err := s.Pin(ctx, p)
		agree(r, "pin", []store.Pin{kept}, err, []store.Pin{m.pins[p.URI]})
	case "unpin":
		got, want = s.Unpin(ctx, c.Owner), remove(m.pins, c.Owner)
	}
	if !errors.Is(got, want) {
		r.Fatalf("got %v, want %v", got, want)
	}
}

func remove[K comparable, V any](table map[K]V, k K) error {
	if _, known := table[k]; !known {
		return store.ErrNotFound
	}
	delete(table, k)
	return nil
}

func (m *model) advance(c store.Callback) error {
	old, known := m.callbacks[c.CallbackKey]
	if !known || !bytes.Equal(old.Config, c.Config) {
		return store.ErrNotFound
	}
	old.Place, old.Done, old.Attempt, old.NextAt = c.Place, c.Done, c.Attempt, c.NextAt
	m.callbacks[c.CallbackKey] = old
	return nil
}

// mailboxes is Store.Mailboxes.
func (m *model) mailboxes(q store.MailboxQuery) []store.Exchange {
	all := pick(m.exchanges, func(x store.Exchange) bool {
		return x.Owner == q.Owner && x.Peer == q.Peer && x.Mailbox && x.Parent == store.Key{} &&
			(q.Correlation == "" || x.Correlation == q.Correlation) && !x.MovedAt.Before(q.Since)
	})
	slices.SortFunc(all, func(a, b store.Exchange) int {
		return cmp.Or(b.MovedAt.Compare(a.MovedAt), cmp.Compare(a.Task, b.Task))
	})
	if q.After != (store.MailboxPlace{}) {
		all = pick(all, func(x store.Exchange) bool {
			return x.MovedAt.Before(q.After.MovedAt) || x.MovedAt.Equal(q.After.MovedAt) && x.Task > q.After.Task
		})
	}
	if q.Limit > 0 {
		all = all[:min(len(all), q.Limit)]
	}
	return all
}

// listed are the callbacks of a task, or all that are not done, in order.
func (m *model) listed(owner, task string) (found []store.Callback) {
	for _, c := range m.callbacks {
		if c.Owner == owner && (c.Task == task || task == "" && !c.Done) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b store.Callback) int { return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.ID, b.ID)) })
	return found
}

// compareCarried makes every read that a carrier makes of an owner.
func (w *world) compareCarried(t *testing.T, r *rapid.T, s store.Store, owner string) {
	ctx, m := t.Context(), w.model
	for _, task := range append(conversations(), "") {
		got, err := s.Tasks(ctx, owner, task)
		agree(r, "tasks", got, err, pick(m.exchanges, func(x store.Exchange) bool { return x.Owner == owner && x.Task == task && task != "" }))
		called, err := s.Callbacks(ctx, owner, task)
		agree(r, "callbacks", called, err, m.listed(owner, task))
	}
	pin, err := single(s.Pinned(ctx, owner))
	var want []store.Pin
	if p, known := m.pins[owner]; known {
		want = append(want, p)
	}
	agree(r, "pinned", pin, err, want)
	for _, peer := range peers() {
		q := store.MailboxQuery{Owner: owner, Peer: peer}
		all, err := s.Mailboxes(ctx, q)
		agree(r, "mailboxes", all, err, m.mailboxes(q))
		for _, correlation := range append(conversations(), "") {
			q := store.MailboxQuery{Owner: owner, Peer: peer, Correlation: correlation, Limit: 1}
			for _, q.Since = range []time.Time{{}, at(25)} {
				n, err := s.CountMailboxes(ctx, q)
				agree(r, "number of mailboxes", []int{n}, err, []int{len(m.mailboxes(store.MailboxQuery{Owner: owner, Peer: peer, Correlation: correlation, Since: q.Since}))})
				for _, x := range append(all, store.Exchange{}) {
					q.After = store.MailboxPlace{MovedAt: x.MovedAt, Task: x.Task}
					page, err := s.Mailboxes(ctx, q)
					agree(r, "a page of mailboxes", page, err, m.mailboxes(q))
				}
			}
		}
	}
}
