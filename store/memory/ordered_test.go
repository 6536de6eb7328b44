package memory

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAnOrderedSetAgreesWithASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOrdered(cmp.Compare[int])
		var model []int
		for _, v := range rapid.SliceOfN(rapid.IntRange(0, 2000), 0, 3000).Draw(t, "values") {
			at, found := slices.BinarySearch(model, v)
			if v%3 == 0 && found {
				model = slices.Delete(model, at, at+1)
				if !o.remove(v) {
					t.Fatalf("%d is not there", v)
				}
			} else if o.add(v) == found {
				t.Fatalf("add %d: was it there? %t", v, found)
			} else if !found {
				model = slices.Insert(model, at, v)
			}
		}
		absent := -1
		if o.remove(absent) {
			t.Fatal("what is not there was removed")
		}
		from := rapid.IntRange(-1, 2001).Draw(t, "from")
		at, _ := slices.BinarySearch(model, from)
		if got := slices.Collect(o.from(from)); !slices.Equal(got, model[at:]) {
			t.Fatalf("from %d: got %v, want %v", from, got, model[at:])
		}
	})
}

func TestAnOrderedSetIsRightWhenItsChunksSplitAndEmpty(t *testing.T) {
	o := newOrdered(cmp.Compare[int])
	const n = 10 * full
	for i := range n {
		o.add(i * 7919 % n) // every number below n once, in a scattered order
	}
	for i, v := range slices.Collect(o.from(-1)) {
		if i != v {
			t.Fatalf("number %d is %d", i, v)
		}
	}
	for i := range n - 1 {
		o.remove(i)
	}
	if got := slices.Collect(o.from(0)); !slices.Equal(got, []int{n - 1}) {
		t.Errorf("got %v, want the last", got)
	}
}
