package strictjson

// stack holds its first entries in itself, so that a document of ordinary size needs no room elsewhere.
type stack[T any] struct {
	size int
	near [32]T
	far  []T
}

func (s *stack[T]) at(i int) T {
	if i < len(s.near) {
		return s.near[i]
	}
	return s.far[i-len(s.near)]
}

func (s *stack[T]) push(entry T) {
	if s.size < len(s.near) {
		s.near[s.size] = entry
	} else {
		s.far = append(s.far, entry)
	}
	s.size++
}

// cut leaves the first entries, as many as size.
func (s *stack[T]) cut(size int) {
	s.size = size
	s.far = s.far[:max(size-len(s.near), 0)]
}
