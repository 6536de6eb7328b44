package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/storetest"
)

// cut is a store whose Close first copies its files as they are, which is
// what a loss of power would leave of them.
type cut struct {
	store.Store
	copy func() error // once
}

func (c cut) Close() error { return errors.Join(c.copy(), c.Store.Close()) }

func TestFilesThatWereNeverClosedHoldAllOrNothingOfEveryCall(t *testing.T) {
	storetest.Crashes(t, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "parley.db")
		return func() store.Store {
			from := path
			path = filepath.Join(t.TempDir(), "parley.db")
			to := path
			return cut{open(t, from), sync.OnceValue(func() error {
				return errors.Join(copyFile(from, to), copyFile(from+"-wal", to+"-wal"))
			})}
		}
	})
}

// copyFile copies a file if there is one.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
