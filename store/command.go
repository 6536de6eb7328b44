package store

import (
	"fmt"
	"strings"
	"time"
)

// The verbs of commands.
const (
	// VerbCancel: cancel the owner's exchanges of a conversation.
	VerbCancel = "cancel"
	// VerbRetry: send a pending message of the outbox now.
	VerbRetry = "retry"
	// VerbRequeue: try a dead letter again.
	VerbRequeue = "requeue"
	// VerbDrop: forget a dead letter.
	VerbDrop = "drop"
)

// Command is what an operator asks of the host, written by another process.
type Command struct {
	// ID is a UUIDv7 in lower case (RFC 9562).
	ID string
	// Verb is cancel, retry, requeue or drop.
	Verb string
	// Owner is the agent that it is about; its host carries it out.
	Owner string
	// Conversation, Peer, MessageID and Source say what it is about, empty where
	// they do not apply.
	Conversation string
	Peer         string
	MessageID    string
	Source       DeadSource
	// By says who asked.
	By string
	At time.Time
	// DoneAt is when the host carried it out, zero while it waits.
	DoneAt time.Time
	// Answer and Error are what the host made of it.
	Answer string
	Error  string
}

// CommandAnswer is what the host made of a command.
type CommandAnswer struct {
	ID     string
	At     time.Time
	Answer string
	Error  string
}

// CommandError says what is wrong with a command. Nothing was written.
type CommandError struct {
	// Field is the name of the field, such as "Verb".
	Field string
	// Want says what belongs there.
	Want string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("the command's %s is wrong: expected %s", strings.ToLower(e.Field), e.Want)
}

// maxCommandText is how many bytes a text of a command may have.
const maxCommandText = 512

// Check returns a *CommandError if the command is not one that a host could
// carry out: its verb or source is unknown, it names no owner, its id is no
// UUID, a text is longer than 512 bytes, or it has an answer before it was
// asked. Engines call it before they write.
func (c Command) Check() error {
	switch {
	case !isUUID(c.ID):
		return &CommandError{"ID", "a UUID in lower case"}
	case c.Verb != VerbCancel && c.Verb != VerbRetry && c.Verb != VerbRequeue && c.Verb != VerbDrop:
		return &CommandError{"Verb", "cancel, retry, requeue or drop"}
	case c.Source != "" && c.Source != DeadOutbox && c.Source != DeadInbox && c.Source != DeadQuarantine:
		return &CommandError{"Source", "outbox, inbox, quarantine or none"}
	case c.Owner == "":
		return &CommandError{"Owner", "the URI of an agent"}
	case !c.DoneAt.IsZero() || c.Answer != "" || c.Error != "":
		return &CommandError{"Answer", "none before it is carried out"}
	}
	for _, f := range []struct{ name, text string }{
		{"Owner", c.Owner}, {"Conversation", c.Conversation}, {"Peer", c.Peer}, {"MessageID", c.MessageID}, {"By", c.By},
	} {
		if len(f.text) > maxCommandText {
			return &CommandError{f.name, fmt.Sprintf("at most %d bytes", maxCommandText)}
		}
	}
	return nil
}

// isUUID reports whether s has the canonical form of a UUID in lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if hyphen && c != '-' || !hyphen && !hex {
			return false
		}
	}
	return true
}
