//go:build !linux

package sqlite

// fileSystem does not know the file systems of this operating system.
func fileSystem(string) (name string, network bool) { return "", false }
