//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/parley-agents/parley/store"
)

// lock takes the exclusive lock that makes one host the holder of the store
// at path. The kernel frees it when the file is closed or the process dies,
// so a crash never leaves a store locked. The lock file itself stays.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of store %s: %w", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = store.ErrInUse
		}
		return nil, fmt.Errorf("lock store %s: %w", path, err)
	}
	return f, nil
}
