package a2a

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// sseEvent is one event of a stream of server-sent events.
type sseEvent struct {
	// id is the last id that the stream has given, with this event or before, and
	// that a header can carry.
	id   string
	data []byte
}

// errEventTooLarge: an event, or a line of one, is longer than is read here.
var errEventTooLarge = errors.New("an event of the stream is too large")

// readEvents reads a stream of server-sent events as the HTML standard has it
// (section 9.2.6): lines end in CR, LF or both, comments and fields that are
// not known are passed over, and what was begun at the end of the stream is no
// event. An event may have limit bytes. The stream's end is the sequence's; an
// error of r is yielded last.
func readEvents(r io.Reader, limit int) iter.Seq2[sseEvent, error] {
	return func(yield func(sseEvent, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 4096), limit+len("data: \r\n"))
		lines.Split(new(lineSplitter).split)
		id, first := "", true
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			if first {
				line, first = bytes.TrimPrefix(line, []byte("\ufeff")), false
			}
			if len(line) == 0 {
				if data != nil && !yield(sseEvent{id, data[:len(data)-1]}, nil) {
					return
				}
				data = nil
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "id":
				if headerText(string(value)) { // it goes back in one
					id = string(value)
				}
			case "data":
				if len(data)+len(value) > limit {
					yield(sseEvent{}, errEventTooLarge)
					return
				}
				data = append(append(data, value...), '\n')
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(sseEvent{}, errEventTooLarge)
		case err != nil:
			yield(sseEvent{}, fmt.Errorf("reading a stream: %w", err))
		}
	}
}

// lineSplitter splits what comes into lines that end in CR, LF or both. It looks
// at each byte once, however small the pieces are in which a long line comes.
type lineSplitter struct{ seen int }

// split is a bufio.SplitFunc.
func (l *lineSplitter) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	at := l.seen + bytes.IndexAny(data[l.seen:], "\r\n")
	found := at >= l.seen
	switch {
	case !found && atEOF && len(data) > 0:
		l.seen = 0
		return len(data), data, nil
	case !found:
		l.seen = len(data)
		return 0, nil, nil
	case data[at] == '\r' && at+1 == len(data) && !atEOF:
		l.seen = at // it may be half of the line's end
		return 0, nil, nil
	}
	l.seen = 0
	if data[at] == '\r' && at+1 < len(data) && data[at+1] == '\n' {
		return at + 2, data[:at], nil
	}
	return at + 1, data[:at], nil
}
