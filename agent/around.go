package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// panicked is a panic as an error. Its text is for the operator alone.
func panicked(p any) error { return fmt.Errorf("panic: %v", p) }

// ToolCall is one call of an agent's own tool.
type ToolCall struct {
	Tool      string
	Arguments json.RawMessage
}

// Act is an act that an agent decided on, before it is sealed.
type Act struct {
	Performative envelope.Performative
	// Contract is the name of the contract it belongs to, To its receiver.
	Contract string
	To       string
	// Content is what it says, nil for a refusal or failure.
	Content json.RawMessage
	// Code and Reason are those of a refusal or failure.
	Code   envelope.Code
	Reason string
}

// Layer wraps what an agent does. A nil field wraps nothing. Each function
// sees the call, may change it before it hands it to next, may change what
// comes back, and may veto by returning an error without calling next. One that
// returns neither an error nor anything that next, or it, has made vetoes too,
// as Refuse(envelope.CodeAuth, "policy") would. It runs in the goroutine of the
// work, must end when ctx does, and may be called from several goroutines at
// once. A panic in it is what a handler's panic is, and for Act an error.
type Layer struct {
	// Model wraps a call of the model, those of repair included; an error that
	// is no *llm.Error ends the turn as if a handler had returned it. What is
	// streamed to watchers is what the layers let through, once it is whole.
	Model func(ctx context.Context, r llm.Request, next func(context.Context, llm.Request) (*llm.Response, error)) (*llm.Response, error)
	// Tool wraps a call of an own tool; its error is told as the tool's own.
	// Changed arguments are checked against the tool's schema again; which tool
	// it is cannot be changed.
	Tool func(ctx context.Context, c ToolCall, next func(context.Context, ToolCall) (json.RawMessage, error)) (json.RawMessage, error)
	// Act wraps an act that opens an exchange or ends one. Changed content is
	// checked against the contract's schema again; performative, contract and
	// receiver cannot be changed, nor the content of a refusal or failure. A
	// veto of an opening act is returned to whoever asked, a model hears it as a
	// refusal, and nothing is sent; a veto of an ending one becomes what the
	// error would be if a handler returned it: Refuse, Fail, or an incident. A
	// result that is kept back is a failure even then: the work was done.
	Act func(ctx context.Context, a Act, next func(context.Context, Act) error) error
}

// Around puts a layer around what the agent does. The first one given is the
// outermost.
func Around(l Layer) Option { return option(func(a *Agent) { a.layers = append(a.layers, l) }) }

// errPolicy is the veto of a layer that says nothing.
var errPolicy = Refuse(envelope.CodeAuth, "policy")

// layered reports whether a layer wraps the model.
func (a *Agent) layered() bool {
	return slices.ContainsFunc(a.layers, func(l Layer) bool { return l.Model != nil })
}

// through is the agent's model behind its layers, as repair asks it.
type through struct{ agent *Agent }

func (t through) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	return t.agent.callModel(ctx, r, t.agent.model.Complete)
}

// callModel calls the model through the layers.
func (a *Agent) callModel(ctx context.Context, r llm.Request, last func(context.Context, llm.Request) (*llm.Response, error)) (*llm.Response, error) {
	next := last
	for i := len(a.layers) - 1; i >= 0; i-- {
		if wrap := a.layers[i].Model; wrap != nil {
			inner := next
			next = func(ctx context.Context, r llm.Request) (*llm.Response, error) { return wrap(ctx, r, inner) }
		}
	}
	reply, err := next(ctx, r)
	switch {
	case err == nil && reply == nil && a.layered():
		return nil, errPolicy
	case err == nil && reply == nil:
		return nil, &llm.Error{Kind: llm.ErrorOutputInvalid, Text: "the model returned no reply"}
	}
	return reply, err
}

// callTool calls a tool through the layers.
func (a *Agent) callTool(ctx context.Context, t *tool, args []byte) ([]byte, error) {
	next := func(ctx context.Context, c ToolCall) (json.RawMessage, error) { return t.run(ctx, c.Arguments) }
	for i := len(a.layers) - 1; i >= 0; i-- {
		if wrap := a.layers[i].Tool; wrap != nil {
			inner := next
			next = func(ctx context.Context, c ToolCall) (json.RawMessage, error) { return wrap(ctx, c, inner) }
		}
	}
	out, err := next(ctx, ToolCall{Tool: t.name, Arguments: args})
	if err == nil && out == nil {
		return nil, errPolicy
	}
	return out, err
}

// passAct takes an act of the exchange k through the layers and returns it as
// they leave it.
func (a *Agent) passAct(ctx context.Context, k store.Key, act Act) (passed Act, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
			a.host.report(ctx, HandlerPanicked, k, err, slog.String("contract", act.Contract), slog.String("stack", string(debug.Stack())))
		}
	}()
	passed = act
	next := func(_ context.Context, act Act) error {
		passed = act
		return nil
	}
	vetoed := true
	last := next
	next = func(ctx context.Context, act Act) error {
		vetoed = false
		return last(ctx, act)
	}
	for i := len(a.layers) - 1; i >= 0; i-- {
		if wrap := a.layers[i].Act; wrap != nil {
			inner := next
			next = func(ctx context.Context, act Act) error { return wrap(ctx, act, inner) }
		}
	}
	err = next(ctx, act)
	if err == nil && vetoed {
		err = errPolicy
	}
	// Who an act is from, and which act it is, is not a layer's to change.
	passed.Performative, passed.Contract, passed.To = act.Performative, act.Contract, act.To
	return passed, err
}
