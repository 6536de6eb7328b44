package schema

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/parley-agents/parley/internal/strictjson"
)

// Restore turns a value of the lowered schema into the value of the original
// one that it stands for, in canonical form: null members that mean absence go,
// arrays of entries become maps. It does not validate: where the model did not
// keep to the lowered schema the value stays as it is, for the original schema
// to judge. The error is a *strictjson.Error or a *RestoreError.
func (l *Lowered) Restore(data []byte) ([]byte, error) {
	return l.convert(data, (*form).restore)
}

// Apply is the inverse of Restore: it writes a value of the original schema the
// way the lowered one wants it, for an example or a value to be mended.
func (l *Lowered) Apply(data []byte) ([]byte, error) {
	return l.convert(data, (*form).apply)
}

// turn converts the value at a place, and takes what it does from the steps left.
type turn func(f *form, at string, value any, left *int) (any, error)

func (l *Lowered) convert(data []byte, turn turn) ([]byte, error) {
	tree, err := strictjson.Tree(data, strictjson.Limits{AnyRoot: true, Depth: documentDepth})
	if err != nil {
		return nil, err
	}
	left := maxSteps
	turned, err := turn(l.form, "", tree, &left)
	if err != nil {
		return nil, err
	}
	return strictjson.Marshal(turned)
}

// RestoreError says that a lowered value stands for no single original one.
type RestoreError struct {
	Pointer string // of the place in the lowered value
	Reason  string
}

func (e *RestoreError) Error() string {
	return fmt.Sprintf("lowered value at %s: %s", place(e.Pointer), e.Reason)
}

func (f *form) restore(at string, value any, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, &RestoreError{Pointer: at, Reason: "it takes too many steps"}
	}
	f = f.resolve()
	if len(f.arms) > 0 {
		return f.restoreArm(at, value, left)
	}
	switch v := value.(type) {
	case map[string]any:
		restored := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] == nil && f.absent[name] {
				continue
			}
			inner, err := f.below(name).restore(join(at, name), v[name], left)
			if err != nil {
				return nil, err
			}
			restored[name] = inner
		}
		return restored, nil
	case []any:
		if f.entry != nil {
			return f.restoreTable(at, v, left)
		}
		return f.items(at, v, left, (*form).restore)
	}
	return value, nil
}

// restoreTable turns entries into a map, or leaves alone what is not entries.
func (f *form) restoreTable(at string, entries []any, left *int) (any, error) {
	table := make(map[string]any, len(entries))
	for i, entry := range entries {
		pair, ok := entry.(map[string]any)
		key, named := pair["key"].(string)
		value, valued := pair["value"]
		if !ok || !named || !valued || len(pair) != 2 {
			return entries, nil
		}
		place := at + "/" + strconv.Itoa(i)
		if _, again := table[key]; again {
			return nil, &RestoreError{Pointer: place + "/key", Reason: "the key " + excerpt(key) + " is there twice"}
		}
		inner, err := f.entry.restore(place+"/value", value, left)
		if err != nil {
			return nil, err
		}
		table[key] = inner
	}
	return table, nil
}

// restoreArm finds the alternative that the value stands for. If it could stand
// for different original values, guessing would change what was said.
func (f *form) restoreArm(at string, value any, left *int) (any, error) {
	var found any
	var text []byte
	for _, arm := range f.arms {
		restored, err := arm.form.restore(at, value, left)
		if err != nil || !arm.fits(restored, left) {
			continue
		}
		written, err := strictjson.Marshal(restored)
		if err != nil {
			return nil, err
		}
		if text != nil && !bytes.Equal(text, written) {
			return nil, &RestoreError{Pointer: at, Reason: "it could mean different values"}
		}
		found, text = restored, written
	}
	if *left < 0 { // an alternative may not have been tried
		return nil, &RestoreError{Pointer: at, Reason: "it takes too many steps"}
	}
	if text == nil {
		return f.likeliest(value).restore(at, value, left)
	}
	return found, nil
}

// likeliest is the one alternative with structure, if there is only one; it
// keeps the violations inside a nullable value to the point.
func (f *form) likeliest(value any) *form {
	var only *form
	for _, arm := range f.arms {
		inner := arm.form.resolve()
		if inner.members == nil && inner.item == nil && inner.entry == nil && inner.arms == nil {
			continue
		}
		if only != nil {
			return &form{}
		}
		only = inner
	}
	if only == nil || value == nil {
		return &form{}
	}
	return only
}

func (f *form) apply(at string, value any, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, &RestoreError{Pointer: at, Reason: "it takes too many steps"}
	}
	f = f.resolve()
	for _, arm := range f.arms {
		if arm.fits(value, left) {
			return arm.form.apply(at, value, left)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		if f.entry != nil {
			entries := make([]any, 0, len(v))
			for _, key := range slices.Sorted(maps.Keys(v)) {
				inner, err := f.entry.apply(join(at, key), v[key], left)
				if err != nil {
					return nil, err
				}
				entries = append(entries, map[string]any{"key": key, "value": inner})
			}
			return entries, nil
		}
		applied := make(map[string]any, len(v))
		for name := range f.members {
			if _, ok := v[name]; !ok {
				applied[name] = nil
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, err := f.below(name).apply(join(at, name), v[name], left)
			if err != nil {
				return nil, err
			}
			applied[name] = inner
		}
		return applied, nil
	case []any:
		return f.items(at, v, left, (*form).apply)
	}
	return value, nil
}

func (f *form) items(at string, list []any, left *int, turn turn) (any, error) {
	item := f.item
	if item == nil {
		item = &form{}
	}
	turned := make([]any, len(list))
	for i, value := range list {
		inner, err := turn(item, at+"/"+strconv.Itoa(i), value, left)
		if err != nil {
			return nil, err
		}
		turned[i] = inner
	}
	return turned, nil
}

func (f *form) below(name string) *form {
	if inner, ok := f.members[name]; ok {
		return inner
	}
	return &form{}
}

func (f *form) resolve() *form {
	for f.alias != nil {
		f = f.alias
	}
	return f
}
