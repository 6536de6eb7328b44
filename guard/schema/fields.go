package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// field is one member that encoding/json writes for a struct.
type field struct {
	name     string
	path     string // Go names below the struct, for messages
	typ      reflect.Type
	tags     []tag
	optional bool // it may be absent
	elided   bool // it is absent when empty, so a nil value is never written as null
	quoted   bool // the ",string" option
}

// fieldsOf lists the members of a struct by the rules of encoding/json, with
// embedded structs flattened. Where those rules would pick one of several
// fields in silence, it refuses.
func fieldsOf(t reflect.Type) ([]field, error) {
	list, err := flatten(t, "", false, nil)
	if err != nil {
		return nil, err
	}
	seen := map[string]string{}
	for _, f := range list {
		// Readers compare member names exactly, but some Go decoders do not.
		folded := strings.ToLower(f.name)
		if other, ok := seen[folded]; ok {
			return nil, fmt.Errorf("%s: its member name %q is also that of %s", f.path, f.name, other)
		}
		seen[folded] = f.path
	}
	return list, nil
}

func flatten(t reflect.Type, path string, optional bool, trail []reflect.Type) ([]field, error) {
	for _, outer := range trail {
		if outer == t {
			return nil, fmt.Errorf("%s: it embeds itself", strings.TrimPrefix(path, "."))
		}
	}
	trail = append(trail, t)
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" {
			continue
		}
		base := f.Type
		if f.Anonymous && base.Kind() == reflect.Pointer {
			base = base.Elem()
		}
		if !f.IsExported() && (!f.Anonymous || base.Kind() != reflect.Struct) {
			continue
		}
		if f.Anonymous && name == "" && base.Kind() == reflect.Struct {
			if !f.IsExported() && base != f.Type {
				return nil, fmt.Errorf("%s: encoding/json cannot fill an embedded pointer to an unexported struct", at)
			}
			inner, err := flatten(base, path+"."+f.Name, optional || base != f.Type, trail)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
			continue
		}
		member, err := memberOf(f, name, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		member.path = at
		member.optional = member.optional || optional
		list = append(list, member)
	}
	return list, nil
}

// memberOf reads the tags of a field that is written as one member.
func memberOf(f reflect.StructField, name, options string) (field, error) {
	member := field{name: name, typ: f.Type}
	if name == "" {
		member.name = f.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			member.optional, member.elided = true, true
		case "omitzero":
			member.optional, member.elided = true, true
		case "string":
			member.quoted = true
		case "":
		default:
			return field{}, fmt.Errorf("json option %q is unknown", option)
		}
	}
	tags, err := parseTags(f.Tag.Get("jsonschema"))
	if err != nil {
		return field{}, err
	}
	if description := f.Tag.Get("jsonschema_description"); description != "" {
		tags = append(tags, tag{"description", description})
	}
	for _, t := range tags {
		if t.keyword == "required" && member.optional {
			return field{}, fmt.Errorf("required contradicts the json option that leaves the member out")
		}
	}
	if extras := f.Tag.Get("jsonschema_extras"); extras != "" {
		return field{}, fmt.Errorf("jsonschema_extras is not supported: give the type a JSONSchema method")
	}
	member.tags = tags
	return member, nil
}
