package envelope

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// DerivedID is a UUIDv8 (RFC 9562 section 5.8) that follows from its parts alone:
// whoever derives it again gets the same one. No part may hold a zero byte.
func DerivedID(parts ...string) string {
	var room [512]byte
	whole := room[:0]
	for i, part := range parts {
		if i > 0 {
			whole = append(whole, 0)
		}
		whole = append(whole, part...)
	}
	sum := sha256.Sum256(whole)
	u := uuid.UUID(sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}
