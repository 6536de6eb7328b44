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
	b := make([]byte, 0, 1024)
	b = append(b, prev[:]...)
	b = appendText(b, e.Owner)
	b = appendText(b, e.Conversation)
	b = appendNumber(b, e.Index)
	b = appendText(b, e.Peer)
	b = appendText(b, e.Kind)
	b = appendNumber(b, e.At.UnixMilli())
	b = appendText(b, e.Event)
	b = appendText(b, e.From)
	b = appendText(b, e.To)
	b = appendText(b, e.MessageID)
	b = appendText(b, e.Digest[:])
	b = appendText(b, e.Reason)
	if len(e.Note) > 0 { // left out, so that logs from before there were notes verify
		b = appendText(b, e.Note)
	}
	return sha256.Sum256(b)
}

func appendText[T ~string | ~[]byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}

func appendNumber(b []byte, n int64) []byte {
	b = binary.BigEndian.AppendUint64(b, 8)
	return binary.BigEndian.AppendUint64(b, uint64(n))
}
