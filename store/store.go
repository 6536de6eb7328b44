// Package store declares what Parley keeps: the records of exchanges, inboxes,
// outboxes, logs, effects and turns, and the interface of the engines that
// keep them. It holds plain types only and imports no engine.
//
// The unit of everything is one committed step of one exchange, or of several
// that move together: a WriteSet. It consumes what came in, moves the
// exchanges, records the outcome, appends to the log and emits outgoing
// messages in one transaction, or not at all.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/parley-agents/parley/protocol"
)

// What an engine answers when it cannot do what was asked. Test with
// errors.Is.
var (
	// ErrNotFound: no such record.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the exchange was moved by another step since it was read.
	// Read again, compute again, commit again.
	ErrConflict = errors.New("the exchange has moved since it was read")
	// ErrDuplicate: a record of the write set that must be new exists.
	ErrDuplicate = errors.New("the record exists already")
	// ErrFenced: the caller no longer holds the lease it writes under.
	ErrFenced = errors.New("the lease was taken over")
	// ErrNotPending: the outbox row is no longer to be sent.
	ErrNotPending = errors.New("the message is no longer to be sent")
	// ErrFull: the disk is full. Nothing was written, and what was committed
	// stands.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly: the store was opened for reading only.
	ErrReadOnly = errors.New("the store is open for reading only")
	// ErrInUse: another host has the store open.
	ErrInUse = errors.New("the store is in use by another host")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// Store is an engine that keeps the records. Every method may be called at
// once by several goroutines. Every key starts with the owning agent's URI,
// so that several agents can share one engine without seeing each other.
// Times are kept in UTC and whole milliseconds.
//
// A read returns when it has its answer or ctx ends. Commit returns when the
// write set is durable or refused; once an engine has taken a write set up,
// ctx no longer stops it, so a caller whose ctx ended must not assume that
// nothing was written.
type Store interface {
	// Meta returns what belongs to the store as a whole. The first call keeps
	// the candidate, later calls return what was kept.
	Meta(ctx context.Context, candidate Meta) (Meta, error)
	// Identity returns the key of an agent. The first call for an owner keeps
	// the candidate, later calls return what was kept.
	Identity(ctx context.Context, candidate Identity) (Identity, error)

	// Commit writes the set in one transaction. It returns ErrConflict,
	// ErrDuplicate, ErrFenced, ErrNotFound or ErrNotPending and writes nothing
	// when the set does not fit what is stored, the error of WriteSet.Check when
	// it cannot fit, and ErrFull when there is no room for it.
	Commit(ctx context.Context, w WriteSet) error
	// TakeOver raises the fencing token of every inbox row of the owner that
	// is in progress, ends its lease and returns the rows, oldest first. A host
	// calls it when it starts: whoever held the leases is gone. A lease that was
	// not given back raises Runs, for it was held to the end, which did not come in
	// order; if it had been held for longer than Steady, that is the first run
	// again.
	TakeOver(ctx context.Context, owner string) ([]Inbox, error)
	// Renew takes the lease on an inbox row or moves its end to until, zero giving
	// it back, like WriteSet.Leases. It returns ErrFenced unless the row is in
	// progress under the given fencing token, ErrNotFound if there is no such row.
	Renew(ctx context.Context, k InboxKey, fence int64, until time.Time) error
	// Due lists what is to be done at now for the owners: the timers that are due,
	// earliest first, and outbox rows that may leave, at most limit of each. An
	// exchange has one timer at a time, its next: when that has fired it has another.
	//
	// An outbox row may leave when it is pending, its time has come and no
	// earlier pending row of the same conversation and receiver stands before
	// it, unless it overtakes. Rows come by priority, high before normal before
	// low, and those of one priority earliest first. A row whose time came more
	// than Aging ago counts as high, so that a stream of urgent messages delays
	// the others by so much and never for ever. Priority does not move a row
	// past another one of its conversation and receiver.
	//
	// Next is the earliest time after now at which the answer can get longer by
	// itself, zero if none. A host calls Due for every message: what it costs
	// must not grow with the number of owners or of rows.
	Due(ctx context.Context, owners []string, now time.Time, limit int) (Due, error)

	// Owners lists the agents that have an identity or an exchange here, in
	// order of URI.
	Owners(ctx context.Context) ([]string, error)
	// Conversations sums up at most limit conversations of the owner, or of
	// all owners when owner is "". The one whose first exchange was committed
	// last comes first.
	Conversations(ctx context.Context, owner string, limit int) ([]Conversation, error)
	Exchange(ctx context.Context, k Key) (Exchange, error)
	// Exchanges lists the owner's exchanges of a conversation by peer, or all
	// that are live when conversation is "".
	Exchanges(ctx context.Context, owner, conversation string) ([]Exchange, error)
	// Children lists the exchanges that the work of exchange k started.
	Children(ctx context.Context, k Key) ([]Exchange, error)
	// Correlated lists the owner's exchanges of one business exchange, in the
	// order in which they were opened.
	Correlated(ctx context.Context, owner, correlation string) ([]Exchange, error)
	// Tasks lists the owner's exchanges under a task in the order in which they
	// were opened: the one that it is, then the questions about it. There are none
	// under "".
	Tasks(ctx context.Context, owner, task string) ([]Exchange, error)
	// Mailboxes lists exchanges of the owner whose acts the peer reads, without
	// the questions about them, which have a parent. The one that moved last comes
	// first, and of those that moved at one time the one whose task is less.
	Mailboxes(ctx context.Context, q MailboxQuery) ([]Exchange, error)
	// CountMailboxes counts what Mailboxes lists without After and Limit.
	CountMailboxes(ctx context.Context, q MailboxQuery) (int, error)
	Inbox(ctx context.Context, k InboxKey) (Inbox, error)
	// Log lists the entries of a conversation in the owner's log whose index
	// is greater than after, in order.
	Log(ctx context.Context, owner, conversation string, after int64) ([]Entry, error)
	// LogPage lists the first limit of what Log lists, for whoever reads a long
	// log a little at a time.
	LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]Entry, error)
	// Message returns the entry of an exchange in which a message was sent,
	// received or rejected; if there are several, the first.
	Message(ctx context.Context, k Key, kind EntryKind, messageID string) (Entry, error)
	// Outbox lists the outbox rows of an exchange in the order in which they
	// were committed, whatever their status.
	Outbox(ctx context.Context, k Key) ([]Outbox, error)
	// OutboxRow returns the outbox row of one message of the owner.
	OutboxRow(ctx context.Context, owner, messageID string) (Outbox, error)
	Effect(ctx context.Context, k EffectKey) (Effect, error)
	// Turns lists what the work of an exchange has recorded, by ordinal.
	Turns(ctx context.Context, k Key) ([]Turn, error)

	// DeadLetters lists at most limit dead letters of the owner, or of all
	// owners when owner is "", newest first.
	DeadLetters(ctx context.Context, owner string, limit int) ([]DeadLetter, error)
	DeadLetter(ctx context.Context, k DeadKey) (DeadLetter, error)
	// Inboxes lists at most limit inbox rows of the owner, or of all owners
	// when owner is "", the one accepted last first; only those in progress if
	// open is set.
	Inboxes(ctx context.Context, owner string, open bool, limit int) ([]Inbox, error)
	// Outboxes lists at most limit outbox rows of the owner, or of all owners
	// when owner is "", the one committed last first; only those of the given
	// statuses if there are any.
	Outboxes(ctx context.Context, owner string, limit int, statuses ...OutboxStatus) ([]Outbox, error)

	// Post keeps a command for the host. It returns ErrDuplicate if its id is
	// known, and a *CommandError if no host could carry it out.
	Post(ctx context.Context, c Command) error
	// Commands lists at most limit commands that wait for the owners, oldest
	// first.
	Commands(ctx context.Context, owners []string, limit int) ([]Command, error)
	Command(ctx context.Context, id string) (Command, error)

	// Pin returns the key that an agent was first met with. The first call for a
	// URI keeps the candidate, later calls return what was kept.
	Pin(ctx context.Context, candidate Pin) (Pin, error)
	// Pinned returns the pin of an agent.
	Pinned(ctx context.Context, uri string) (Pin, error)
	// Pins lists the pins of all agents by their URI.
	Pins(ctx context.Context) ([]Pin, error)
	// Unpin forgets the pin of an agent, so that the next key counts as the first.
	// It returns ErrNotFound if there is none.
	Unpin(ctx context.Context, uri string) error

	// PutCallback writes a callback whole, whether it is new or not.
	PutCallback(ctx context.Context, c Callback) error
	Callback(ctx context.Context, k CallbackKey) (Callback, error)
	// Callbacks lists the callbacks of a task of the owner by ID or, when task is
	// "", those of all its tasks that are not Done, by task and ID.
	Callbacks(ctx context.Context, owner, task string) ([]Callback, error)
	// DeleteCallback forgets a callback, or returns ErrNotFound.
	DeleteCallback(ctx context.Context, k CallbackKey) error
	// AdvanceCallback writes Place, Done, Attempt and NextAt of a callback that
	// still has the Config it was read with. It returns ErrNotFound if it has
	// another or is gone.
	AdvanceCallback(ctx context.Context, c Callback) error

	// Sweep forgets what nobody needs any more at now, at most limit of each:
	// settled inbox rows and ended effects whose ExpiresAt has come, and, unless
	// before is zero, commands that were done and dead letters that were buried
	// before it, and conversations all of whose exchanges ended before it. With
	// a conversation go its exchanges, log, turns, outbox rows and those of its inbox
	// rows that have no ExpiresAt, all at once, and with the last exchange under a task
	// the callbacks of that task.
	//
	// A conversation is kept whole, however old, while anything leans on it: a
	// live exchange that its work started or whose work started it, an effect
	// that was had in it, a message of its log that the inbox is still to know, a
	// pending outbox row, a dead letter. What is kept reads as before.
	//
	// Sweep works beside the other calls, a little at a time. A call that ends
	// early, because ctx ended or the disk is full, has forgotten some of it and
	// says so. A host calls it from time to time, and again while there is More.
	Sweep(ctx context.Context, now, before time.Time, limit int) (Swept, error)

	// Close ends the store after the write set in hand and gives up its lock.
	// Closing twice is harmless.
	Close() error
}

// Due is what Store.Due found.
type Due struct {
	Timers []Timer
	Outbox []Outbox
	Next   time.Time
}

// Timer is the next timer of an exchange.
type Timer struct {
	Key
	Name protocol.Timer
	At   time.Time
}

// NextTimer is what Due lists of the exchange: its State.NextAlarm, zero if none runs, at a
// whole millisecond, not before it is due, since a timer that fires before its time is
// ignored. It follows from this program's rules: whoever changes when timers are due has to
// write all live exchanges anew.
func (x *Exchange) NextTimer() Timer {
	next, runs := x.State.NextAlarm()
	if !runs {
		return Timer{}
	}
	return Timer{x.Key, next.Timer, time.UnixMilli(next.At.Add(time.Millisecond - 1).UnixMilli()).UTC()}
}

// WriteSet is one step. Every part is optional.
type WriteSet struct {
	// Exchanges are written if the stored version of each equals its Version, 0
	// meaning that it must not exist; the stored version is then one higher.
	// The timer of each is then its NextTimer. None may stand here twice. Most steps
	// move one exchange; what concerns all members of a conversation at once, such
	// as opening or fencing a gather, moves them together.
	Exchanges []Exchange
	// Entries are appended to the log of their conversation. The engine fills
	// Index, contiguous from 1 per owner and conversation, and Hash.
	Entries []Entry
	// Accept are inbox rows that must be new.
	Accept []Inbox
	// Settle are inbox rows that are done; each must be in progress under the
	// given fencing token.
	Settle []Settlement
	// Leases of inbox rows are taken, renewed or given back, after Accept and
	// before Settle; each row must be in progress under the given fencing token.
	Leases []Lease
	// Outbox are rows that must be new; they are stored as pending.
	Outbox []Outbox
	// DropUnsent names exchanges whose pending rows that were never attempted
	// are dropped, before Outbox is inserted. A cancel does that.
	DropUnsent []Key
	// Deliveries record what became of outbox rows. A row that is no longer
	// pending is left as it is.
	Deliveries []Delivery
	// Redrive gives outbox rows another time. Each must be pending when
	// Deliveries have been recorded, else ErrNotPending.
	Redrive []Redrive
	// Claim are effects that must be new.
	Claim []Effect
	// Effects are written over what is stored under their key.
	Effects []Effect
	// Release removes effects whose work was never started.
	Release []EffectKey
	// Turns must be new.
	Turns []Turn
	// Bury are dead letters, written over what is stored under their key.
	Bury []DeadLetter
	// Unbury removes dead letters.
	Unbury []DeadKey
	// Answers marks commands as done. It is ErrDuplicate if one was done before
	// and ErrNotFound if one is not known.
	Answers []CommandAnswer
}
