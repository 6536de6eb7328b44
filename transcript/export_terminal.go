package transcript

import (
	"slices"

	"github.com/parley-agents/parley/protocol"
)

// closing is the terminal of the trace.
func (e *exporter) closing(r Replayed) Terminal {
	t := Terminal{
		State: State(r.Terminal), FenceMessageID: &e.trace.Messages[e.fenceAt].MessageID, StateDigest: "sha256:" + r.Digest.String(),
		UnresolvedParticipants: e.unresolved(r.Terminal),
	}
	if e.reduction == nil {
		return t
	}
	t.RequiredAcknowledgements = e.reduction.Answered
	for _, ref := range e.reduction.Answered {
		if slices.Contains(e.acked, ref) {
			t.ReceivedAcknowledgements = append(t.ReceivedAcknowledgements, ref)
		}
	}
	return t
}

// unresolved are those of whom it is not known what they did, or would have said, as far as it mattered.
func (e *exporter) unresolved(terminal protocol.Terminal) (refs List[string]) {
	for _, row := range e.rows {
		if e.reduction != nil {
			answered := slices.Contains(e.reduction.Answered, row.Peer)
			if needed := e.unmet() && !answered; needed || answered && !slices.Contains(e.acked, row.Peer) {
				refs = append(refs, row.Peer)
			}
			continue
		}
		switch row.State.Outcome() {
		case protocol.Unknown, protocol.TimedOut:
			if terminal != protocol.TerminalCompleted {
				refs = append(refs, row.Peer)
			}
		}
	}
	slices.Sort(refs)
	return refs
}

// unmet tells whether the gather ended without what its policy asks for.
func (e *exporter) unmet() bool {
	return e.reduction.Proposed != protocol.TerminalCompleted && e.reduction.Proposed != protocol.TerminalDissentRecorded
}
