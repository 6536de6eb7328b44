package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// querier is a connection, or a transaction on one.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func checkAll(ctx context.Context, on querier, report *Report) error {
	if err := checkPages(ctx, on, report); err != nil {
		return err
	}
	if len(report.Findings) > 0 {
		return nil // what is read from damaged pages says nothing
	}
	for _, check := range []func(context.Context, querier, *Report) error{checkReferences, checkRecords, checkBlobs, checkLogs} {
		if err := check(ctx, on, report); err != nil {
			return err
		}
	}
	return nil
}

// every runs a query and looks at each row that it finds.
func every(ctx context.Context, on querier, query string, look func(row) error) (err error) {
	rows, err := on.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := look(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func checkPages(ctx context.Context, on querier, report *Report) error {
	return every(ctx, on, fmt.Sprintf("PRAGMA integrity_check(%d)", maxFindings), func(r row) error {
		what, err := scanText(r)
		if err == nil && what != "ok" {
			report.add(CodePages, "the file", what)
		}
		return err
	})
}

func checkReferences(ctx context.Context, on querier, report *Report) error {
	return every(ctx, on, "PRAGMA foreign_key_check", func(r row) error {
		var (
			table, target string
			id            sql.NullInt64
			number        int
		)
		err := r.Scan(&table, &id, &target, &number)
		if err == nil {
			report.add(CodeReference, fmt.Sprintf("row %d of table %s", id.Int64, table), "it refers to a row of table "+target+" that is not there")
		}
		return err
	})
}

// strays are queries for records that lack something. Each gives a text that
// names one.
func strays() []struct {
	code        Code
	query, what string
} {
	// Two queries, since only the later entries have an index.
	const sentIn = `l.owner = o.owner AND l.conversation = o.conversation AND l.message_id = o.message_id
		AND l.message_id <> '' AND l.kind = 'sent' AND l.peer = o.receiver`
	return []struct {
		code        Code
		query, what string
	}{
		{CodeNoLog, `SELECT 'the exchange of ' || owner || ' with ' || peer || ' in conversation ' || conversation FROM exchange x
			WHERE NOT EXISTS (SELECT 1 FROM log l WHERE l.owner = x.owner AND l.conversation = x.conversation)`, "its conversation has no log"},
		{CodeNoEntry, `SELECT 'message ' || message_id || ' in the outbox of ' || owner FROM outbox o
			WHERE NOT EXISTS (SELECT 1 FROM log l WHERE ` + sentIn + ` AND l.idx <= ` + firstEntries + `)
			AND NOT EXISTS (SELECT 1 FROM log l INDEXED BY log_message WHERE ` + sentIn + ` AND l.idx > ` + firstEntries + `)`, "no entry of the log says that it was sent"},
		{CodeTimer, `SELECT 'timer ' || timer || ' of ' || owner || ' with ' || peer || ' in conversation ' || conversation FROM exchange
			WHERE due_ms IS NOT NULL AND outcome <> ''`, "its exchange has ended"},
		{CodeLine, `SELECT 'message ' || message_id || ' in the outbox of ' || owner FROM outbox o
			WHERE o.status = 'pending' AND o.waits <> (o.overtakes = 0 AND EXISTS (SELECT 1 FROM ` + line + ` = (o.owner, o.conversation, o.receiver)
			AND e.id < o.id))`, "whether it waits is not what the messages before it say"},
		{CodeStray, `SELECT 'blob ' || lower(hex(sum)) FROM blob b WHERE NOT EXISTS (SELECT 1 FROM log l WHERE l.blob = b.sum)
			AND NOT EXISTS (SELECT 1 FROM dead_letter d WHERE d.blob = b.sum)`, "nobody refers to it"},
	}
}

func checkRecords(ctx context.Context, on querier, report *Report) error {
	for _, stray := range strays() {
		err := every(ctx, on, stray.query+fmt.Sprint(" LIMIT ", maxFindings), func(r row) error {
			where, err := scanText(r)
			if err == nil {
				report.add(stray.code, where, stray.what)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look for %s: %w", stray.code, err)
		}
	}
	return nil
}

func checkBlobs(ctx context.Context, on querier, report *Report) error {
	return every(ctx, on, "SELECT sum, body FROM blob", func(r row) error {
		var name, body []byte
		if err := r.Scan(&name, &body); err != nil {
			return err
		}
		if got := sha256.Sum256(body); !bytes.Equal(got[:], name) {
			report.add(CodeBody, fmt.Sprintf("blob %x", name), fmt.Sprintf("its bytes have the sum %x", got))
		}
		return nil
	})
}

// checkLogs follows the chain of every log. The first break of a chain is
// reported, since all that follows rests on it.
func checkLogs(ctx context.Context, on querier, report *Report) error {
	var (
		last   store.Entry
		broken bool
	)
	return every(ctx, on, "SELECT "+entryColumns+" FROM log ORDER BY owner, conversation, idx", func(r row) error {
		report.Entries++
		e, err := scanEntry(r)
		if err != nil && !errors.Is(err, errBody) {
			report.add(CodeChain, "the entry behind "+placeOf(last), err.Error())
			broken = true
			return nil
		}
		if e.Owner != last.Owner || e.Conversation != last.Conversation {
			last, broken = store.Entry{Owner: e.Owner, Conversation: e.Conversation}, false
			report.Logs++
		}
		where := placeOf(e)
		switch {
		case broken:
		case e.Index != last.Index+1:
			report.add(CodeChain, where, fmt.Sprintf("expected entry %d", last.Index+1))
			broken = true
		case e.Hash != store.Link(last.Hash, e):
			report.add(CodeChain, where, "its hash is not that of the entry and the one before")
			broken = true
		}
		if err != nil {
			report.add(CodeBody, where, err.Error())
		} else {
			checkBody(e, where, report)
		}
		last = e
		return nil
	})
}

func placeOf(e store.Entry) string {
	return fmt.Sprintf("entry %d of the log of %s in conversation %s", e.Index, e.Owner, e.Conversation)
}

// checkBody compares an envelope with the digest in the chain, which covers it.
func checkBody(e store.Entry, where string, report *Report) {
	if len(e.Envelope) == 0 {
		return
	}
	sealed, err := envelope.Decode(e.Envelope)
	switch {
	case err != nil:
		report.add(CodeBody, where, fmt.Sprintf("its envelope cannot be read: %v", err))
	case sealed.Digest() != e.Digest:
		report.add(CodeBody, where, fmt.Sprintf("its envelope has digest %s, expected %s", sealed.Digest(), e.Digest))
	}
}
