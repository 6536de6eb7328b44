package transcript_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// without is a log from which an entry was taken, made to look whole again.
func without(log []store.Entry, i int) []store.Entry {
	left := slices.Delete(slices.Clone(log), i, i+1)
	var head [32]byte
	for i := range left {
		left[i].Index = int64(i + 1)
		left[i].Hash = store.Link(head, left[i])
		head = left[i].Hash
	}
	return left
}

func TestAMissingNumberThatNothingExplainsIsNotExported(t *testing.T) {
	w := played(t, "subscribe")
	log, rows := w.sides[planner].log, w.rowsOf(planner)
	item := slices.IndexFunc(log, func(e store.Entry) bool { return e.Event == "?inform~" })
	cut := without(log, item)
	rows[0].State.Messages-- // whoever takes an entry can do that too
	if _, err := transcript.Replay(cut, rows); err != nil {
		t.Fatalf("the log does not replay: %v", err)
	}
	_, err := transcript.Export(cut, rows)
	hole, is := errors.AsType[*transcript.HoleError](err)
	if !is || *hole != (transcript.HoleError{Sender: flights, Receiver: planner, Seq: 2}) || !strings.Contains(err.Error(), "message 2 of "+flights) {
		t.Errorf("%v", err)
	}
}

func TestWhatARejectionOrACancelExplainsIsNoHole(t *testing.T) {
	for _, name := range []string{"query-rejected-item", "contract-net-withdrawn"} {
		w := played(t, name)
		trace, numbers, count := exported(t, w), 0, 0
		for _, e := range w.sides[planner].log {
			if e.Peer == flights && e.Kind == store.Received {
				numbers++
			}
		}
		for _, m := range exportedBy(trace, flights) {
			if count++; m.SenderSequence != int64(count) {
				t.Errorf("%s: message %s has number %d, want %d", name, m.MessageID, m.SenderSequence, count)
			}
		}
		if count == 0 || count != numbers {
			t.Errorf("%s: %d of %d accepted messages are exported", name, count, numbers)
		}
	}
}

func exportedBy(trace transcript.Trace, sender string) (list []transcript.Message) {
	for _, m := range trace.Messages {
		if m.SenderPrincipalRef == sender {
			list = append(list, m)
		}
	}
	return list
}

func TestCopiesOfAGroupAreOneMessageToAllAndEveryReferenceNamesIt(t *testing.T) {
	w := played(t, "gather")
	trace := exported(t, w)
	log := w.sides[planner].log
	for _, e := range log {
		if e.Kind == store.Sent && slices.ContainsFunc(trace.Messages, func(m transcript.Message) bool { return m.MessageID == e.MessageID }) {
			t.Errorf("the copy %s is exported by itself", e.MessageID)
		}
	}
	opening, fence := trace.Messages[0], *trace.Terminal.FenceMessageID
	if !slices.Equal(opening.Audience, []string{flights, inn}) || opening.MessageID != w.binding.Group {
		t.Errorf("the opening act is %+v", opening)
	}
	for _, m := range trace.Messages {
		want := map[transcript.Kind]string{transcript.Contribution: opening.MessageID, transcript.Ack: fence}[m.Kind]
		if want != "" && (m.CausationID == nil || *m.CausationID != want) {
			t.Errorf("%s is caused by %v, want %s", m.Kind, m.CausationID, want)
		}
	}
}

func TestAGatherOfOneIsARequestAContributionAFenceAndAnAck(t *testing.T) {
	trace := exported(t, played(t, "gather-one"))
	var kinds []transcript.Kind
	for i, m := range trace.Messages {
		kinds = append(kinds, m.Kind)
		if i > 0 && (m.CausationID == nil || *m.CausationID != trace.Messages[i-1].MessageID) {
			t.Errorf("message %d is not caused by the one before it", i+1)
		}
	}
	if want := []transcript.Kind{transcript.Request, transcript.Contribution, transcript.TerminalFence, transcript.Ack}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestAnInitiatorWhoseGenerationChangedHasNoTrace(t *testing.T) {
	s := scenarios()["request-cancelled"]
	w := newWorld(t, 7, s.protocol, s.members...)
	w.start()
	w.pass(planner, flights, 1)
	w.tell(flights, planner, "agree")
	w.restored = 100 // its store was restored meanwhile
	w.tell(planner, flights, "cancel")
	w.restored = 0
	w.tell(flights, planner, "inform.c")
	_, err := transcript.Export(w.sides[planner].log, w.rowsOf(planner))
	invalid, is := errors.AsType[*transcript.InvalidError](err)
	if !is || !strings.Contains(err.Error(), "E_STALE_GENERATION at $.messages[") || !slices.ContainsFunc(invalid.Faults, func(f transcript.Fault) bool { return f.Code == transcript.CodeStaleGeneration }) {
		t.Errorf("%v", err)
	}
}
