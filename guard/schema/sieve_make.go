package schema

import (
	"math"
	"math/big"
	"reflect"
	"slices"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sifter makes the sieves of one document. A schema that says more than a sieve
// understands gets one that is shut.
type sifter map[*jsonschema.Schema]*sieve

func (made sifter) sieve(s *jsonschema.Schema) *sieve {
	if s == nil {
		return nil
	}
	if known, ok := made[s]; ok {
		return known
	}
	v := &sieve{}
	made[s] = v
	if s.Bool != nil {
		v.shut, v.kinds = !*s.Bool, every
		v.length, v.size, v.count = between(nil, nil), between(nil, nil), between(nil, nil)
		return v
	}
	v.kinds, v.whole = kindsOf(s.Types)
	v.ref = made.sieve(s.Ref)
	for _, arm := range s.AnyOf {
		v.arms = append(v.arms, made.sieve(arm))
	}
	v.length, v.size, v.count = between(s.MinLength, s.MaxLength), between(s.MinProperties, s.MaxProperties), between(s.MinItems, s.MaxItems)
	if s.Format != nil {
		v.format = s.Format.Validate
	}
	v.pattern = s.Pattern
	if s.ContentEncoding != nil {
		v.encoding = s.ContentEncoding.Decode
	}
	v.required = slices.Compact(slices.Sorted(slices.Values(s.Required)))
	v.items = made.sieve(s.Items2020)
	v.members = make(map[string]*sieve, len(s.Properties))
	for name, member := range s.Properties {
		v.members[name] = made.sieve(member)
	}
	switch others := s.AdditionalProperties.(type) {
	case bool:
		if !others {
			v.others = &sieve{shut: true}
		}
	case *jsonschema.Schema:
		v.others = made.sieve(others)
	}
	v.shut = !understood(s) || !descendsOnce(s) || !v.choose(s) || !v.bound(s)
	return v
}

// every has the bits of all kinds.
const every = 1<<strictjson.KindNull | 1<<strictjson.KindBoolean | 1<<strictjson.KindNumber |
	1<<strictjson.KindString | 1<<strictjson.KindArray | 1<<strictjson.KindObject

// kindsOf reads the type keyword.
func kindsOf(types *jsonschema.Types) (kinds uint, whole bool) {
	if types == nil || types.IsEmpty() {
		return every, false
	}
	names := types.ToStrings()
	for _, name := range names {
		switch name {
		case "null":
			kinds |= 1 << strictjson.KindNull
		case "boolean":
			kinds |= 1 << strictjson.KindBoolean
		case "number", "integer":
			kinds |= 1 << strictjson.KindNumber
		case "string":
			kinds |= 1 << strictjson.KindString
		case "array":
			kinds |= 1 << strictjson.KindArray
		case "object":
			kinds |= 1 << strictjson.KindObject
		}
	}
	return kinds, !slices.Contains(names, "number")
}

func between(least, most *int) span {
	s := span{0, math.MaxInt}
	if least != nil {
		s.least = *least
	}
	if most != nil {
		s.most = *most
	}
	return s
}

// choose reads enum and const, of which a sieve knows the strings.
func (v *sieve) choose(s *jsonschema.Schema) bool {
	var allowed []any
	switch {
	case s.Enum == nil && s.Const == nil:
		return true
	case s.Enum != nil && s.Const != nil:
		return false
	case s.Enum != nil:
		allowed = s.Enum.Values
	default:
		allowed = []any{*s.Const}
	}
	v.only = []string{}
	for _, value := range allowed {
		if text, ok := value.(string); ok {
			v.only = append(v.only, text)
		}
	}
	return true
}

// bound reads the bounds of a number, which must be integers.
func (v *sieve) bound(s *jsonschema.Schema) bool {
	v.low, v.high = math.MinInt64, math.MaxInt64
	for _, limit := range []struct {
		value  *big.Rat
		lower  bool
		inside int64 // from the limit to the nearest integer that is allowed
	}{{s.Minimum, true, 0}, {s.Maximum, false, 0}, {s.ExclusiveMinimum, true, 1}, {s.ExclusiveMaximum, false, -1}} {
		if limit.value == nil {
			continue
		}
		v.bounded = true
		// Strict JSON has no integer near the ends of 64 bits.
		if n := limit.value.Num(); !limit.value.IsInt() || n.BitLen() > 62 {
			return false
		}
		nearest := limit.value.Num().Int64() + limit.inside
		if limit.lower {
			v.low = max(v.low, nearest)
		} else {
			v.high = min(v.high, nearest)
		}
	}
	return true
}

// descendsOnce reports whether what is inside a value is met once only, however
// many schemas judge the value itself: what the meter counts stays below the
// number of values times the weight of the document.
func descendsOnce(s *jsonschema.Schema) bool {
	ways := 0
	if s.Ref != nil {
		ways++
	}
	if len(s.Properties) > 0 || s.AdditionalProperties != nil || s.Items2020 != nil {
		ways++
	}
	for _, arm := range s.AnyOf {
		if kinds, _ := kindsOf(arm.Types); kinds&(1<<strictjson.KindArray|1<<strictjson.KindObject) != 0 {
			ways++
		}
	}
	return ways <= 1
}

// understood reports whether a schema says nothing beyond what a sieve knows.
func understood(s *jsonschema.Schema) bool {
	if s.DraftVersion < 2020 {
		return false
	}
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		if field.IsExported() && !known(field.Name) && !fields.Field(i).IsZero() {
			return false
		}
	}
	return true
}

func known(field string) bool {
	switch field {
	case "DraftVersion", "Location", "ID", "Anchor", "Title", "Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated",
		"Ref", "AnyOf", "Types", "Enum", "Const", "Format", "Pattern", "MinLength", "MaxLength", "ContentEncoding",
		"Minimum", "Maximum", "ExclusiveMinimum", "ExclusiveMaximum",
		"Properties", "Required", "AdditionalProperties", "MinProperties", "MaxProperties", "Items2020", "MinItems", "MaxItems":
		return true
	}
	return false
}
