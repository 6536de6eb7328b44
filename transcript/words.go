package transcript

import "slices"

// Version is the schemaVersion of every trace.
const Version = "2.0.0"

// None is the only effect on truth and on authority that a conversation may claim.
const None = "NONE"

// Kind says what a message is.
type Kind string

// The kinds of messages.
const (
	Request       Kind = "REQUEST"
	Response      Kind = "RESPONSE"
	Contribution  Kind = "CONTRIBUTION"
	Dissent       Kind = "DISSENT"
	GatherResult  Kind = "GATHER_RESULT"
	CancelRequest Kind = "CANCEL_REQUEST"
	TerminalFence Kind = "TERMINAL_FENCE"
	Ack           Kind = "ACK"
)

// State says how a conversation ended.
type State string

// The states of a terminal.
const (
	Completed       State = "COMPLETED"
	Blocked         State = "BLOCKED"
	TimedOut        State = "TIMED_OUT"
	Cancelled       State = "CANCELLED"
	DissentRecorded State = "DISSENT_RECORDED"
)

// Policy says when a gather has what it needs.
type Policy string

// The policies of gathers.
const (
	All          Policy = "ALL"           // a contribution of every member
	Quorum       Policy = "QUORUM"        // of as many as the quorum says
	FirstSuccess Policy = "FIRST_SUCCESS" // of one
)

// Reducer says how the contributions of a gather become its result.
type Reducer string

// The reducers of gathers.
const (
	OrderedList           Reducer = "ORDERED_LIST"
	PreserveDissent       Reducer = "PRESERVE_DISSENT"
	FirstByCanonicalOrder Reducer = "FIRST_BY_CANONICAL_ORDER" // the only one for FirstSuccess
)

// among tells whether a value is one of the words.
func among[T ~string](value any, words ...T) bool {
	s, ok := value.(string)
	return ok && slices.Contains(words, T(s))
}
