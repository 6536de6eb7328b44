package sqlite

import (
	"strings"
	"testing"
)

func TestMailboxesAreReadInTheOrderOfTheirIndex(t *testing.T) {
	s := openTemp(t)
	var q mailboxQueries
	for _, text := range q.texts() {
		index, args := "INDEX exchange_mailbox (", make([]any, 4)
		if strings.Contains(text.sql, "correlation = ?4") {
			index = "INDEX exchange_mailbox_of ("
		}
		if strings.Contains(text.sql, "LIMIT ?7") {
			args = make([]any, 7)
		}
		var (
			id, parent, unused int
			step               string
		)
		err := s.writer.conn.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+text.sql, args...).Scan(&id, &parent, &unused, &step)
		if err != nil || !strings.Contains(step, index) || !strings.Contains(step, "moved_ms") {
			t.Errorf("%s: %s, want a search by time of %s (%v)", text.sql, step, index, err)
		}
	}
}
