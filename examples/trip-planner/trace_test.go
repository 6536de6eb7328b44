package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

// Whatever happened on the way, each log folds to what its store has, and each
// conversation has a valid trace at the agent that opened it.
func TestEveryConversationOfATripFoldsAndExports(t *testing.T) {
	dir := t.TempDir()
	if _, errs, code := call(t, sentence, "--yes", "--today", "2026-03-01", "--data", dir, "--faults", "restart-hotel,drop-reply,bad-json,injection"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) != 3 {
		t.Fatalf("stores %v, %v", files, err)
	}
	traces, partial := 0, 0
	for _, file := range files {
		s, err := sqlite.Inspect(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		list, err := s.Conversations(t.Context(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			log, err := s.Log(t.Context(), c.Owner, c.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			exchanges, err := s.Exchanges(t.Context(), c.Owner, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := transcript.Replay(log, exchanges); err != nil {
				t.Errorf("%s at %s: %v", c.ID, c.Owner, err)
			}
			switch _, err := transcript.Export(log, exchanges); {
			case errors.Is(err, transcript.ErrPartialView):
				partial++
			case err != nil:
				t.Errorf("%s at %s: %v", c.ID, c.Owner, err)
			default:
				traces++
			}
		}
	}
	// The trip, two searches and two bookings, each seen from both sides.
	if traces != 5 || partial != 5 {
		t.Errorf("%d traces and %d partial views, want 5 of each", traces, partial)
	}
}
