package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/invopop/jsonschema"
)

// shape is how encoding/json writes a Go type.
type shape int

const (
	shapeNone   shape = iota // it cannot, or only in a way that no schema describes
	shapeCustom              // the type's own JSONSchema method says
	shapeObject
	shapeTable // a map
	shapeList
	shapeBytes // base64
	shapeText
	shapeTime
	shapeInteger
	shapeNumber
	shapeBoolean
)

// shapeOf tells the shape of a type that is not a pointer, or why it has none.
func shapeOf(t reflect.Type) (shape, string) {
	if got, reason := methodShape(t); got != shapeNone || reason != "" {
		return got, reason
	}
	switch t.Kind() {
	case reflect.Struct:
		if t.PkgPath() == "net/url" && t.Name() == "URL" {
			return shapeNone, "a url.URL is written as an object of its parts: use a string with format=uri"
		}
		return shapeObject, ""
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return shapeNone, "a map needs keys of a string type, not " + t.Key().String()
		}
		return shapeTable, ""
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			if got, _ := methodShape(t.Elem()); got == shapeNone {
				return shapeBytes, ""
			}
		}
		return shapeList, ""
	case reflect.Array:
		return shapeList, ""
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return shapeInteger, ""
	case reflect.Float32, reflect.Float64:
		return shapeNumber, ""
	case reflect.Bool:
		return shapeBoolean, ""
	case reflect.String:
		return shapeText, ""
	case reflect.Interface:
		return shapeNone, "an interface may hold anything: use a concrete type, or one with a JSONSchema method"
	}
	return shapeNone, "a " + t.Kind().String() + " has no JSON form"
}

// methodShape looks at what is not up to the kind: known types and methods.
func methodShape(t reflect.Type) (shape, string) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return shapeTime, ""
	case reflect.TypeFor[time.Duration]():
		return shapeNone, "a time.Duration is written as a bare number of nanoseconds: use schema.Milliseconds, or an integer member that names its unit, such as TimeoutMS int64"
	case reflect.TypeFor[json.RawMessage]():
		return shapeNone, "a json.RawMessage may hold anything: use a concrete type, or one with a JSONSchema method"
	case reflect.TypeFor[json.Number]():
		return shapeNumber, ""
	}
	custom := reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()
	pointer := reflect.PointerTo(t)
	for _, unsupported := range []reflect.Type{
		reflect.TypeFor[interface{ JSONSchemaAlias() any }](),
		reflect.TypeFor[interface{ JSONSchemaProperty(string) any }](),
		reflect.TypeFor[interface{ JSONSchemaExtend(*jsonschema.Schema) }](),
	} {
		if pointer.Implements(unsupported) {
			return shapeNone, "its " + unsupported.Method(0).Name + " method is not used here: give the type a JSONSchema method"
		}
	}
	if t.Kind() == reflect.Interface {
		return shapeNone, ""
	}
	switch {
	case t.Implements(custom):
		return shapeCustom, ""
	case pointer.Implements(custom):
		return shapeNone, "its JSONSchema method needs a value receiver"
	case pointer.Implements(reflect.TypeFor[json.Marshaler]()):
		return shapeNone, "it has a MarshalJSON method: give it a JSONSchema method too"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return shapeText, ""
	case pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return shapeNone, "its MarshalText method needs a value receiver"
	}
	return shapeNone, ""
}

// nilable tells whether the zero value of a type is written as null.
func nilable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return true
	case reflect.Slice, reflect.Map:
		text := t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
		return !text && !t.Implements(reflect.TypeFor[json.Marshaler]())
	}
	return false
}

// exact is the largest integer that every JSON reader keeps (RFC 7493).
const exact = 1<<53 - 1

// integerBounds are the least and greatest integers of a kind that JSON can carry.
func integerBounds(t reflect.Type) (low, high json.Number) {
	switch bits := t.Bits(); {
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		if bits > 53 {
			return "0", text(exact)
		}
		return "0", text(1<<bits - 1)
	case bits > 53:
		return text(-exact), text(exact)
	default:
		return text(-1 << (bits - 1)), text(1<<(bits-1) - 1)
	}
}

func text(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
