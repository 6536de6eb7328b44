//go:build unix

package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.db")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// With a writer, whoever opens it all the same does not block.
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, path := range []string{pipe, filepath.Dir(pipe)} {
		to := filepath.Join(t.TempDir(), "to.db")
		for what, use := range map[string]func(context.Context) error{
			"open":    func(ctx context.Context) error { _, err := Open(ctx, path); return err },
			"inspect": func(ctx context.Context) error { _, err := Inspect(ctx, path); return err },
			"check":   func(ctx context.Context) error { _, err := Check(ctx, path); return err },
			"compact": func(ctx context.Context) error { _, err := Compact(ctx, path); return err },
			"backup":  func(ctx context.Context) error { return Backup(ctx, path, to) },
			"restore": func(ctx context.Context) error { _, err := Restore(ctx, path, to, time.UnixMilli(5000)); return err },
		} {
			if err := use(t.Context()); err == nil || !strings.Contains(err.Error(), path+" is not a file") {
				t.Errorf("%s %s: got %v", what, path, err)
			}
			if _, err := os.Lstat(to); !os.IsNotExist(err) {
				t.Errorf("%s %s left a file (%v)", what, path, err)
			}
		}
	}
}
