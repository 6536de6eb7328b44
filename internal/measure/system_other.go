//go:build !linux

package measure

import (
	"context"
	"errors"
	"time"
)

var errLinux = errors.New("it needs Linux: a file system in memory, and what the process has written")

func fileSystem(string) string      { return "an unknown file system" }
func memoryFolder() (string, error) { return "", errLinux }
func written() (int64, error)       { return 0, errLinux }
func syncs(context.Context, string, int, time.Duration) (float64, error) {
	return 0, errLinux
}
