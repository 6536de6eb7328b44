package a2a

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/internal/strictjson"
)

// maxOriginal bounds what an envelope keeps of a foreign message beside its
// content, in bytes.
const maxOriginal = 40 << 10

// original is the message of a client that speaks no Parley, as the envelope that
// was made of it keeps it.
type original struct {
	// Digest is of the message's canonical form: it tells whether another message
	// with its id is the same.
	Digest  string          `json:"digest"`
	Message json.RawMessage `json:"message"`
	// Outside: the message was too long, and its parts are the envelope's content
	// alone.
	Outside bool `json:"outside,omitempty"`
}

// messageLimits are those of a foreign message.
var messageLimits = strictjson.Limits{Bytes: 8 << 20, Depth: 64, StringBytes: 8 << 20, Nodes: 100_000}

// originalOf is what is kept of a message.
func originalOf(m *wire.Message) (original, error) {
	canonical, err := strictjson.Canonical(wire.Encode(m), messageLimits)
	if err != nil {
		return original{}, unkept("message", err)
	}
	sum := sha256.Sum256(canonical)
	var digest [2 * sha256.Size]byte
	hex.Encode(digest[:], sum[:])
	o := original{Digest: string(digest[:]), Message: canonical}
	if len(canonical) <= maxOriginal {
		return o, nil
	}
	short := *m
	short.Parts = []wire.Part{text("")}
	o.Message, o.Outside = wire.Encode(&short), true
	if len(o.Message) > maxOriginal {
		return original{}, invalid("message", fmt.Sprintf("must have at most %d bytes beside its parts", maxOriginal))
	}
	return o, nil
}

// unkept tells what of a client's JSON nobody here could keep as it is.
func unkept(field string, err error) error {
	strict, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	for at := range strings.SplitSeq(strings.TrimPrefix(strict.Pointer, "/"), "/") {
		if _, err := strconv.ParseUint(at, 10, 32); err == nil {
			field += "[" + at + "]"
		} else if at != "" {
			field += "." + at
		}
	}
	return invalid(field, "expected "+strict.Want+", got "+strict.Got)
}

// same reports whether the other message is this one.
func (o *original) same(other original) bool { return o.Digest == other.Digest }

// encode writes it as the value of an extension.
func (o *original) encode() json.RawMessage {
	out := make([]byte, 0, len(o.Message)+128)
	out = append(append(out, `{"digest":"`...), o.Digest...)
	out = append(append(out, `","message":`...), o.Message...)
	if o.Outside {
		out = append(out, `,"outside":true`...)
	}
	return append(out, '}')
}

// keptIn is the foreign message that an envelope was made of, nil if it was made
// of none.
func keptIn(e *envelope.Envelope) (*original, error) {
	value, ok := e.Extension(messageExtension)
	if !ok {
		return nil, nil
	}
	return readOriginal(value)
}

// readOriginal reads what encode wrote, also after it was made canonical. It does
// not look at what the message itself says.
func readOriginal(raw []byte) (*original, error) {
	head, rest, divided := bytes.Cut(raw, []byte(`","message":`))
	digest, framed := bytes.CutPrefix(head, []byte(`{"digest":"`))
	if !divided || !framed {
		return nil, errNotKept
	}
	message, outside := bytes.CutSuffix(rest, []byte(`,"outside":true}`))
	if !outside {
		message = bytes.TrimSuffix(rest, []byte("}"))
	}
	return &original{Digest: string(digest), Message: message, Outside: outside}, nil
}

var errNotKept = errors.New("a kept message: want a digest and a message")

// message is the message as it came; content are the parts of one that was too
// long.
func (o *original) message(content func() []wire.Part) (*wire.Message, error) {
	var m wire.Message
	if err := wire.Decode(o.Message, &m); err != nil {
		return nil, fmt.Errorf("a kept message: %w", err)
	}
	if o.Outside {
		m.Parts = content()
	}
	return &m, nil
}
