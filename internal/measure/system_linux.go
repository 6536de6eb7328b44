package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// tmpfs is the magic number of the file system in memory (statfs(2)), and
// memoryDir where there is one.
const (
	tmpfs     = 0x01021994
	memoryDir = "/dev/shm"
)

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

// memoryFolder makes a folder in memory, where making something durable costs
// nothing. The caller removes it.
func memoryFolder() (string, error) {
	if magicOf(memoryDir) != tmpfs {
		return "", fmt.Errorf("%s is no tmpfs", memoryDir)
	}
	return os.MkdirTemp(memoryDir, "parley-bench-")
}

// written is how many bytes the process has written so far.
func written() (int64, error) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		if value, ok := bytes.CutPrefix(line, []byte("wchar: ")); ok {
			return strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, errors.New("/proc/self/io says nothing about bytes written")
}

// syncs is how many appends of a size a second can be made durable one after
// another in a folder.
func syncs(ctx context.Context, folder string, size int, window time.Duration) (perSecond float64, err error) {
	f, err := os.OpenFile(filepath.Join(folder, "appends"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	data := bytes.Repeat([]byte{0xa5}, size)
	began := time.Now()
	for n := 1; ; n++ {
		if _, err := f.Write(data); err != nil {
			return 0, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return 0, fmt.Errorf("fdatasync: %w", err)
		}
		if took := time.Since(began); took >= window {
			return float64(n) / took.Seconds(), nil
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}
