// Package faulty makes a store fail where it is told to: for tests of what
// happens then, and for the simulator.
package faulty

import (
	"context"
	"time"

	"github.com/parley-agents/parley/store"
)

// Side is a side of a call of a store.
type Side string

// The sides of a call.
const (
	// Before: the store has not been called; if the call fails here, nothing
	// was done.
	Before Side = "before"
	// After: the store has answered; if the call fails here, what it did is
	// done and the caller does not learn of it.
	After Side = "after"
)

// New returns a store that asks fault before and after each call of s,
// giving the method's name, such as "Commit". The error that fault returns
// becomes the answer of the call. Close is not a call in this sense: it always
// closes s.
//
// A store that dies is a fault that, from some call on, answers every call
// with an error. Fault is called by whoever calls the store, several at once
// if they do.
func New(s store.Store, fault func(side Side, call string) error) store.Store {
	return faulty{s, fault}
}

type faulty struct {
	s     store.Store
	fault func(Side, string) error
}

// ask calls the store between the two questions.
func ask[T any](f faulty, call string, do func() (T, error)) (T, error) {
	var none T
	if err := f.fault(Before, call); err != nil {
		return none, err
	}
	answer, err := do()
	if fault := f.fault(After, call); fault != nil {
		return none, fault
	}
	return answer, err
}

// tell is ask for calls that answer with an error alone.
func tell(f faulty, call string, do func() error) error {
	_, err := ask(f, call, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (f faulty) Close() error { return f.s.Close() }

func (f faulty) Meta(ctx context.Context, candidate store.Meta) (store.Meta, error) {
	return ask(f, "Meta", func() (store.Meta, error) { return f.s.Meta(ctx, candidate) })
}

func (f faulty) Identity(ctx context.Context, candidate store.Identity) (store.Identity, error) {
	return ask(f, "Identity", func() (store.Identity, error) { return f.s.Identity(ctx, candidate) })
}

func (f faulty) Commit(ctx context.Context, w store.WriteSet) error {
	return tell(f, "Commit", func() error { return f.s.Commit(ctx, w) })
}

func (f faulty) TakeOver(ctx context.Context, owner string) ([]store.Inbox, error) {
	return ask(f, "TakeOver", func() ([]store.Inbox, error) { return f.s.TakeOver(ctx, owner) })
}

func (f faulty) Renew(ctx context.Context, k store.InboxKey, fence int64, until time.Time) error {
	return tell(f, "Renew", func() error { return f.s.Renew(ctx, k, fence, until) })
}

func (f faulty) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	return ask(f, "Due", func() (store.Due, error) { return f.s.Due(ctx, owners, now, limit) })
}

func (f faulty) Owners(ctx context.Context) ([]string, error) {
	return ask(f, "Owners", func() ([]string, error) { return f.s.Owners(ctx) })
}

func (f faulty) Conversations(ctx context.Context, owner string, limit int) ([]store.Conversation, error) {
	return ask(f, "Conversations", func() ([]store.Conversation, error) { return f.s.Conversations(ctx, owner, limit) })
}

func (f faulty) Exchange(ctx context.Context, k store.Key) (store.Exchange, error) {
	return ask(f, "Exchange", func() (store.Exchange, error) { return f.s.Exchange(ctx, k) })
}

func (f faulty) Exchanges(ctx context.Context, owner, conversation string) ([]store.Exchange, error) {
	return ask(f, "Exchanges", func() ([]store.Exchange, error) { return f.s.Exchanges(ctx, owner, conversation) })
}

func (f faulty) Children(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	return ask(f, "Children", func() ([]store.Exchange, error) { return f.s.Children(ctx, k) })
}

func (f faulty) Correlated(ctx context.Context, owner, correlation string) ([]store.Exchange, error) {
	return ask(f, "Correlated", func() ([]store.Exchange, error) { return f.s.Correlated(ctx, owner, correlation) })
}

func (f faulty) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	return ask(f, "Tasks", func() ([]store.Exchange, error) { return f.s.Tasks(ctx, owner, task) })
}

func (f faulty) Mailboxes(ctx context.Context, q store.MailboxQuery) ([]store.Exchange, error) {
	return ask(f, "Mailboxes", func() ([]store.Exchange, error) { return f.s.Mailboxes(ctx, q) })
}

func (f faulty) CountMailboxes(ctx context.Context, q store.MailboxQuery) (int, error) {
	return ask(f, "CountMailboxes", func() (int, error) { return f.s.CountMailboxes(ctx, q) })
}

func (f faulty) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	return ask(f, "Inbox", func() (store.Inbox, error) { return f.s.Inbox(ctx, k) })
}

func (f faulty) Log(ctx context.Context, owner, conversation string, after int64) ([]store.Entry, error) {
	return ask(f, "Log", func() ([]store.Entry, error) { return f.s.Log(ctx, owner, conversation, after) })
}

func (f faulty) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]store.Entry, error) {
	return ask(f, "LogPage", func() ([]store.Entry, error) { return f.s.LogPage(ctx, owner, conversation, after, limit) })
}

func (f faulty) Message(ctx context.Context, k store.Key, kind store.EntryKind, messageID string) (store.Entry, error) {
	return ask(f, "Message", func() (store.Entry, error) { return f.s.Message(ctx, k, kind, messageID) })
}

func (f faulty) Outbox(ctx context.Context, k store.Key) ([]store.Outbox, error) {
	return ask(f, "Outbox", func() ([]store.Outbox, error) { return f.s.Outbox(ctx, k) })
}

func (f faulty) OutboxRow(ctx context.Context, owner, messageID string) (store.Outbox, error) {
	return ask(f, "OutboxRow", func() (store.Outbox, error) { return f.s.OutboxRow(ctx, owner, messageID) })
}

func (f faulty) Effect(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	return ask(f, "Effect", func() (store.Effect, error) { return f.s.Effect(ctx, k) })
}

func (f faulty) Turns(ctx context.Context, k store.Key) ([]store.Turn, error) {
	return ask(f, "Turns", func() ([]store.Turn, error) { return f.s.Turns(ctx, k) })
}

func (f faulty) DeadLetters(ctx context.Context, owner string, limit int) ([]store.DeadLetter, error) {
	return ask(f, "DeadLetters", func() ([]store.DeadLetter, error) { return f.s.DeadLetters(ctx, owner, limit) })
}

func (f faulty) DeadLetter(ctx context.Context, k store.DeadKey) (store.DeadLetter, error) {
	return ask(f, "DeadLetter", func() (store.DeadLetter, error) { return f.s.DeadLetter(ctx, k) })
}

func (f faulty) Inboxes(ctx context.Context, owner string, open bool, limit int) ([]store.Inbox, error) {
	return ask(f, "Inboxes", func() ([]store.Inbox, error) { return f.s.Inboxes(ctx, owner, open, limit) })
}

func (f faulty) Outboxes(ctx context.Context, owner string, limit int, statuses ...store.OutboxStatus) ([]store.Outbox, error) {
	return ask(f, "Outboxes", func() ([]store.Outbox, error) { return f.s.Outboxes(ctx, owner, limit, statuses...) })
}

func (f faulty) Post(ctx context.Context, c store.Command) error {
	return tell(f, "Post", func() error { return f.s.Post(ctx, c) })
}

func (f faulty) Commands(ctx context.Context, owners []string, limit int) ([]store.Command, error) {
	return ask(f, "Commands", func() ([]store.Command, error) { return f.s.Commands(ctx, owners, limit) })
}

func (f faulty) Command(ctx context.Context, id string) (store.Command, error) {
	return ask(f, "Command", func() (store.Command, error) { return f.s.Command(ctx, id) })
}

func (f faulty) Pin(ctx context.Context, candidate store.Pin) (store.Pin, error) {
	return ask(f, "Pin", func() (store.Pin, error) { return f.s.Pin(ctx, candidate) })
}

func (f faulty) Pins(ctx context.Context) ([]store.Pin, error) {
	return ask(f, "Pins", func() ([]store.Pin, error) { return f.s.Pins(ctx) })
}

func (f faulty) Pinned(ctx context.Context, uri string) (store.Pin, error) {
	return ask(f, "Pinned", func() (store.Pin, error) { return f.s.Pinned(ctx, uri) })
}

func (f faulty) Unpin(ctx context.Context, uri string) error {
	return tell(f, "Unpin", func() error { return f.s.Unpin(ctx, uri) })
}

func (f faulty) PutCallback(ctx context.Context, c store.Callback) error {
	return tell(f, "PutCallback", func() error { return f.s.PutCallback(ctx, c) })
}

func (f faulty) Callback(ctx context.Context, k store.CallbackKey) (store.Callback, error) {
	return ask(f, "Callback", func() (store.Callback, error) { return f.s.Callback(ctx, k) })
}

func (f faulty) Callbacks(ctx context.Context, owner, task string) ([]store.Callback, error) {
	return ask(f, "Callbacks", func() ([]store.Callback, error) { return f.s.Callbacks(ctx, owner, task) })
}

func (f faulty) DeleteCallback(ctx context.Context, k store.CallbackKey) error {
	return tell(f, "DeleteCallback", func() error { return f.s.DeleteCallback(ctx, k) })
}

func (f faulty) AdvanceCallback(ctx context.Context, c store.Callback) error {
	return tell(f, "AdvanceCallback", func() error { return f.s.AdvanceCallback(ctx, c) })
}

func (f faulty) Sweep(ctx context.Context, now, before time.Time, limit int) (store.Swept, error) {
	return ask(f, "Sweep", func() (store.Swept, error) { return f.s.Sweep(ctx, now, before, limit) })
}
