package envelope

import (
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"
)

// DerivedID is a UUIDv8 (RFC 9562 section 5.8) that follows from its parts alone:
// whoever derives it again gets the same one. No part may hold a zero byte.
func DerivedID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	u := uuid.UUID(sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}
