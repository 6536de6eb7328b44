package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Why a log has no trace. Test with errors.Is.
var (
	// ErrPartialView: it is a participant's log, which shows one exchange of what may have been many.
	ErrPartialView = errors.New("a participant's log is a partial view")
	// ErrLive: the conversation has not ended, or its end was not recorded.
	ErrLive = errors.New("the conversation has not ended")
)

// HoleError says that a number of a sender is missing from the log, and that neither a rejected message nor a cancel that
// overtook it says why.
type HoleError struct {
	Sender, Receiver string
	Seq              int64 // the first one that is missing
}

func (e *HoleError) Error() string {
	return fmt.Sprintf("message %d of %s to %s is not in the log", e.Seq, e.Sender, e.Receiver)
}

// InvalidError says that the log agrees with itself but that its trace would break the rules of traces, such as when an
// agent's generation changed in the middle of the conversation.
type InvalidError struct{ Faults []Fault }

func (e *InvalidError) Error() string {
	text := "the trace would not be valid"
	for _, f := range e.Faults {
		text += fmt.Sprintf(", %s at %s", f.Code, f.Path)
	}
	return text
}

// The words and bounds that a trace has and a log has not.
const (
	roleInitiator   = "INITIATOR"
	roleParticipant = "PARTICIPANT"
	maxMessages     = 1000 // of a conversation, unless it has more
	ackPayload      = "parley.ack/v1"
)

// Export writes the trace of an ended conversation from its initiator's log. The log must be whole and in order, and the
// exchanges all of the initiator's in that conversation. It replays the log first, and judges the trace last: what it
// returns is valid. What a stranger opened under the conversation's id is no part of the trace, but of the state whose
// digest the terminal has.
//
// A participant's log gives ErrPartialView, a conversation that has not ended ErrLive, nothing at all ErrNothing. A log that
// differs from its own fold or from the rows gives a *Divergence, one with a number missing a *HoleError, and one whose
// trace would break a rule an *InvalidError. It is pure: one log has one trace.
func Export(log []store.Entry, exchanges []store.Exchange) (Trace, error) {
	replayed, err := Replay(log, exchanges)
	if err != nil {
		return Trace{}, err
	}
	own := slices.DeleteFunc(slices.Clone(exchanges), func(x store.Exchange) bool { return x.State.Role != protocol.Initiator })
	if len(own) == 0 {
		return Trace{}, fmt.Errorf("conversation %s at %s: %w", replayed.Conversation, replayed.Owner, ErrPartialView)
	}
	for _, x := range own {
		if !x.State.Done() || replayed.Terminal == "" {
			return Trace{}, fmt.Errorf("conversation %s at %s: %w", x.Conversation, x.Owner, ErrLive)
		}
	}
	e := newExporter(log, exchanges, own)
	for _, entry := range log {
		if err := e.enter(entry); err != nil {
			return Trace{}, err
		}
	}
	t := e.finish(replayed)
	data, err := json.Marshal(t)
	if err != nil {
		return Trace{}, fmt.Errorf("conversation %s: %w", t.ConversationID, err)
	}
	if v := Validate(data); !v.Valid {
		return Trace{}, &InvalidError{v.Errors}
	}
	return t, nil
}

// exporter folds a log once more and writes down what counts.
type exporter struct {
	*fold
	rows        []store.Exchange // the owner's
	trace       Trace
	capability  string
	ids         map[string]string // exported id by message id; copies of a group share one
	groups      map[string]int    // place of a group's message
	sequences   map[string]int64
	generations map[string]int64
	trigger     *string // what the entry before led to: an exported message, or none for a timer
	result      *string // the gather's result, if it is exported
	fenceAt     int     // place of the fence
	acked       []string
	lastReplyBy time.Time
}

func newExporter(log []store.Entry, rows, own []store.Exchange) *exporter {
	first := own[0]
	e := &exporter{
		fold: newFold(first.Owner, first.Conversation, rows), rows: own, capability: first.State.Capability, ids: map[string]string{},
		groups: map[string]int{}, sequences: map[string]int64{}, generations: map[string]int64{},
	}
	e.trace = Trace{
		SchemaVersion: Version, ProtocolID: first.State.Protocol, ConversationID: first.Conversation, Epoch: 1, Scope: first.Correlation,
		TruthEffect: None, AuthorityEffect: None,
	}
	for _, entry := range log {
		if !e.foreign(entry.Peer) {
			e.trace.ObservedAt = At(entry.At)
		}
	}
	return e
}

// finish adds what is only known at the end.
func (e *exporter) finish(r Replayed) Trace {
	t := &e.trace
	deadline := At(e.lastReplyBy.Add(protocol.CancelWindow + protocol.AckWindow))
	for _, m := range t.Messages {
		if !m.ObservedAt.Before(deadline.Time) { // accepted all the same: clocks differ, and timers can run late
			deadline = At(m.ObservedAt.Add(time.Millisecond))
		}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.ExpiresAt.IsZero() || !m.ObservedAt.Before(m.ExpiresAt.Time) {
			m.ExpiresAt = deadline
		}
	}
	t.Limits = Limits{MaxMessages: max(maxMessages, int64(len(t.Messages))), DeadlineAt: deadline}
	t.Participants = List[Participant]{e.participant(e.owner, roleInitiator)}
	for _, row := range e.rows {
		t.Participants = append(t.Participants, e.participant(row.Peer, roleParticipant))
	}
	slices.SortFunc(t.Participants[1:], func(a, b Participant) int { return strings.Compare(a.PrincipalRef, b.PrincipalRef) })
	t.Terminal = e.closing(r)
	return *t
}

func (e *exporter) participant(ref, role string) Participant {
	return Participant{PrincipalRef: ref, BodyGeneration: max(1, e.generations[ref]), Role: role, Audiences: List[string]{e.capability}}
}
