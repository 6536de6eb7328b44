package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// Link is the Hash of an entry that follows the one with hash prev: sha256
// over prev and the entry's fields, each behind its length in 8 bytes, big
// endian; numbers are 8 bytes, times milliseconds since 1970.
//
// The envelope counts through its digest, which covers its content through
// another one, so that the chain still verifies after a body is erased.
func Link(prev [32]byte, e Entry) [32]byte {
	h := sha256.New()
	h.Write(prev[:])
	field := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	number := func(n int64) { field(binary.BigEndian.AppendUint64(nil, uint64(n))) }

	field([]byte(e.Owner))
	field([]byte(e.Conversation))
	number(e.Index)
	field([]byte(e.Peer))
	field([]byte(e.Kind))
	number(e.At.UnixMilli())
	field([]byte(e.Event))
	field([]byte(e.From))
	field([]byte(e.To))
	field([]byte(e.MessageID))
	field(e.Digest[:])
	field([]byte(e.Reason))
	if len(e.Note) > 0 { // left out, so that logs from before there were notes verify
		field(e.Note)
	}

	var out [32]byte
	h.Sum(out[:0])
	return out
}
