package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// tampered is a copy of a store in which a statement was run.
func tampered(t *testing.T, path, statement string, args ...any) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.db")
	if err := os.WriteFile(changed, data, 0o600); err != nil {
		t.Fatal(err)
	}
	rewrite(t, changed, statement, args...)
	return changed
}

func rewrite(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := openSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed %d rows (%v)", statement, n, err)
	}
}

// relink makes the hash chain of a log fit again: whoever can write the file
// can do that too.
func relink(t *testing.T, path, owner, conversation string) {
	t.Helper()
	s, err := sqlite.Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), owner, conversation, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var head [32]byte
	for _, e := range log {
		head = store.Link(head, e)
		rewrite(t, path, `UPDATE log SET hash = ? WHERE owner = ? AND conversation = ? AND idx = ?`, head[:], owner, conversation, e.Index)
	}
}

func TestAStoreThatWasChangedByHandDivergesWhereItWasChanged(t *testing.T) {
	s := speak(t)
	const ofLog = ` WHERE owner = 'agent://local/planner' AND conversation = ?`
	for name, c := range map[string]struct {
		conversation, statement string
		relinked                bool
		index                   int64
		what                    string
	}{
		"the state of an exchange":        {s.request, `UPDATE exchange SET body = json_set(body, '$.state', 'done:failed')` + ofLog, false, 0, "exchange: state"},
		"a number of an exchange":         {s.request, `UPDATE exchange SET body = json_set(body, '$.received', 9)` + ofLog, false, 0, "exchange: received"},
		"the last word of an exchange":    {s.request, `UPDATE exchange SET final = 'x'` + ofLog, false, 0, "exchange: final"},
		"an exchange that is gone":        {s.request, `DELETE FROM exchange` + ofLog, false, 1, "exchange"},
		"what a message says":             {s.request, `UPDATE log SET envelope = CAST(replace(CAST(envelope AS TEXT), 'piano', 'organ') AS BLOB)` + ofLog + ` AND idx = 1`, false, 1, "envelope"},
		"who a message is to":             {s.request, `UPDATE log SET envelope = CAST(replace(CAST(envelope AS TEXT), '"hop":0', '"hop":1') AS BLOB)` + ofLog + ` AND idx = 1`, false, 1, "digest"},
		"a message that is gone":          {s.request, `UPDATE log SET envelope = NULL` + ofLog + ` AND idx = 2`, false, 2, "envelope"},
		"a state in the log":              {s.request, `UPDATE log SET to_state = 'done:ok'` + ofLog + ` AND idx = 2`, false, 2, "chain"},
		"a state in a log with its chain": {s.request, `UPDATE log SET to_state = 'done:ok'` + ofLog + ` AND idx = 2`, true, 2, "transition"},
		"an event with its chain":         {s.request, `UPDATE log SET event = '?inform~'` + ofLog + ` AND idx = 3`, true, 3, "event"},
		"the time of an entry":            {s.request, `UPDATE log SET at_ms = at_ms + 1` + ofLog + ` AND idx = 1`, false, 1, "chain"},
		"an entry that is gone":           {s.request, `DELETE FROM log` + ofLog + ` AND idx = 2`, false, 3, "order"},
		"an end that is gone":             {s.request, `DELETE FROM log` + ofLog + ` AND kind = 'concluded'`, false, 0, "terminal"},
		"a log that is gone":              {s.request, `DELETE FROM log` + ofLog, false, 0, "log"},
		"a terminal with its chain":       {s.request, `UPDATE log SET note = CAST('{"terminal":"BLOCKED"}' AS BLOB)` + ofLog + ` AND kind = 'concluded'`, true, 4, "terminal"},
		"the note of a gather":            {s.gather, `UPDATE log SET note = CAST(replace(CAST(note AS TEXT), 'DISSENT_RECORDED', 'COMPLETED') AS BLOB)` + ofLog + ` AND kind = 'reduced'`, false, 8, "chain"},
		"a note with its chain":           {s.gather, `UPDATE log SET note = CAST(replace(CAST(note AS TEXT), 'DISSENT_RECORDED', 'COMPLETED') AS BLOB)` + ofLog + ` AND kind = 'reduced'`, true, 8, "reduction: proposed"},
		"a value with its chain":          {s.gather, `UPDATE log SET note = CAST(replace(CAST(note AS TEXT), '"euros":70', '"euros":71') AS BLOB)` + ofLog + ` AND kind = 'reduced'`, true, 8, "reduction: value"},
		"whose errand it was":             {s.request, `UPDATE exchange SET correlation = 'x'` + ofLog, false, 0, "exchange: correlation"},
		"when an exchange ended":          {s.request, `UPDATE exchange SET ended_ms = ended_ms + 1` + ofLog, false, 0, "exchange: end"},
		"a policy with its chain":         {s.gather, `UPDATE log SET note = CAST(replace(CAST(note AS TEXT), '"ALL"', '"MOST"') AS BLOB)` + ofLog + ` AND kind = 'bound'`, true, 1, "binding"},
		"a note that is no note":          {s.auction, `UPDATE log SET note = CAST('[]' AS BLOB)` + ofLog + ` AND kind = 'bound'`, true, 1, "note"},
	} {
		t.Run(name, func(t *testing.T) {
			path := tampered(t, s.here, c.statement, c.conversation)
			if c.relinked {
				relink(t, path, planner, c.conversation)
			}
			got := runCommand(t, "", "conversation", "replay", "-o", "json", "--db", path, c.conversation)
			var out struct{ Replays []replay }
			if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != exitDiverged {
				t.Fatalf("%+v: %v", got, err)
			}
			for _, r := range out.Replays {
				switch d := r.Divergence; {
				case r.Owner != planner:
					if d != nil || r.Digest == "" {
						t.Errorf("%s diverges too: %+v", r.Owner, d)
					}
				case d == nil || d.Index != c.index || d.What != c.what || d.Recorded == d.Folded || r.Digest != "":
					t.Errorf("%+v, want %s at %d", d, c.what, c.index)
				}
			}
			for _, args := range [][]string{nil, {"--step"}, {"--owner", "planner"}} {
				got := runCommand(t, "", append([]string{"conversation", "replay", "--db", path, c.conversation}, args...)...)
				if got.code != exitDiverged || !strings.Contains(got.stdout, c.what+": recorded ") || !strings.Contains(got.stderr, planner+": ") ||
					!strings.Contains(got.stderr, c.what+": recorded ") {
					t.Errorf("%v: %+v", args, got)
				}
			}
			exported := runCommand(t, "", "conversation", "export", "--db", path, c.conversation)
			if exported.code != exitDiverged || exported.stdout != "" || !strings.Contains(exported.stderr, c.what+": recorded ") {
				t.Errorf("export: %+v", exported)
			}
		})
	}
}

func TestADivergenceCannotSteerATerminal(t *testing.T) {
	s := speak(t)
	path := tampered(t, s.here, `UPDATE exchange SET final = ?, peer = peer WHERE conversation = ?`, "\x1b[2J\u009b2J"+hostileText, s.request)
	rewrite(t, path, `UPDATE log SET event = ?, reason = ? WHERE conversation = ? AND idx = 1`, "\x1b[2J\u009b2J"+hostileText, "\x1b[2J", s.again)
	for _, id := range []string{s.request, s.again} {
		for _, args := range [][]string{nil, {"--step"}, {"-o", "json"}} {
			got := runCommand(t, "", append([]string{"conversation", "replay", "--db", path, id}, args...)...)
			if text := strings.ReplaceAll(got.stdout+got.stderr, "\n", ""); got.code != exitDiverged || printable(text) != text {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
}
