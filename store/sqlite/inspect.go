package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Inspect opens the store in the file at path for reading, also while a host
// has it open: it takes no lock, and each read sees what was committed before
// it. Whatever would write, such as Commit, TakeOver or Meta, returns
// store.ErrReadOnly.
//
// The file must have the schema of this program: an older one is brought up
// to date by Open, not here. SQLite may leave the files of its write-ahead log
// beside it. Ctx bounds the opening only. The caller must Close the store.
func Inspect(ctx context.Context, path string) (*Store, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("inspect store: %w", err)
	}
	s := newStore()
	if err := s.openReaders(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("inspect store %s: %w", path, err), s.release())
	}
	return s, nil
}
