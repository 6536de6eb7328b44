package guard

import (
	"errors"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/internal/strictjson"
)

// Open reads an envelope from bytes of the outside. A fault gives a
// *Violation: Unreadable when no sender could be made out, else Deny with the
// pointer to the fault. It needs no state and says nothing about whether the
// message may be acted on.
func Open(data []byte) (*envelope.Envelope, error) {
	e, err := envelope.Decode(data)
	if err == nil {
		return e, nil
	}
	v := &Violation{Rule: "shape", Answer: Deny, Code: envelope.CodeValidation, Reason: ReasonMalformed, Err: err}
	if shape, ok := errors.AsType[*envelope.ShapeError](err); ok {
		v.Pointer, v.Want, v.Got = shape.Pointer, shape.Want, shape.Got
		if shape.Rule == "version" {
			v.Reason = ReasonUnsupportedVersion
		}
	}
	if bytes, ok := errors.AsType[*strictjson.Error](err); ok {
		v.Rule = "bytes"
		v.Pointer, v.Want, v.Got = bytes.Pointer, bytes.Want, bytes.Got
	}
	if _, ok := envelope.Salvage(data); !ok {
		v.Answer = Unreadable
	}
	return nil, v
}
