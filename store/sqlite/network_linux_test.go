//go:build amd64 || arm64

package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAFileSystemOfTheNetworkIsToldByItsNumber(t *testing.T) {
	for number, want := range map[int64]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9P",
		0x5346414f: "AFS", 0x6b414653: "AFS", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre",
		-0xacb2be: "CIFS",                                                                             // a negative number where the system's is of 32 bits
		0xef53:    "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", 0x2fc12fc1: "", // ext4, XFS, Btrfs, tmpfs, overlay, ZFS
		0x65735546: "", // FUSE
	} {
		name, network := networkOf("/data", func(folder string, into *syscall.Statfs_t) error {
			if folder != "/data" {
				t.Errorf("asked about %s", folder)
			}
			into.Type = number
			return nil
		})
		if name != want || network != (want != "") {
			t.Errorf("%#x: got %q, %t, want %q", number, name, network, want)
		}
	}
	if name, network := networkOf("/gone", func(string, *syscall.Statfs_t) error { return syscall.ENOENT }); network {
		t.Errorf("a folder that is not there is on %s", name)
	}
}

func TestAStoreOnANetworkIsRefusedByNameAndNothingIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	asked := ""
	_, err := openOn(t.Context(), path, func(folder string) (string, bool) {
		asked = folder
		return "NFS", true
	})
	refusal, ok := errors.AsType[*NetworkError](err)
	if !ok || refusal.FileSystem != "NFS" || refusal.Path != path || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "NFS") {
		t.Errorf("got %v, want a refusal that names the file and NFS", err)
	}
	if asked != filepath.Dir(path) {
		t.Errorf("asked about %q", asked)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if name, network := fileSystem(filepath.Dir(path)); network {
		t.Errorf("the tests' own folder is on %s", name)
	}
}
