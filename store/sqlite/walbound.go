package sqlite

import (
	"context"
	"fmt"
	"os"
)

// How the write-ahead log is kept small. SQLite itself folds it into the file
// and starts it anew after a commit that leaves it longer than foldPages, if
// no read still needs what is in it. Past foldBytes some read was in the way:
// then the writer tries between batches, and cuts the log back to nothing.
const (
	foldPages = 4000 // of 4 KiB each: many changes of one page are folded as one
	foldBytes = 32 << 20
)

// patience is how long the writer waits for reads to let go of the log, in
// milliseconds. Short reads that follow each other closely never all pause at
// once, but those that begin meanwhile need nothing of the log. For a read that
// holds on longer it waits again only when the log is half as long again.
const patience = 250

// fold cuts the write-ahead log back if it is too long and no read needs it.
// Nothing depends on it, so that its errors are left to the next try.
func (w *writer) fold(ctx context.Context) {
	info, err := os.Stat(w.log)
	if err != nil || info.Size() < foldBytes {
		w.waitAt = foldBytes
		return
	}
	wait := 0
	if info.Size() >= w.waitAt {
		wait, w.waitAt = patience, info.Size()*3/2
	}
	w.setBusyTimeout(ctx, fmt.Sprint(wait))
	var busy, length, folded int
	_ = w.stmt.fold.QueryRowContext(ctx).Scan(&busy, &length, &folded)
	w.setBusyTimeout(ctx, busyTimeout)
}

func (w *writer) setBusyTimeout(ctx context.Context, ms string) {
	_, _ = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = "+ms)
}
