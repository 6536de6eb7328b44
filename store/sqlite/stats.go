package sqlite

import "sync/atomic"

// Stats counts what a store has done since it was opened.
type Stats struct {
	// Commits are the transactions that were made durable, and Sets the write
	// sets, renewals and other changes in them: Sets divided by Commits is the
	// mean batch.
	Commits, Sets int64
	// Reads are those that SQLite answered: what the store remembered is not among
	// them.
	Reads int64
}

// Stats returns the counts so far. They are zero if the store is only
// inspected. A set counts once its caller is answered.
func (s *Store) Stats() Stats {
	if s.writer == nil {
		return Stats{}
	}
	return Stats{Commits: s.writer.commits.Load(), Sets: s.writer.sets.Load(), Reads: s.writer.reads.Load()}
}

// tally is what Stats reads.
type tally struct{ commits, sets, reads atomic.Int64 }
