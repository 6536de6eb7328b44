package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/parley-agents/parley/llm"
)

// Script is an llm.Model that replies as it was told to, one reply a request,
// and remembers what it was asked. It is safe for concurrent use.
type Script struct {
	mu      sync.Mutex
	replies []Reply
	asked   []llm.Request
}

// Reply makes one reply of a Script. It may look at the request, block until
// ctx ends, or fail.
type Reply func(ctx context.Context, r llm.Request) (*llm.Response, error)

// NewScript is a model that gives the replies in their order. A request too
// many gets an *llm.Error.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// Complete implements llm.Model.
func (s *Script) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	n := len(s.asked)
	s.mu.Unlock()
	if n > len(s.replies) {
		return nil, &llm.Error{Kind: llm.ErrorBadRequest, Text: fmt.Sprintf("the script ends after %d replies", len(s.replies))}
	}
	return s.replies[n-1](ctx, r)
}

// Requests are what the model was asked so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Calls is a reply that makes the calls. Their ids are filled in.
func Calls(calls ...llm.Call) Reply {
	return func(context.Context, llm.Request) (*llm.Response, error) {
		made := slices.Clone(calls)
		for i := range made {
			made[i].ID = fmt.Sprintf("call_%d", i+1)
		}
		return &llm.Response{Model: "script", Calls: made, Finish: llm.FinishCalls}, nil
	}
}

// Says is a reply of plain text that calls nothing.
func Says(text string) Reply {
	return func(context.Context, llm.Request) (*llm.Response, error) {
		return &llm.Response{Model: "script", Text: text, Finish: llm.FinishStop}, nil
	}
}

// Fails is a request that the model does not answer.
func Fails(err error) Reply {
	return func(context.Context, llm.Request) (*llm.Response, error) { return nil, err }
}

// Call calls a function with arguments: a string stands as it is, so that it
// may be broken, and anything else is written as JSON. It panics if that is
// not possible.
func Call(function string, arguments any) llm.Call {
	text, ok := arguments.(string)
	if !ok {
		data, err := json.Marshal(arguments)
		if err != nil {
			panic(fmt.Sprintf("agenttest: arguments of %s: %v", function, err))
		}
		text = string(data)
	}
	return llm.Call{Name: function, Arguments: text}
}
