package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// files lists what is in a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

func TestABackupBesideABusyHostIsOneMomentOfIt(t *testing.T) {
	path, folder := sound(t), t.TempDir()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for n := range 3 {
		busy.Go(func() {
			x := store.Exchange{Key: store.Key{Owner: "busy", Conversation: fmt.Sprint(n), Peer: "b"}}
			for ; ctx.Err() == nil; x.Version++ {
				err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x}, Entries: []store.Entry{{Owner: "busy", Conversation: fmt.Sprint(n)}}})
				if err != nil {
					t.Errorf("commit beside a backup: %v", err)
					return
				}
			}
		})
	}
	const backups = 3
	for n := range backups {
		if err := Backup(t.Context(), path, filepath.Join(folder, fmt.Sprint(n, ".db"))); err != nil {
			t.Error(err)
		}
	}
	stop()
	busy.Wait()
	if names := files(t, folder); len(names) != backups {
		t.Errorf("the backups left %q", names)
	}
	for n := range backups {
		backup := filepath.Join(folder, fmt.Sprint(n, ".db"))
		if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("backup %d: %v, %v", n, info.Mode(), err)
		}
		copied, err := Inspect(t.Context(), backup)
		if err != nil {
			t.Fatal(err)
		}
		for conversation := range 3 {
			x, err := copied.Exchange(t.Context(), store.Key{Owner: "busy", Conversation: fmt.Sprint(conversation), Peer: "b"})
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			log, err := copied.Log(t.Context(), "busy", fmt.Sprint(conversation), 0)
			if err != nil || int64(len(log)) != x.Version {
				t.Errorf("backup %d: conversation %d has %d entries and version %d, %v", n, conversation, len(log), x.Version, err)
			}
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	path, folder := sound(t), t.TempDir()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("this is no database\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"no store":          Backup(t.Context(), filepath.Join(folder, "none.db"), filepath.Join(folder, "b.db")),
		"no database":       Backup(t.Context(), text, filepath.Join(folder, "b.db")),
		"an empty file":     Backup(t.Context(), empty, filepath.Join(folder, "b.db")),
		"an ended context":  Backup(ended, path, filepath.Join(folder, "b.db")),
		"a missing folder":  Backup(t.Context(), path, filepath.Join(folder, "none", "b.db")),
		"onto the original": Backup(t.Context(), path, path),
	} {
		if err == nil {
			t.Errorf("%s: backed up", what)
		}
	}
	if names := files(t, folder); len(names) != 0 {
		t.Errorf("the failures left %q", names)
	}
	taken := filepath.Join(folder, "taken.db")
	if err := os.WriteFile(taken, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), path, taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: got %v, want exists", err)
	}
	if data, err := os.ReadFile(taken); err != nil || string(data) != "precious" {
		t.Errorf("the other file holds %q, %v", data, err)
	}
	if report, err := Check(t.Context(), path); err != nil || len(report.Findings) != 0 {
		t.Errorf("the store itself: %+v, %v", report, err)
	}
}

// backedUp makes a backup of a sound store.
func backedUp(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := Backup(t.Context(), sound(t), to); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestARestoredStoreIsTheBackupUnderANewGeneration(t *testing.T) {
	from := backedUp(t)
	before, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ now, want int64 }{{5000, 5000}, {1000, 1001}, {7, 1001}} {
		folder := t.TempDir()
		to := filepath.Join(folder, "parley.db")
		meta, err := Restore(t.Context(), from, to, time.UnixMilli(c.now))
		if err != nil {
			t.Fatal(err)
		}
		if meta.Generation != c.want || string(meta.Secret) != "secret" {
			t.Errorf("at %d: got generation %d and secret %q, want %d", c.now, meta.Generation, meta.Secret, c.want)
		}
		if got, want := files(t, folder), "[parley.db parley.db.lock]"; fmt.Sprint(got) != want {
			t.Errorf("the folder has %q, want %s", got, want)
		}
		if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the store has mode %v, %v", info.Mode(), err)
		}
		s, err := Open(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := s.Meta(t.Context(), store.Meta{Generation: 1})
		if err != nil || kept.Generation != c.want {
			t.Errorf("a host finds generation %d, %v", kept.Generation, err)
		}
		due, err := s.Due(t.Context(), []string{"agent://local/planner"}, time.UnixMilli(9), 9)
		if err != nil || len(due.Outbox) != 1 || len(due.Timers) != 1 {
			t.Errorf("a host finds %+v due, %v", due, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if report, err := Check(t.Context(), to); err != nil || len(report.Findings) != 0 {
			t.Errorf("the restored store: %+v, %v", report, err)
		}
	}
	if after, err := os.ReadFile(from); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the backup was changed, %v", err)
	}
}

func TestABackupOfAnOlderSchemaIsRestored(t *testing.T) {
	from, old := older(t, 4, "INSERT INTO meta (only, generation, secret) VALUES (1, 7, CAST('old' AS BLOB))")
	old.Close()
	to := filepath.Join(t.TempDir(), "parley.db")
	meta, err := Restore(t.Context(), from, to, time.UnixMilli(3))
	if err != nil || meta.Generation != 8 {
		t.Fatalf("got %+v, %v", meta, err)
	}
	if report, err := Check(t.Context(), to); err != nil || len(report.Findings) != 0 {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestAStoreThatNoHostEverOpenedIsRestoredWithoutAGeneration(t *testing.T) {
	s := openTemp(t)
	from, to := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "parley.db")
	var path string
	if err := s.pool.QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), path, from); err != nil {
		t.Fatal(err)
	}
	if meta, err := Restore(t.Context(), from, to, time.UnixMilli(3)); err != nil || meta.Generation != 0 {
		t.Errorf("got %+v, %v", meta, err)
	}
}

func TestNothingIsRestoredOverWhatIsThere(t *testing.T) {
	from, now := backedUp(t), time.UnixMilli(5000)
	for _, companion := range []string{"", "-wal", "-journal"} {
		to := filepath.Join(t.TempDir(), "parley.db")
		if err := os.WriteFile(to+companion, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), from, to, now); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), to+companion) {
			t.Errorf("beside parley.db%s: got %v, want exists", companion, err)
		}
		if data, err := os.ReadFile(to + companion); err != nil || string(data) != "precious" {
			t.Errorf("parley.db%s holds %q, %v", companion, data, err)
		}
	}
	to := filepath.Join(t.TempDir(), "parley.db")
	held, err := lock(to)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := Restore(t.Context(), from, to, now); !errors.Is(err, store.ErrInUse) {
		t.Errorf("while another host makes it: got %v, want in use", err)
	}
}

func TestADamagedBackupIsNotRestored(t *testing.T) {
	for what, damage := range map[string]string{
		"a broken chain": "UPDATE log SET to_state = 'done:ok' WHERE idx = 1",
		"a broken index": "UPDATE sqlite_schema SET sql = replace(sql, '''''', '''x''') WHERE name = 'exchange_ended'",
	} {
		from, folder := backedUp(t), t.TempDir()
		tamper(t, from, "PRAGMA writable_schema = 1", damage)
		to := filepath.Join(folder, "parley.db")
		_, err := Restore(t.Context(), from, to, time.UnixMilli(5000))
		if damaged, ok := errors.AsType[*DamagedError](err); !ok || len(damaged.Report.Findings) == 0 || damaged.Path != from || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: got %v, want damaged", what, err)
		}
		if names := files(t, folder); fmt.Sprint(names) != "[parley.db.lock]" {
			t.Errorf("%s left %q", what, names)
		}
		// What is whole can be restored there afterwards, also over what a
		// restore left that was cut off.
		if err := os.WriteFile(to+".restoring", []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), backedUp(t), to, time.UnixMilli(5000)); err != nil {
			t.Error(err)
		}
	}
	for what, content := range map[string]string{"an empty file": "", "a text": strings.Repeat("this is no database\n", 100)} {
		from, to := filepath.Join(t.TempDir(), "b.db"), filepath.Join(t.TempDir(), "parley.db")
		if err := os.WriteFile(from, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), from, to, time.UnixMilli(5000)); err == nil {
			t.Errorf("%s was restored", what)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left a store: %v", what, err)
		}
	}
}
