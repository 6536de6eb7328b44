package store

import (
	"slices"
	"sync/atomic"
)

// OwnerSet tells an engine whom a call of Due asks for. A host asks for the
// same owners each time, so it keeps the last set. The zero value is ready for
// use by several goroutines at once.
type OwnerSet struct {
	last atomic.Pointer[ownerSet]
}

type ownerSet struct {
	owners []string
	set    map[string]bool
}

// Of returns the owners as a set, which the caller must not change.
func (o *OwnerSet) Of(owners []string) map[string]bool {
	// Strings that share their bytes are equal at a glance.
	if last := o.last.Load(); last != nil && slices.Equal(last.owners, owners) {
		return last.set
	}
	set := make(map[string]bool, len(owners))
	for _, owner := range owners {
		set[owner] = true
	}
	o.last.Store(&ownerSet{slices.Clone(owners), set})
	return set
}
