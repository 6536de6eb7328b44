package main

import "testing"

func TestFileSystemsOfTheNetworkAreKnownByTheirNumbers(t *testing.T) {
	for magic, want := range map[uint32]filesystem{
		0x6969:     {kind: "nfs", remote: true},
		0xff534d42: {kind: "smb", remote: true},
		0xfe534d42: {kind: "smb", remote: true},
		0x00c36400: {kind: "ceph", remote: true},
		0x65735546: {kind: "fuse"},
		0xef53:     {}, // ext4
		0x01021994: {}, // tmpfs
	} {
		if kind, remote := kindOf(magic); kind != want.kind || remote != want.remote {
			t.Errorf("%#x is %q, remote %t", magic, kind, remote)
		}
	}
}

func TestTheFileSystemOfAFolderHasRoom(t *testing.T) {
	f, err := filesystemOf(t.TempDir())
	if err != nil || f.free == 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := filesystemOf(t.TempDir() + "/missing"); err == nil {
		t.Error("a folder that is not there has a file system")
	}
}
