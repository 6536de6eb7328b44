package memory

import (
	"iter"
	"slices"
)

// full is how many values a chunk holds at most.
const full = 512

// ordered is a set of values in order. They stand in chunks, none of them
// empty, so that a value goes in or out by moving a few hundred others.
type ordered[T any] struct {
	compare func(a, b T) int
	chunks  [][]T
}

func newOrdered[T any](compare func(a, b T) int) *ordered[T] {
	return &ordered[T]{compare: compare}
}

// find returns the place of v: its chunk, where it stands or belongs there,
// and whether it is in the set.
func (o *ordered[T]) find(v T) (chunk, at int, found bool) {
	chunk, _ = slices.BinarySearchFunc(o.chunks, v, func(c []T, v T) int { return o.compare(c[len(c)-1], v) })
	if chunk == len(o.chunks) {
		return chunk, 0, false
	}
	at, found = slices.BinarySearchFunc(o.chunks[chunk], v, o.compare)
	return chunk, at, found
}

// add puts v into the set and reports whether it is new.
func (o *ordered[T]) add(v T) bool {
	chunk, at, found := o.find(v)
	if found {
		return false
	}
	if chunk == len(o.chunks) && chunk > 0 { // behind the last value
		chunk, at = chunk-1, len(o.chunks[chunk-1])
	}
	if len(o.chunks) == 0 {
		o.chunks = [][]T{nil}
	}
	o.chunks[chunk] = slices.Insert(o.chunks[chunk], at, v)
	if c := o.chunks[chunk]; len(c) > full {
		o.chunks[chunk] = slices.Clone(c[:full/2])
		o.chunks = slices.Insert(o.chunks, chunk+1, slices.Clone(c[full/2:]))
	}
	return true
}

// remove takes v out of the set and reports whether it was there.
func (o *ordered[T]) remove(v T) bool {
	chunk, at, found := o.find(v)
	if !found {
		return false
	}
	o.chunks[chunk] = slices.Delete(o.chunks[chunk], at, at+1)
	if len(o.chunks[chunk]) == 0 {
		o.chunks = slices.Delete(o.chunks, chunk, chunk+1)
	}
	return true
}

// from yields the values from v on, in order. The set must not change
// meanwhile.
func (o *ordered[T]) from(v T) iter.Seq[T] {
	return func(yield func(T) bool) {
		chunk, at, _ := o.find(v)
		for _, c := range o.chunks[chunk:] {
			for _, v := range c[at:] {
				if !yield(v) {
					return
				}
			}
			at = 0
		}
	}
}
