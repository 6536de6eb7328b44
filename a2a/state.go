package a2a

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// taskID names the exchange that a participant has in a conversation: the
// lower-case base32, without padding, of the first 20 bytes of sha256 over the
// conversation's id, a zero byte and the participant's URI. If the id is a UUIDv7,
// its time takes the place of the first six bytes: names that are made at about the
// same time are near each other in an index.
func taskID(conversation, participant string) string {
	var room [128]byte
	sum := sha256.Sum256(append(append(append(room[:0], conversation...), 0), participant...))
	if time, ok := born(conversation); ok {
		copy(sum[:], time[:])
	}
	var id [32]byte
	taskEncoding.Encode(id[:], sum[:20])
	return string(id[:])
}

const taskLetters = "abcdefghijklmnopqrstuvwxyz234567"

var taskEncoding = base32.NewEncoding(taskLetters).WithPadding(base32.NoPadding)

// born is the time in an id, as the first six bytes of a UUIDv7 (RFC 9562 section
// 5.7); no other id has one.
func born(id string) (time [6]byte, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[14] != '7' {
		return time, false
	}
	_, err := hex.Decode(time[:], []byte(id[:8]+id[9:13]))
	return time, err == nil
}

// isTaskID reports whether the text has the form of what taskID returns.
func isTaskID(s string) bool {
	return len(s) == 32 && strings.Trim(s, taskLetters) == ""
}

// taskState is where the task of a participant's exchange stands; asked says
// that a question about it is open. It is "" for a state that no protocol has.
func taskState(protocolName string, s protocol.State, asked bool) wire.TaskState {
	if s.Done() {
		return ended(protocolName, s.Outcome())
	}
	if asked {
		return wire.InputRequired
	}
	switch s {
	case protocol.Start, "received", "called", "asked", "considering":
		return wire.Submitted
	case "agreed", "awarded", "active", "cancelling", "failing", "overdue", "lateaward", "stopping", "ackit":
		return wire.Working
	case "proposed", "lapsed", // it waits for the award
		"given", "stopped": // it waits for the fence
		return wire.InputRequired
	}
	return ""
}

// ended is the state of a task whose exchange has that outcome. What only an
// initiator can come to is a failure for whoever looks at the task.
func ended(protocolName string, o protocol.Outcome) wire.TaskState {
	switch o {
	case protocol.OK, protocol.Accepted, protocol.Ended, protocol.Closed:
		return wire.Completed
	case protocol.Failed, protocol.Orphaned, protocol.Blocked, protocol.TimedOut, protocol.Unknown:
		return wire.Failed
	case protocol.Refused, protocol.Expired:
		return wire.Rejected
	case protocol.Rejected:
		if protocolName == protocol.ProposeV1 {
			return wire.Rejected // the offer of whoever opened the task
		}
		return wire.Canceled // the bid of the agent
	case protocol.Cancelled, protocol.Withdrawn:
		return wire.Canceled
	}
	return ""
}

// stateOf is where the task of an exchange stands, with the questions about it.
func stateOf(x store.Exchange, asked []store.Exchange) wire.TaskState {
	return taskState(x.State.Protocol, x.State.State, slices.ContainsFunc(asked, func(q store.Exchange) bool { return waits(q.State.State) }))
}

// waits reports whether a question waits for its answer: it was asked, and
// neither answered nor withdrawn.
func waits(s protocol.State) bool { return s == "requested" || s == "agreed" }
