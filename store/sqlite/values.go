package sqlite

import (
	"fmt"
	"time"
)

// millis is a time as it is stored: milliseconds since 1970, nil for none.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// moment reads a stored time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m = moment{}
	case int64:
		*m = moment(time.UnixMilli(v).UTC())
	default:
		return fmt.Errorf("a time is stored as %T, expected milliseconds", v)
	}
	return nil
}

// sum reads a stored sha256 sum.
type sum [32]byte

// Scan implements sql.Scanner.
func (s *sum) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(s) {
		return fmt.Errorf("a sum is stored as %T of %d bytes, expected %d bytes", v, len(b), len(s))
	}
	copy(s[:], b)
	return nil
}

// milliseconds reads a stored length of time.
type milliseconds time.Duration

// Scan implements sql.Scanner.
func (m *milliseconds) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a length of time is stored as %T, expected milliseconds", v)
	}
	*m = milliseconds(time.Duration(ms) * time.Millisecond)
	return nil
}
