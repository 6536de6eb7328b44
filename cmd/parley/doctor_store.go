package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func (p process) examineStore(ctx context.Context, db string) []finding {
	durable := finding{"store.durable", statusOK, "a store in this folder has a write-ahead log and synchronous=FULL", ""}
	if err := probe(ctx, filepath.Dir(db)); err != nil {
		durable = finding{durable.Code, statusFail, err.Error(), "use a local disk that this user may write to"}
	}
	info, err := os.Stat(db)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{{"store.file", statusWarn, db + " is not there yet", "a host makes it when it starts; else name it with --db or PARLEY_DB"}, durable}
	case err != nil:
		return []finding{{"store.file", statusFail, err.Error(), "make the file readable for this user"}, durable}
	case !info.Mode().IsRegular():
		return []finding{{"store.file", statusFail, db + " is not a file", "name the store's file with --db or PARLEY_DB"}, durable}
	}
	settings, err := readSettings(ctx, db)
	if err != nil {
		return []finding{{"store.file", statusFail, fmt.Sprintf("%s cannot be read: %v", db, err), "see that this user may read the file and write to its folder; a damaged store is restored from a backup"}, durable}
	}
	return []finding{
		{"store.file", statusOK, db + " opens", ""},
		storeSchema(ctx, db, settings.version),
		journal(settings.journal),
		durable,
		permissions(info.Mode()),
		examineWAL(db),
	}
}

func storeSchema(ctx context.Context, db string, version int) finding {
	f := finding{"store.schema", statusOK, "schema version " + strconv.Itoa(version), ""}
	s, err := inspect(ctx, db)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		f.Status, f.Text, f.Hint = statusFail, err.Error(), "use the version of parley that the store's hosts use"
	}
	return f
}

func journal(mode string) finding {
	f := finding{"store.journal", statusOK, "journal mode " + mode, ""}
	if mode != "wal" {
		f.Status, f.Hint = statusWarn, "a host switches to wal when it starts"
	}
	return f
}

func permissions(mode fs.FileMode) finding {
	f := finding{"store.permissions", statusOK, "file mode " + mode.Perm().String(), ""}
	switch {
	case mode.Perm()&0o022 != 0:
		f.Status, f.Hint = statusFail, "others can change it: chmod 600"
	case mode.Perm()&0o044 != 0:
		f.Status, f.Hint = statusWarn, "others can read the agents' keys: chmod 600"
	}
	return f
}

// skew is how far clocks may differ.
const skew = time.Second

// released is before the first version of this program.
func released() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// examineClock compares the clock with what must lie before it.
func (p process) examineClock(db string) finding {
	now := p.now()
	f := finding{"clock", statusOK, "the clock says " + moment(now.Truncate(time.Second)), ""}
	before, what := released(), "this program was made"
	if info, err := os.Stat(db); err == nil && info.ModTime().After(before) {
		before, what = info.ModTime(), "the store was written"
	}
	if now.Add(skew).Before(before) {
		f.Status = statusFail
		f.Text += ", which is before " + what
		f.Hint = "set the clock: deadlines and tokens depend on it"
	}
	return f
}
