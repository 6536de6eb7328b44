package agent

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// lettersBytes is about how many bytes of envelopes are remembered at least, and
// half of how many at most.
const lettersBytes = 1 << 20

// letters remembers what was read in the bytes of the log lately, of messages that
// are at work. An envelope never changes, and one is found only for the very bytes
// that it has, so there is nothing here that could be out of date.
type letters struct {
	mu         sync.Mutex
	young, old map[envelope.Digest]letter
	bytes      int // of the young
}

type letter struct {
	raw  []byte
	read *envelope.Envelope
}

// keep remembers what the bytes of a message say.
func (l *letters) keep(raw []byte, e *envelope.Envelope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(letter{raw, e})
}

func (l *letters) put(one letter) {
	if l.young == nil || l.bytes >= lettersBytes {
		l.young, l.old, l.bytes = make(map[envelope.Digest]letter), l.young, 0
	}
	k := one.read.Digest()
	l.bytes += 3 * (len(one.raw) - len(l.young[k].raw)) // the text is there as well, and the header
	l.young[k] = one
}

// get returns what those bytes say, nil if that is not known.
func (l *letters) get(digest envelope.Digest, raw []byte) *envelope.Envelope {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.young[digest]
	if !ok {
		if one, ok = l.old[digest]; ok {
			l.put(one)
		}
	}
	if !ok || !bytes.Equal(one.raw, raw) {
		return nil
	}
	return one.read
}

// forget frees what is remembered: a timer may hold on to a host for long after it
// has ended.
func (l *letters) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.young, l.old, l.bytes = nil, nil, 0
}

// closeStore ends what the host keeps.
func (h *Host) closeStore() error {
	h.letters.forget()
	return h.store.Close()
}

// Envelope reads the message of a log entry.
func (h *Host) Envelope(entry store.Entry) (*envelope.Envelope, error) {
	if e := h.letters.get(entry.Digest, entry.Envelope); e != nil {
		return e, nil
	}
	e, err := envelope.Decode(entry.Envelope)
	if err != nil {
		return nil, fmt.Errorf("message %s in the log of %s: %w", entry.MessageID, entry.Owner, err)
	}
	h.letters.keep(bytes.Clone(entry.Envelope), e)
	return e, nil
}
