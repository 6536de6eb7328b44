package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// Code says which rule of a store is broken.
type Code string

// The rules of a store.
const (
	// CodePages: SQLite's own structures are sound.
	CodePages Code = "pages"
	// CodeReference: a row that another one refers to is there.
	CodeReference Code = "reference"
	// CodeChain: the entries of a log are numbered from 1 without a gap, and
	// each has the hash that store.Link makes of it and the one before.
	CodeChain Code = "chain"
	// CodeBody: an envelope has the digest that its entry says, and a blob is
	// called by its sum.
	CodeBody Code = "body"
	// CodeNoLog: an exchange has a log.
	CodeNoLog Code = "exchange-without-log"
	// CodeNoEntry: a message of the outbox is logged as sent.
	CodeNoEntry Code = "message-without-entry"
	// CodeTimer: only a live exchange has a timer.
	CodeTimer Code = "timer-of-ended"
	// CodeLine: a row of the outbox waits if and only if another one stands
	// before it.
	CodeLine Code = "line"
	// CodeStray: somebody refers to a blob.
	CodeStray Code = "blob-without-referrer"
)

// Finding is one place at which a rule is broken.
type Finding struct {
	Code Code
	// Where names the record.
	Where string
	// What says what is wrong with it.
	What string
}

// Report is what Check found.
type Report struct {
	// Findings are at most a hundred of each code, none if all is well.
	Findings []Finding
	// Logs and Entries count what was read.
	Logs    int
	Entries int
}

// maxFindings is how many findings of one code are reported.
const maxFindings = 100

func (r *Report) add(code Code, where, what string) {
	n := 0
	for _, f := range r.Findings {
		if f.Code == code {
			n++
		}
	}
	if n < maxFindings {
		r.Findings = append(r.Findings, Finding{code, where, what})
	}
}

// Check reads the whole store in the file at path and reports what does not
// hold together: SQLite's own structures, the hash chain of every log, the
// digest of every envelope, and records that lack what they belong to. It
// writes nothing and works beside a running host, on the store as it is at one
// moment; while it reads, the host's write-ahead log cannot be folded into the
// file and grows. Where it finds nothing, the report has no findings. A file
// that is so damaged that SQLite cannot read it is a finding, too. An error means
// that the file could not be read otherwise, is no store or has another schema
// than this program's, or that ctx ended first.
func Check(ctx context.Context, path string) (Report, error) {
	var report Report
	err := onFile(ctx, path, url.Values{"mode": {"ro"}, "_query_only": {"true"}}, func(db *sql.DB) error {
		if err := present(ctx, db); err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return errors.Join(checkAll(ctx, tx, &report), tx.Rollback())
	})
	if corrupt(err) { // so damaged that SQLite does not even begin, or goes on, to check it
		report.add(CodePages, "the file", err.Error())
		err = nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("check store %s: %w", path, err)
	}
	return report, nil
}
