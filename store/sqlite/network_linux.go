package sqlite

import "syscall"

// networks are the file systems of the network by the number with which
// statfs names their kind (statfs(2), linux/magic.h and the sources of those
// that are not in it).
//
// FUSE is one number for whatever a program provides, such as an encrypted
// folder on a local disk as well as sshfs, so it passes: its number does not
// say that it is networked. GlusterFS and its like are reached through FUSE and
// pass too, unless they have a number of their own.
func networks() map[uint32]string {
	return map[uint32]string{
		0x00006969: "NFS",
		0x0000517b: "SMB",
		0xff534d42: "CIFS",
		0xfe534d42: "SMB2",
		0x01021997: "9P",
		0x5346414f: "AFS",
		0x6b414653: "AFS",
		0x73757245: "Coda",
		0x0000564c: "NCP",
		0x00c36400: "Ceph",
		0x0bd00bd0: "Lustre",
		0x0bd00bd1: "Lustre",
		0x47504653: "GPFS",
		0x19830326: "BeeGFS",
		0x20030528: "OrangeFS",
		0x7461636f: "OCFS2",
		0x01161970: "GFS2",
		0xaad7aaea: "PanFS",
		0x61636673: "ACFS",
		0xbacbacbc: "VMHGFS",
		0x786f4256: "VirtualBox shared folder",
		0x013111a8: "IBRIX",
	}
}

// fileSystem names the file system of a folder if it is of the network.
func fileSystem(folder string) (name string, network bool) { return networkOf(folder, syscall.Statfs) }

func networkOf(folder string, statfs func(string, *syscall.Statfs_t) error) (name string, network bool) {
	var found syscall.Statfs_t
	if err := statfs(folder, &found); err != nil {
		return "", false // opening the file will say what is wrong
	}
	name, network = networks()[uint32(found.Type)]
	return name, network
}
