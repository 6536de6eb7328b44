package llm

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// eventReader reads server-sent events (WHATWG HTML, section 9.2.6). Lines end in
// LF, CRLF or CR and may be as long as the source; unlike there, an event that the
// end of the source completes counts, since some endpoints save the last blank line.
type eventReader struct {
	source *bufio.Reader
	begun  bool // the first line was read
	halved bool // the last line ended in CR: a LF that follows belongs to it
	line   []byte
}

// next returns the name of an event, mostly empty, and its data, which is valid until
// the next call. Comments and events without data are passed over. The error is
// io.EOF at the end and else that of the source.
func (r *eventReader) next() (name string, data []byte, err error) {
	held := false
	for {
		line, err := r.readLine()
		if err == io.EOF && held {
			return name, data, nil
		}
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			if held {
				return name, data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if held {
				data = append(data, '\n')
			}
			data, held = append(data, value...), true
		}
	}
}

// readLine returns the next line without its end, valid until the next call.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		b, err := r.source.ReadByte()
		switch {
		case err == io.EOF && len(r.line) > 0:
			return r.finishLine(), nil
		case err != nil:
			return nil, err
		case b == '\n' && r.halved && len(r.line) == 0:
			r.halved = false
		case b == '\n' || b == '\r':
			r.halved = b == '\r'
			return r.finishLine(), nil
		default:
			r.halved = false
			r.line = append(r.line, b)
		}
	}
}

func (r *eventReader) finishLine() []byte {
	if r.begun {
		return r.line
	}
	r.begun = true
	return bytes.TrimPrefix(r.line, []byte("\ufeff"))
}

// bounded reads at most left bytes: where the source has more it fails with an Error
// of kind ErrorCut.
type bounded struct {
	source      io.Reader
	limit, left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.source.Read(p)
	if int64(n) > b.left {
		return int(b.left), &Error{Kind: ErrorCut, Err: fmt.Errorf("answer exceeds %d bytes", b.limit)}
	}
	b.left -= int64(n)
	return n, err
}
