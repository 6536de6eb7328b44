package measure

import (
	"fmt"
	"syscall"
)

// tmpfs is the magic number of the file system in memory (statfs(2)).
const tmpfs = 0x01021994

// fileSystem says on what the folder is.
func fileSystem(dir string) string {
	switch magic := magicOf(dir); magic {
	case 0:
		return "an unknown file system"
	case tmpfs:
		return "tmpfs, which is no disk: the figures mean nothing"
	default:
		return fmt.Sprintf("a file system of type %#x", magic)
	}
}

func magicOf(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0
	}
	return int64(s.Type)
}
