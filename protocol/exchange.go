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
	// Grace is how long after the deadline of a call or a proposal its answer
	// may still arrive.
	Grace = 5 * time.Second
	// Lease is how long a participant goes on without a sign of life.
	Lease = 30 * time.Second
	// AckWindow is how long a coordinator waits for the receipt of its fence.
	AckWindow = 10 * time.Second
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

	// Call is the message id of the latest cfp after the opening one, and
	// Round counts them all. MaxRounds is how many there may be, 0 meaning one;
	// whoever opens the exchange takes it from the contract.
	Call      string `json:"call,omitempty"`
	Round     int    `json:"round,omitempty"`
	MaxRounds int    `json:"max_rounds,omitempty"`
	// Award is the message id of the award of a contract net.
	Award string `json:"award,omitempty"`
	// Gather is the id of the gather that the exchange is part of, and Fence the
	// message id of the fence that closes it.
	Gather string `json:"gather,omitempty"`
	Fence  string `json:"fence,omitempty"`
	// Lapsed says that the initiator's deadline passed, CancelAsked that it
	// cancelled before that: somebody asked for it, and not the clock.
	Lapsed      bool `json:"lapsed,omitempty"`
	CancelAsked bool `json:"cancel_asked,omitempty"`

	// ReplyBy is the deadline of what is awaited now. In a contract net each
	// cfp, proposal and award brings its own; elsewhere the opening act's
	// stays.
	ReplyBy  time.Time `json:"reply_by,omitzero"`
	AgreeBy  time.Time `json:"agree_by,omitzero"`
	CancelBy time.Time `json:"cancel_by,omitzero"`
	LeaseBy  time.Time `json:"lease_by,omitzero"`
	AckBy    time.Time `json:"ack_by,omitzero"`

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

// Moves lists the acts that the exchange's owner may decide on now: those of
// Protocol.Moves, less a further cfp once the rounds are used up.
func (x Exchange) Moves() []Utterance {
	p, err := Lookup(x.Protocol)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(p.Moves(x.Role, x.State), func(u Utterance) bool { return x.spent(u.sent()) })
}

// May reports whether u is one of Moves.
func (x Exchange) May(u Utterance) bool {
	p, err := Lookup(x.Protocol)
	return err == nil && slices.Contains(p.Table(x.Role).moves[x.State], u) && !x.spent(u.sent())
}

// spent reports whether the event is a cfp for which no round is left.
func (x Exchange) spent(on Event) bool {
	return (on == "!cfp" || on == "?cfp") && x.Round >= max(1, x.MaxRounds)
}

// Renew notes a sign of life of the peer, such as the receipt of an item: it
// extends the lease, if one runs.
func Renew(x Exchange, now time.Time) Exchange {
	if !x.LeaseBy.IsZero() && !x.Done() {
		x.LeaseBy = now.Add(Lease)
	}
	return x
}

// States in which the rules differ from what the table alone says.
const (
	cancelling State = "cancelling"
	stopping   State = "stopping"
	stopped    State = "stopped"
	ackit      State = "ackit"
)

// settling reports whether the owner's next act is already settled: it answers
// the cancel or the fence, whatever else arrives.
func (x Exchange) settling() bool {
	return x.State == cancelling || x.State == stopping || x.State == stopped || x.State == ackit
}

// clone is a copy whose slices Advance may append to: it never writes over what
// is in them.
func (x Exchange) clone() Exchange {
	x.Asked = slices.Clip(x.Asked)
	return x
}
