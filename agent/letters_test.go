package agent

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

func letterOf(t *testing.T, text string) *envelope.Envelope {
	t.Helper()
	const id = "019535d9-3df7-79fb-b466-000000000001"
	e, err := envelope.Seal(envelope.Header{
		Receipt: envelope.Ack, Sender: "agent://local/flights", SenderGeneration: 1, Receiver: "agent://local/planner",
		MessageID: id, ConversationID: id, InReplyTo: id, CorrelationID: text, Timestamp: time.Unix(1, 0),
		Labels: envelope.Labels{Integrity: envelope.Peer},
		Trace:  envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAMessageIsReadOnceAndOnlyFromItsOwnBytes(t *testing.T) {
	h := NewHost(Config{})
	e := letterOf(t, "trip")
	entry := store.Entry{Digest: e.Digest(), Envelope: e.Bytes()}
	first, err := h.Envelope(entry)
	if err != nil {
		t.Fatal(err)
	}
	entry.Envelope = bytes.Clone(entry.Envelope)
	if again, err := h.Envelope(entry); err != nil || again != first {
		t.Errorf("read anew: %v, %v", again, err)
	}
	// The same message of another attempt has the same digest, and other bytes.
	second := e.Resend(2, "")
	entry.Envelope = second.Bytes()
	if other, err := h.Envelope(entry); err != nil || other.Attempt() != 2 {
		t.Errorf("the second attempt reads %v, %v", other, err)
	}
	// What the log's bytes have become counts, whatever they once were.
	entry.Envelope[10] = '!'
	if found, err := h.Envelope(entry); err == nil {
		t.Errorf("spoilt bytes read %v", found)
	}
}

func TestWhatALetterWasReadFromMayChange(t *testing.T) {
	h := NewHost(Config{})
	e := letterOf(t, "trip")
	raw := e.Bytes()
	if _, err := h.Envelope(store.Entry{Digest: e.Digest(), Envelope: raw}); err != nil {
		t.Fatal(err)
	}
	raw[10] = '!'
	if found := h.letters.get(e.Digest(), raw); found != nil {
		t.Errorf("spoilt bytes are taken for %v", found)
	}
}

func TestLettersAreBounded(t *testing.T) {
	var l letters
	for n := range 5000 {
		e := letterOf(t, fmt.Sprint("trip-", n))
		l.keep(e.Bytes(), e)
	}
	size := len(letterOf(t, "trip-4999").Bytes())
	if most := 2 * (lettersBytes/(3*size) + 2); len(l.young)+len(l.old) > most {
		t.Errorf("%d messages of %d bytes are remembered, more than %d", len(l.young)+len(l.old), size, most)
	}
}
