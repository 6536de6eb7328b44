package protocol

import (
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// The windows that belong to the rules rather than to one contract.
const (
	// AgreeAfter is how long a handler may run before the peer learns that
	// work has started.
	AgreeAfter = 100 * time.Millisecond
	// CancelWindow is how long a cancelled participant may take to stop, and
	// how long the initiator waits for the answer to its cancel.
	CancelWindow = 5 * time.Second
)

// Exchange is the state of one initiator–participant row of a conversation as
// its owner sees it. It is a plain value: Advance returns a new one and leaves
// its argument alone. Whatever is not in it does not influence what happens
// next.
type Exchange struct {
	Protocol     string `json:"protocol"`
	Conversation string `json:"conversation"`
	Owner        string `json:"owner"`
	Peer         string `json:"peer"`
	Role         Role   `json:"role"`
	State        State  `json:"state"`
	Capability   string `json:"capability,omitempty"`

	// Opening is the message id of the opening act, Cancel that of a cancel.
	Opening string `json:"opening,omitempty"`
	Cancel  string `json:"cancel,omitempty"`
	// Asked are the ids of the owner's acts that the peer may answer.
	Asked []string `json:"asked,omitempty"`
	// Trigger is the peer's act that the owner's next act answers.
	Trigger string `json:"trigger,omitempty"`

	ReplyBy  time.Time `json:"reply_by,omitzero"`
	AgreeBy  time.Time `json:"agree_by,omitzero"`
	CancelBy time.Time `json:"cancel_by,omitzero"`

	// Sent and Received are the last sequence numbers used and consumed.
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	// Closed says that the peer's cancel closed its sequence: what was still
	// missing is no hole.
	Closed bool `json:"closed,omitempty"`
	// PeerGeneration is the generation bound at the peer's first accepted
	// message, 0 before that.
	PeerGeneration int64 `json:"peer_generation,omitempty"`
	// Messages counts what was sent and accepted.
	Messages int `json:"messages"`

	// Misread says that the opening act was answered with not-understood.
	Misread bool `json:"misread,omitempty"`
	// Error is why the exchange ended, when it did not end ok.
	Error *envelope.Error `json:"error,omitempty"`
}

// Open is a fresh exchange of the owner with the peer.
func Open(protocol, conversation, owner, peer string, role Role) Exchange {
	return Exchange{Protocol: protocol, Conversation: conversation, Owner: owner, Peer: peer, Role: role, State: Start}
}

// Done reports whether the exchange has ended.
func (x Exchange) Done() bool { return x.State.Done() }

// Outcome is how the exchange ended, "" while it is live.
func (x Exchange) Outcome() Outcome { return x.State.Outcome() }

// Answerable reports whether the peer may answer the owner's act with that
// message id.
func (x Exchange) Answerable(id string) bool { return slices.Contains(x.Asked, id) }

// Timers are the timers that run in the exchange's present state, by when
// each is due. They follow from the exchange alone, so a store that writes
// them beside it can never hold one that belongs to a state left behind.
func (x Exchange) Timers() map[Timer]time.Time {
	p, err := Lookup(x.Protocol)
	if err != nil || x.Done() {
		return nil
	}
	table := p.Table(x.Role)
	due := map[Timer]time.Time{}
	_, acts := table.Next(x.State, TimerReplyBy.Firing())
	if x.Role == Initiator {
		_, acts = table.Next(x.State, "!cancel")
	}
	if acts && !x.ReplyBy.IsZero() {
		due[TimerReplyBy] = x.ReplyBy
	}
	if _, ok := table.Next(x.State, "!agree"); ok && x.Role == Participant && p.runtimeAgrees && !x.AgreeBy.IsZero() {
		due[TimerAgree] = x.AgreeBy
	}
	if !x.CancelBy.IsZero() && x.State == cancelling {
		due[TimerCancelBy] = x.CancelBy
	}
	return due
}

const cancelling State = "cancelling"

// clone is a copy whose slices Advance may append to.
func (x Exchange) clone() Exchange {
	x.Asked = slices.Clone(x.Asked)
	return x
}
