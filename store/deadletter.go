package store

import (
	"time"

	"github.com/parley-agents/parley/envelope"
)

// DeadSource says where a dead letter was given up.
type DeadSource string

// The sources of dead letters.
const (
	// DeadOutbox: it could not be delivered.
	DeadOutbox DeadSource = "outbox"
	// DeadInbox: its work ended the host again and again.
	DeadInbox DeadSource = "inbox"
	// DeadQuarantine: it is authentic but contradicts another one of its
	// sender, which is equivocation.
	DeadQuarantine DeadSource = "quarantine"
)

// DeadKey names a dead letter.
type DeadKey struct {
	Owner  string
	Source DeadSource
	// Peer is the receiver of a message from the outbox, the sender of any
	// other.
	Peer      string
	MessageID string
	// Digest tells quarantined messages of one id apart; it is zero for any
	// other.
	Digest envelope.Digest
}

// DeadLetter is a message that was given up, with what is needed to look into
// it.
type DeadLetter struct {
	DeadKey
	Conversation string
	// Reason is a lower-case word: exhausted, expired, returned, poison or
	// equivocation.
	Reason    string
	LastError string
	// Attempts counts the sends of a message from the outbox, the runs of one
	// from the inbox.
	Attempts int
	// At is when it was given up.
	At time.Time
	// Envelope is canonical and carries no auth.
	Envelope []byte
}
