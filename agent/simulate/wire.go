package simulate

import (
	"fmt"

	"github.com/parley-agents/parley/envelope"
)

// wire has seen every message of a world and holds the senders to what they
// said before.
type wire struct {
	byID, byPlace map[string]envelope.Digest
}

func newWire() wire {
	return wire{byID: map[string]envelope.Digest{}, byPlace: map[string]envelope.Digest{}}
}

// sent sees a message that a host sends, and returns it read, nil if it cannot
// be.
func (s wire) sent(w *World, data []byte) *envelope.Envelope {
	w.tally.Messages++
	e, err := envelope.Decode(data)
	if err != nil {
		w.violate("P2", "a host sent what is no envelope: %v", err)
		return nil
	}
	if e.ReceiptKind() != "" {
		w.violate("P11", "%s sent a %s as a message of its own", e.Sender(), e.ReceiptKind())
	}
	s.same(w, e)
	return e
}

// answered sees what came back with a message.
func (s wire) answered(w *World, of *envelope.Envelope, replies [][]byte) {
	if of != nil && of.ReceiptKind() != "" && len(replies) > 0 {
		w.violate("P11", "%s answered a receipt", of.Receiver())
	}
	for _, r := range replies {
		e, err := envelope.Decode(r)
		if err != nil {
			w.violate("P7", "an answer is no envelope: %v", err)
			continue
		}
		if e.ReceiptKind() == "" {
			s.same(w, e)
		}
	}
}

// same holds a message to its other copies: one id and one place in the
// sequence have one digest, however often it is sent or answered.
func (s wire) same(w *World, e *envelope.Envelope) {
	place := fmt.Sprintf("%s %s %s %d %d", e.Sender(), e.Receiver(), e.Conversation(), e.Header().SenderGeneration, e.Seq())
	s.once(w, s.byID, e.Sender()+" "+e.ID(), e)
	s.once(w, s.byPlace, place, e)
}

func (s wire) once(w *World, seen map[string]envelope.Digest, key string, e *envelope.Envelope) {
	if before, ok := seen[key]; ok && before != e.Digest() {
		w.violate("P7", "%s said two things as %s", e.Sender(), key)
	}
	seen[key] = e.Digest()
}
