package strictjson

import "slices"

// Join returns the canonical object of members whose values are canonical already. Their order does not matter; their
// names must differ.
func Join(members []Member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.Name) + len(m.Value) + 4
	}
	return AppendJoined(make([]byte, 0, size), members)
}

// AppendJoined is Join that appends to out.
func AppendJoined(out []byte, members []Member) []byte {
	order := func(a, b Member) int { return compareUTF16(a.Name, b.Name) }
	if !slices.IsSortedFunc(members, order) {
		members = slices.SortedFunc(slices.Values(members), order)
	}
	out = append(out, '{')
	for _, m := range members {
		out = append(AppendString(out, m.Name), ':')
		out = append(append(out, m.Value...), ',')
	}
	return closed(out, '}')
}
