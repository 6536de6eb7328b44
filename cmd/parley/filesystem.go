package main

// filesystem is where a file lies.
type filesystem struct {
	kind   string // such as nfs; empty if it is not one of those that matter
	remote bool   // other machines write to it too, or it asks a server
	free   uint64 // bytes that this user may still write
}
