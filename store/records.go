package store

import (
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

// Meta belongs to a store as a whole.
type Meta struct {
	// Generation is when the store was created or restored, in milliseconds
	// since 1970. A plain restart keeps it.
	Generation int64
	// Secret keys the fingerprints of effects.
	Secret []byte
}

// Identity is the signing key of an agent, made at its first start.
type Identity struct {
	Owner string
	// Seed is an Ed25519 seed (RFC 8032).
	Seed []byte
}

// Key names an exchange: one row of a conversation as its owner sees it.
type Key struct {
	Owner        string
	Conversation string
	Peer         string
}

// Exchange is the stored state of an exchange.
type Exchange struct {
	Key
	// Version counts the steps taken, 0 before the first.
	Version int64
	State   protocol.Exchange
	// Correlation ties the conversations of one business exchange together.
	Correlation string
	// Parent is the exchange whose work started this one, zero if none. Its
	// owner is this exchange's owner.
	Parent Key
	// Final is the message id of the act or receipt that ended the exchange,
	// "" while it is live or if a timer ended it.
	Final string
	// Task is what the carrier calls the exchange when one side reads there what
	// the other commits; "" where acts are sent. A question about an exchange has
	// that one's.
	Task string
	// Mailbox: the peer reads the owner's acts under Task; they have no outbox
	// rows.
	Mailbox bool
	// OpenedAt is when the first step was taken, EndedAt when the one that ended
	// the exchange.
	OpenedAt time.Time
	EndedAt  time.Time
	// MovedAt is when the last step was taken, by the host's clock even for a
	// timer that fired late. The host sets it; that of an exchange of a store from
	// before it was kept is when the exchange ended or, if it is live, was opened.
	MovedAt time.Time
}

// ConversationState sums up the exchanges of a conversation.
type ConversationState string

// The states of a conversation.
const (
	// Live: at least one exchange has not ended.
	Live ConversationState = "live"
	// Over: every exchange has ended.
	Over ConversationState = "ended"
)

// Conversation sums up an owner's exchanges of one conversation.
type Conversation struct {
	Owner string
	ID    string
	// Protocol is that of its exchanges: a conversation is one protocol's.
	Protocol string
	// Peers are those of the exchanges, in order of URI.
	Peers []string
	State ConversationState
	// OpenedAt is when the first exchange was opened.
	OpenedAt time.Time
	// EndedAt is when the last one ended, zero while one is live.
	EndedAt time.Time
	// Messages counts the log entries that have a message id.
	Messages int
}

// EntryKind says what a log entry records.
type EntryKind string

// The kinds of log entries.
const (
	// Sent: an act or a receipt that moved the exchange, of the owner.
	Sent EntryKind = "sent"
	// Received: an accepted act or moving receipt of the peer.
	Received EntryKind = "received"
	// Rejected: an authentic act that was refused or came too late. It moves
	// the sequence cursor and nothing else.
	Rejected EntryKind = "rejected"
	// Fired: a timer.
	Fired EntryKind = "fired"
	// Absent: the peer, who asked, was told that the opening act of its exchange
	// had never come here; from then on it is refused. The entry has no message;
	// its note is a protocol.Absence.
	Absent EntryKind = "absent"
	// Bound: what the initiator of a multi-party conversation fixed before its
	// first message. The entry belongs to no exchange; its note is a
	// protocol.Binding.
	Bound EntryKind = "bound"
	// Reduced: what a gather came to, when it was fenced. The entry belongs to
	// no exchange; its note is a protocol.Reduction.
	Reduced EntryKind = "reduced"
	// Concluded: the last exchange that the owner initiated in the conversation
	// has ended. The entry is the local fence of a conversation that sends
	// none; its note is a protocol.Closing.
	Concluded EntryKind = "concluded"
	// Noted: what a peer that speaks another protocol said about its exchange
	// while nothing was asked. It moves nothing. The entry has a MessageID and no
	// Envelope; its note is the carrier's.
	Noted EntryKind = "noted"
)

// Entry is one record of a conversation's log. What its slices hold is never
// changed, neither by who has read it nor by who has written it: an engine may keep
// them and give them to others.
type Entry struct {
	Owner        string
	Conversation string
	// Index is the position in the owner's log of the conversation, from 1.
	Index int64
	Peer  string
	Kind  EntryKind
	At    time.Time
	// Event is the event in the notation of the tables, From and To the
	// states around it; they are equal when nothing moved.
	Event protocol.Event
	From  protocol.State
	To    protocol.State
	// MessageID, Digest and Envelope are of the message, empty for a timer.
	// The envelope is canonical and carries no auth; what was noted has none.
	MessageID string
	Digest    envelope.Digest
	Envelope  []byte
	// Reason is why a message was rejected.
	Reason string
	// Note is what an entry without an envelope says, canonical JSON.
	Note []byte
	// Hash chains the entries of one log: sha256 over the previous entry's
	// hash and this entry.
	Hash [32]byte
}

// InboxKey names a received message. Senders never share keys.
type InboxKey struct {
	Recipient string
	Sender    string
	MessageID string
}

// InboxStatus is how far a received message has come.
type InboxStatus string

// The statuses of an inbox row.
const (
	InProgress InboxStatus = "in-progress"
	Settled    InboxStatus = "settled"
)

// Inbox is the record that a message was accepted.
type Inbox struct {
	InboxKey
	Digest       envelope.Digest
	Conversation string
	Seq          int64
	Status       InboxStatus
	// Attempt is the fencing token: it rises each time the work is taken over.
	Attempt int64
	// LeaseUntil is how long whoever works on it holds it, unless the lease is
	// renewed; zero while nobody does. FirstUntil is LeaseUntil as it was when the
	// lease was taken, which the engine fills: how far the two are apart says for
	// how long it was held.
	LeaseUntil, FirstUntil time.Time
	// Runs counts the lives of hosts that ended while they held the lease, one
	// after the other: see Store.TakeOver.
	Runs       int64
	AcceptedAt time.Time
	// ExpiresAt is when the row may be forgotten; zero keeps it as long as its
	// conversation.
	ExpiresAt time.Time
}

// Steady is how long a lease is held by work that does not end its host: if a
// host ends after that, the work has survived before, and is counted anew.
const Steady = time.Hour

// Ended is the row after the life of a host has ended that may have held its
// lease: a lease that was not given back counts as a run. Engines take over
// rows by this rule.
func (i Inbox) Ended() Inbox {
	switch {
	case i.LeaseUntil.IsZero():
	case i.LeaseUntil.Sub(i.FirstUntil) > Steady:
		i.Runs = 1
	default:
		i.Runs++
	}
	i.Attempt++
	i.LeaseUntil, i.FirstUntil = time.Time{}, time.Time{}
	return i
}

// Leased is the row with a lease until then, zero giving it back.
func (i Inbox) Leased(until time.Time) Inbox {
	if i.LeaseUntil.IsZero() || until.IsZero() {
		i.FirstUntil = until
	}
	i.LeaseUntil = until
	return i
}

// Lease takes or renews the lease on an inbox row, or gives it back.
type Lease struct {
	InboxKey
	Fence int64
	// Until is when it ends unless it is renewed; zero gives it back.
	Until time.Time
}

// Settlement ends the work on an inbox row.
type Settlement struct {
	InboxKey
	Fence int64
}

// OutboxStatus is how far an outgoing message has come.
type OutboxStatus string

// The statuses of an outbox row.
const (
	// Pending: to be sent, or sent again.
	Pending OutboxStatus = "pending"
	// Delivered: the receiver has it.
	Delivered OutboxStatus = "delivered"
	// Returned: the receiver refused it for good.
	Returned OutboxStatus = "returned"
	// Dropped: a cancel overtook it before it was ever sent.
	Dropped OutboxStatus = "dropped"
	// Dead: its time ran out.
	Dead OutboxStatus = "dead"
)

// Outbox is an outgoing message. Its bytes are in the log.
type Outbox struct {
	Owner        string
	MessageID    string
	Conversation string
	Receiver     string
	Status       OutboxStatus
	// Attempt counts the sends so far.
	Attempt int
	// NextAt is when it may be sent, ExpiresAt when it no longer helps.
	NextAt    time.Time
	ExpiresAt time.Time
	// Overtakes says that it need not wait for earlier rows.
	Overtakes bool
	LastError string
	// Priority is low, normal or high; "" is normal.
	Priority string
	// MaxAttempts is how often it may be sent, 0 if only ExpiresAt bounds that.
	MaxAttempts int
	// Backoff is the first wait before it is sent again, in whole milliseconds;
	// 0 is the host's own.
	Backoff time.Duration
	// Jitter says how waits are spread, in the words of the envelope.
	Jitter string
}

// Key is the exchange that the row belongs to.
func (o Outbox) Key() Key {
	return Key{Owner: o.Owner, Conversation: o.Conversation, Peer: o.Receiver}
}

// Delivery is what became of an outbox row.
type Delivery struct {
	Owner     string
	MessageID string
	Status    OutboxStatus
	Attempt   int
	NextAt    time.Time
	LastError string
}

// Redrive gives a pending outbox row another time, as when an operator wants
// it sent now. Its attempts still count.
type Redrive struct {
	Owner     string
	MessageID string
	// NextAt is when it may be sent. The rows before it in its line still leave
	// first.
	NextAt time.Time
	// ExpiresAt is when it no longer helps; zero leaves that as it is.
	ExpiresAt time.Time
}

// EffectKey names an effect.
type EffectKey struct {
	Recipient  string
	Sender     string
	Capability string
	Key        string
}

// EffectStatus is how far an effect has come.
type EffectStatus string

// The statuses of an effect.
const (
	// Begun: an exchange works on it.
	Begun EffectStatus = "begun"
	// Ended: that exchange has ended; its outcome is the effect's.
	Ended EffectStatus = "ended"
)

// Effect is the ledger's record that an effect was asked for.
type Effect struct {
	EffectKey
	// Fingerprint tells whether another message asks for the same thing: an
	// HMAC over its canonical content under the store's secret.
	Fingerprint []byte
	// Conversation is where the effect was had.
	Conversation string
	Status       EffectStatus
	At           time.Time
	ExpiresAt    time.Time
}

// TurnKind says what a turn record holds.
type TurnKind string

// The kinds of turn records.
const (
	// Reply: a model's reply.
	Reply TurnKind = "reply"
	// Mended: the calls of the last reply as they stand after repair.
	Mended TurnKind = "mended"
	// Called: a call is about to be made; without a Result it may have
	// happened or not.
	Called TurnKind = "called"
	// Result: what a call returned.
	Result TurnKind = "result"
)

// Turn is one recorded event of the work on an exchange.
type Turn struct {
	Key
	// Ordinal is its place, from 1.
	Ordinal int
	Kind    TurnKind
	// Name is what the record is about, such as a call's id.
	Name string
	Data []byte
	At   time.Time
}
