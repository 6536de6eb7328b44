package agent_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

// audit holds every log of the host to the transition tables: each folds to the
// state that the store has, and each conversation that one of the host's agents
// opened and that has ended has a valid trace. It runs at the end of every test
// of a host, whatever the test is about.
func audit(t *testing.T, h *agent.Host) {
	t.Helper()
	ctx := context.Background()
	s := h.Store()
	owners, err := s.Owners(ctx)
	if errors.Is(err, store.ErrClosed) {
		return // the test dropped the host
	}
	if err != nil {
		t.Errorf("audit: %v", err)
		return
	}
	for _, owner := range owners {
		conversations, err := s.Conversations(ctx, owner, 10_000)
		if err != nil {
			t.Errorf("audit: %v", err)
			return
		}
		for _, c := range conversations {
			auditLog(ctx, t, s, owner, c.ID)
		}
	}
}

func auditLog(ctx context.Context, t *testing.T, s store.Store, owner, conversation string) {
	t.Helper()
	log, exchanges, err := still(ctx, s, owner, conversation)
	if err != nil {
		t.Errorf("audit: %v", err)
		return
	}
	if _, err := transcript.Replay(log, exchanges); err != nil {
		t.Errorf("audit: the log of %s does not fold to its state: %v", owner, err)
		return
	}
	if _, err := transcript.Export(log, exchanges); err != nil && !errors.Is(err, transcript.ErrPartialView) && !errors.Is(err, transcript.ErrLive) {
		t.Errorf("audit: the conversation of %s has no trace: %v", owner, err)
	}
}

// still reads a log and its exchanges at one moment: the host may be working.
func still(ctx context.Context, s store.Store, owner, conversation string) ([]store.Entry, []store.Exchange, error) {
	for {
		before, err := s.Exchanges(ctx, owner, conversation)
		if err != nil {
			return nil, nil, err
		}
		log, err := s.Log(ctx, owner, conversation, 0)
		if err != nil {
			return nil, nil, err
		}
		after, err := s.Exchanges(ctx, owner, conversation)
		if err != nil || reflect.DeepEqual(before, after) {
			return log, after, err
		}
	}
}

// auditFile checks that a store which nobody has open any more holds together.
func auditFile(t *testing.T, path string) {
	t.Helper()
	report, err := sqlite.Check(context.Background(), path)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("audit: %+v, %v", report, err)
	}
}
