package schema

import "time"

// Milliseconds is a duration in a contract: an integer on the wire, with the
// unit in the name of its type. Give the member a name that says it too, such
// as timeout_ms. A time.Duration itself is refused, since encoding/json writes
// it as a bare number of nanoseconds.
type Milliseconds int64

// InMilliseconds is d in whole milliseconds, rounded up, so that a short wait
// does not become none.
func InMilliseconds(d time.Duration) Milliseconds {
	return Milliseconds((d + time.Millisecond - 1) / time.Millisecond)
}

// Duration is m as a duration; what does not fit is the longest there is.
func (m Milliseconds) Duration() time.Duration {
	const longest = Milliseconds(1<<63-1) / Milliseconds(time.Millisecond)
	return time.Duration(min(max(m, -longest), longest)) * time.Millisecond
}
