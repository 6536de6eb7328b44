package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// inlineEnvelope is up to how many bytes an envelope stands in its log entry.
// Of a longer one the content becomes a blob, which entries with the same
// content share: the copies that the members of a group get, and what a sender
// and a receiver on one machine each log.
const inlineEnvelope = 64 << 10

// parts is an envelope as it is stored: what stands in its row, where in that
// its body belongs, and the blob that holds the body, nil if the envelope is
// small.
type parts struct {
	rest       []byte
	cut        int
	blob, body []byte
}

// take takes an envelope apart.
func take(envelope []byte) parts {
	if len(envelope) <= inlineEnvelope {
		return parts{rest: envelope}
	}
	rest, cut, body := split(envelope)
	sum := sha256.Sum256(body)
	return parts{rest, cut, sum[:], body}
}

// putBody stores the blob of a large envelope.
func (w *writer) putBody(ctx context.Context, p parts) error {
	if p.blob == nil {
		return nil
	}
	if _, err := w.stmt.putBlob.ExecContext(ctx, p.blob, p.body); err != nil {
		return fmt.Errorf("keep the body of an envelope, %d bytes: %w", len(p.body), err)
	}
	return nil
}

// split takes the content out of an envelope, or all of it if it has none.
func split(envelope []byte) (rest []byte, cut int, body []byte) {
	from, to, found := contentOf(envelope)
	if !found {
		return nil, 0, envelope
	}
	return slices.Concat(envelope[:from], envelope[to:]), from, envelope[from:to]
}

// errBody: the body of a large envelope is not what was taken out of it.
var errBody = errors.New("the envelope cannot be put together")

// join puts back what split took out.
func join(rest []byte, cut int, body []byte) ([]byte, error) {
	if cut < 0 || cut > len(rest) || len(body) == 0 {
		return nil, fmt.Errorf("%w: a body of %d bytes belongs at byte %d of an envelope of %d bytes", errBody, len(body), cut, len(rest))
	}
	return slices.Concat(rest[:cut], body, rest[cut:]), nil
}

// whole is an envelope as it was written, from what stands in a row.
func whole(rest []byte, cut int, body []byte) ([]byte, error) {
	if body == nil && cut == 0 {
		return rest, nil
	}
	return join(rest, cut, body)
}

// contentOf finds the value of the member "content" of an envelope's canonical
// bytes. Other bytes may have their cut anywhere or nowhere: join restores
// them all the same.
func contentOf(envelope []byte) (from, to int, found bool) {
	const member = `"content":` // a text before a colon is a member's name
	depth := 0
	for i := 0; i < len(envelope); i++ {
		switch c := envelope[i]; c {
		case '"':
			if depth == 1 && !found && bytes.HasPrefix(envelope[i:], []byte(member)) {
				from, found = i+len(member), true
			}
			i = textEnd(envelope, i)
		case '{', '[':
			depth++
		case ',', '}', ']':
			if depth == 1 && found {
				return from, i, i > from
			}
			if c != ',' {
				depth--
			}
		}
	}
	return 0, 0, false
}

// textEnd finds the quote that ends the text which begins at start.
func textEnd(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data)
}
