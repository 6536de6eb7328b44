package agenttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
)

func TestAScriptGivesItsRepliesInOrderAndRemembersTheRequests(t *testing.T) {
	broken := errors.New("no line")
	s := agenttest.NewScript(agenttest.Says("hello"), agenttest.Fails(broken),
		agenttest.Calls(agenttest.Call("inform", map[string]int{"n": 1}), agenttest.Call("inform", `{"n":`)))
	first, err := s.Complete(t.Context(), llm.Request{MaxTokens: 1})
	if err != nil || first.Text != "hello" || len(first.Calls) != 0 {
		t.Errorf("the first reply is %+v, %v", first, err)
	}
	if _, err := s.Complete(t.Context(), llm.Request{MaxTokens: 2}); !errors.Is(err, broken) {
		t.Errorf("the second reply is %v", err)
	}
	third, err := s.Complete(t.Context(), llm.Request{MaxTokens: 3})
	if err != nil || len(third.Calls) != 2 || third.Calls[0].Arguments != `{"n":1}` || third.Calls[1].Arguments != `{"n":` || third.Calls[0].ID == third.Calls[1].ID {
		t.Errorf("the third reply is %+v, %v", third, err)
	}
	_, err = s.Complete(t.Context(), llm.Request{MaxTokens: 4})
	if failed, ok := errors.AsType[*llm.Error](err); !ok || failed.Kind != llm.ErrorBadRequest {
		t.Errorf("after the end: %v", err)
	}
	for i, r := range s.Requests() {
		if r.MaxTokens != i+1 {
			t.Errorf("request %d is remembered as %+v", i, r)
		}
	}
}

func TestAReplyOfAScriptMayWaitForItsContext(t *testing.T) {
	s := agenttest.NewScript(func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Complete(ctx, llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Complete = %v", err)
	}
}
