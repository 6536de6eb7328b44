package store

import (
	"encoding/json"
	"fmt"
)

// Check returns an error if the set contradicts itself: it moves an exchange
// twice, an exchange's parent belongs to another owner, a mailbox has no task
// to be read under, something noted has no message id, no note or an envelope,
// an outbox row has a priority that is none, or an answer has no time. That is
// a mistake of the program, which no second try mends. Engines call it before
// they write.
func (w WriteSet) Check() error {
	moved := make(map[Key]bool, len(w.Exchanges))
	for _, x := range w.Exchanges {
		fault := ""
		switch {
		case moved[x.Key]:
			fault = "the set writes it twice"
		case x.Parent != (Key{}) && x.Parent.Owner != x.Owner:
			fault = "its parent belongs to " + x.Parent.Owner
		case x.Mailbox && x.Task == "":
			fault = "it is a mailbox and has no task"
		}
		if fault != "" {
			return fmt.Errorf("write the exchange of %s with %s in conversation %s: %s", x.Owner, x.Peer, x.Conversation, fault)
		}
		moved[x.Key] = true
	}
	for _, e := range w.Entries {
		if e.Kind == Noted && (e.MessageID == "" || len(e.Envelope) > 0 || !json.Valid(e.Note)) {
			return fmt.Errorf("append to the log of %s in conversation %s: what is noted has a message id and a note in JSON, and no envelope",
				e.Owner, e.Conversation)
		}
	}
	for _, o := range w.Outbox {
		if _, known := RankOf(o.Priority); !known {
			return fmt.Errorf("post message %s of %s: its priority is %q, expected low, normal or high", o.MessageID, o.Owner, o.Priority)
		}
	}
	for _, a := range w.Answers {
		if a.At.IsZero() {
			return fmt.Errorf("answer command %s: the answer has no time", a.ID)
		}
	}
	return nil
}
