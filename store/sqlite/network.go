package sqlite

import (
	"fmt"
	"path/filepath"
)

// NetworkError says that a store cannot be kept where it was to be: the file
// is on a file system of the network. SQLite's write-ahead log needs memory
// that all processes share, and a lock that holds, so it works within one
// machine only; over a network it loses what it acknowledged.
type NetworkError struct {
	Path       string
	FileSystem string // such as NFS
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("%s is on a network file system, %s: a store needs a disk of this machine", e.Path, e.FileSystem)
}

// local returns a *NetworkError if the folder of a store's file is on a file
// system of the network. One that cannot be told passes.
func local(path string, kind func(folder string) (name string, network bool)) error {
	if name, network := kind(filepath.Dir(path)); network {
		return &NetworkError{Path: path, FileSystem: name}
	}
	return nil
}
