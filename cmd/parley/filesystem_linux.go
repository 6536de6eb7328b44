package main

import (
	"fmt"
	"syscall"
)

// filesystemOf asks the kernel about the file system of a file or folder.
func filesystemOf(path string) (filesystem, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return filesystem{}, fmt.Errorf("look at the file system of %s: %w", path, err)
	}
	f := filesystem{free: s.Bavail * uint64(s.Bsize)}
	f.kind, f.remote = kindOf(uint32(s.Type))
	return f, nil
}

// kindOf reads the numbers of statfs(2). A file system in user space can be
// either.
func kindOf(magic uint32) (kind string, remote bool) {
	switch magic {
	case 0x6969:
		return "nfs", true
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb", true
	case 0x01021997:
		return "9p", true
	case 0x00c36400:
		return "ceph", true
	case 0x5346414f, 0x6b414653:
		return "afs", true
	case 0x73757245:
		return "coda", true
	case 0x7461636f:
		return "ocfs2", true
	case 0x01161970:
		return "gfs2", true
	case 0x47504653:
		return "gpfs", true
	case 0x0bd00bd0:
		return "lustre", true
	case 0x65735546:
		return "fuse", false
	}
	return "", false
}
