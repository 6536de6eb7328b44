//go:build !linux

package main

import "math"

// filesystemOf knows nothing of file systems here, and warns of none.
func filesystemOf(string) (filesystem, error) { return filesystem{free: math.MaxUint64}, nil }
