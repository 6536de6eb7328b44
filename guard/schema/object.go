package schema

import (
	"bytes"

	"github.com/invopop/jsonschema"
)

// Object is a JSON object of any members, for content that carries what another
// schema describes. Whoever reads it holds it to that one: this one promises
// nothing about what is inside.
type Object []byte

// JSONSchema admits any object.
func (Object) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// MarshalJSON is the object as it is; nil is null.
func (o Object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps a copy of the object.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o = bytes.Clone(data)
	return nil
}
