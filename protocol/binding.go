package protocol

import "time"

// Binding is what the initiator of a multi-party conversation fixes before its
// first message. It cannot change afterwards: another membership is another
// conversation.
type Binding struct {
	Protocol   string `json:"protocol"`
	Capability string `json:"capability"`
	// Members are the URIs of the participants, in byte order.
	Members []string `json:"members"`
	// Group is the id of the group that the copies of the opening act form.
	Group string `json:"group"`
	// Deadline is when the members must have answered.
	Deadline time.Time `json:"deadline"`
	// Awards and Rounds are those of a contract net.
	Awards int `json:"awards,omitempty"`
	Rounds int `json:"rounds,omitempty"`
	// Gather is set in a gather.
	Gather *Gather `json:"gather,omitempty"`
}

// Reduction is what a gather came to: its result, the terminal that its fence
// proposes, and whose receipts of the fence are needed.
type Reduction struct {
	Result
	Proposed Terminal `json:"proposed"`
	Answered []string `json:"answered"`
}

// Closing is how a conversation ended.
type Closing struct {
	Terminal Terminal `json:"terminal"`
}
