package a2a

import (
	"context"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// audited holds the logs of everything under a task of the flights to what they
// say.
func audited(t *testing.T, h *agent.Host, task string) {
	t.Helper()
	list, err := h.Store().Tasks(context.WithoutCancel(t.Context()), flights, task)
	if err != nil || len(list) == 0 {
		t.Fatalf("under the task are %v, %v", list, err)
	}
	for _, x := range list {
		replayed(t, h.Store(), x.Owner, x.Conversation)
	}
}

// replayed folds the log of a conversation to its exchanges.
func replayed(t *testing.T, s store.Store, owner, conversation string) []store.Entry {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	log, err := s.Log(ctx, owner, conversation, 0)
	if err != nil {
		t.Fatal(err)
	}
	exchanges, err := s.Exchanges(ctx, owner, conversation)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transcript.Replay(log, exchanges); err != nil {
		t.Errorf("the log of %s does not fold: %v", owner, err)
	}
	return log
}
