package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func TestDoctorFindsWhatWaitsInAStore(t *testing.T) {
	withoutModel(t)
	work := []string{"work.dead-letters", "work.overdue", "work.commands", "work.outbox", "work.webhooks"}
	outgoing := func(age time.Duration, next time.Time) func(context.Context, *sqlite.Store) error {
		return func(ctx context.Context, s *sqlite.Store) error {
			e := entryOf(planner, flights, store.Sent, written(t, messagePending, nil))
			e.At = noon.Add(-age)
			return s.Commit(ctx, store.WriteSet{Entries: []store.Entry{e}, Outbox: []store.Outbox{{Owner: planner, MessageID: messagePending,
				Conversation: conversation1, Receiver: flights, NextAt: next, ExpiresAt: noon.Add(time.Hour)}}})
		}
	}
	command := func(age time.Duration) func(context.Context, *sqlite.Store) error {
		return func(ctx context.Context, s *sqlite.Store) error {
			return s.Post(ctx, store.Command{ID: command1, Verb: store.VerbCancel, Owner: planner, Conversation: conversation2, At: noon.Add(-age)})
		}
	}
	timer := func(at time.Time) func(context.Context, *sqlite.Store) error {
		return func(ctx context.Context, s *sqlite.Store) error {
			x := exchange(planner, conversation2, hotels, "requested", noon.Add(-10*time.Minute))
			x.Version, x.State.Role, x.State.ReplyBy = 1, protocol.Initiator, at
			return s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{*x}})
		}
	}
	webhook := func(failed int) func(context.Context, *sqlite.Store) error {
		return func(ctx context.Context, s *sqlite.Store) error {
			return s.PutCallback(ctx, store.Callback{CallbackKey: store.CallbackKey{Owner: flights, Task: "t1", ID: "1"}, Peer: planner,
				Config: []byte("{}"), Attempt: failed, CreatedAt: noon})
		}
	}
	for name, c := range map[string]struct {
		before func(context.Context, *sqlite.Store) error
		warns  string
	}{
		"nothing":                        {func(context.Context, *sqlite.Store) error { return nil }, ""},
		"a message that leaves soon":     {outgoing(time.Second, noon.Add(time.Second)), ""},
		"a message that nobody sends":    {outgoing(time.Second, noon.Add(-2*time.Minute)), "work.outbox"},
		"a message that never gets in":   {outgoing(time.Hour, noon.Add(time.Second)), "work.outbox"},
		"a command of this moment":       {command(time.Second), ""},
		"a command that nobody obeys":    {command(2 * time.Minute), "work.commands"},
		"a deadline to come":             {timer(noon.Add(time.Second)), ""},
		"a deadline that nobody noticed": {timer(noon.Add(-2 * time.Minute)), "work.overdue"},
		"a webhook that failed before":   {webhook(hopeless - 1), ""},
		"a webhook that always fails":    {webhook(hopeless), "work.webhooks"},
		"a dead letter": {func(ctx context.Context, s *sqlite.Store) error {
			return s.Commit(ctx, store.WriteSet{Bury: []store.DeadLetter{{DeadKey: store.DeadKey{Owner: planner, Source: store.DeadOutbox, Peer: flights,
				MessageID: messageDead}, Reason: "expired", At: noon}}})
		}, "work.dead-letters"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filledStore(t)
			withStore(t, path, c.before)
			status, got := diagnosed(t, "--db", path)
			for _, code := range work {
				want := statusOK
				if code == c.warns {
					want = statusWarn
				}
				if status[code] != want || got.code != exitOK {
					t.Errorf("%s is %q, want %s: %s", code, status[code], want, got.stdout)
				}
			}
		})
	}
}

func TestDoctorCountsWhatItFinds(t *testing.T) {
	withoutModel(t)
	path := workStore(t)
	wantGolden(t, "doctor-work", stable(runCommand(t, "", "doctor", "--db", path).stdout, filepath.Dir(path)))
	for n, want := range map[int]string{0: "no letter", 1: "1 letter", 2: "2 letters", examined: "1000 or more letters"} {
		if got := several(n, "letter", "letters"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestDoctorLooksAtTheFileSystemAndTheWriteAheadLog(t *testing.T) {
	withoutModel(t)
	path := filledStore(t)
	for _, c := range []struct {
		where  filesystem
		err    error
		status string
		code   int
	}{
		{filesystem{free: roomy}, nil, statusOK, exitOK},
		{filesystem{free: roomy - 1}, nil, statusWarn, exitOK},
		{filesystem{kind: "nfs", remote: true, free: 1 << 40}, nil, statusFail, exitFailed},
		{filesystem{kind: "fuse", free: 1 << 40}, nil, statusWarn, exitOK},
		{filesystem{}, errors.New("no such folder"), statusWarn, exitOK},
	} {
		var stdout bytes.Buffer
		p := process{stdout: &stdout, stderr: &bytes.Buffer{}, now: func() time.Time { return noon },
			filesystem: func(folder string) (filesystem, error) {
				if folder != filepath.Dir(path) {
					t.Errorf("asked about %s", folder)
				}
				return c.where, c.err
			}}
		code := p.run(t.Context(), []string{"doctor", "-o", "json", "--db", path})
		var out struct{ Findings []finding }
		must(t, json.Unmarshal(stdout.Bytes(), &out))
		for _, f := range out.Findings {
			if f.Code == "store.filesystem" && (f.Status != c.status || code != c.code) {
				t.Errorf("%+v: exit code %d, %+v", c.where, code, f)
			}
		}
	}
	for size, want := range map[int64]string{longWAL: statusOK, longWAL + 1: statusWarn} {
		must(t, os.WriteFile(path+"-wal", nil, 0o600))
		must(t, os.Truncate(path+"-wal", size))
		link := filepath.Join(t.TempDir(), "link.db")
		must(t, os.Symlink(path, link))
		for _, name := range []string{path, link} {
			if f := examineWAL(name); f.Status != want {
				t.Errorf("%d bytes: %+v", size, f)
			}
		}
	}
}
