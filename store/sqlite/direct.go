package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// direct is a statement that every step runs. The driver runs it as it is:
// database/sql would guard a connection that is the writer's alone against others,
// and make several things for each call. Only the writer's goroutine uses it.
type direct struct {
	stmt sqldriver.Stmt
	args []sqldriver.NamedValue
}

// directText is SQL and where its prepared form goes.
type directText struct {
	to  *direct
	sql string
}

// prepareDirect prepares texts on the writer's connection.
func prepareDirect(ctx context.Context, on *sql.Conn, texts []directText) error {
	return on.Raw(func(conn any) error {
		c, ok := conn.(sqldriver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("prepare a statement: a %T cannot", conn)
		}
		for _, t := range texts {
			stmt, err := c.PrepareContext(ctx, t.sql)
			if err != nil {
				return fmt.Errorf("prepare %q: %w", t.sql, err)
			}
			t.to.stmt = stmt
		}
		return nil
	})
}

// closeDirect closes the statements that were prepared.
func closeDirect(texts []directText) error {
	var errs []error
	for _, t := range texts {
		if t.to.stmt != nil {
			errs = append(errs, t.to.stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// exec runs the statement and reports whether it changed a row.
func (d *direct) exec(ctx context.Context, args ...any) (changed bool, err error) {
	result, err := d.stmt.(sqldriver.StmtExecContext).ExecContext(ctx, d.bind(args))
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// exists reports whether a query for one number finds a row.
func (d *direct) exists(ctx context.Context, args ...any) (found bool, err error) {
	rows, err := d.stmt.(sqldriver.StmtQueryContext).QueryContext(ctx, d.bind(args))
	if err != nil {
		return false, err
	}
	var one [1]sqldriver.Value
	err = rows.Next(one[:])
	if found = err == nil; errors.Is(err, io.EOF) {
		err = nil
	}
	return found, errors.Join(err, rows.Close())
}

// bind numbers the values and gives the whole numbers among them the one type that
// drivers take.
func (d *direct) bind(args []any) []sqldriver.NamedValue {
	d.args = d.args[:0]
	for i, v := range args {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		d.args = append(d.args, sqldriver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return d.args
}
