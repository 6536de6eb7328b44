package agenttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// Replayable lets Replay and Reexecute stand in for the agent's model and
// tools. Give it to agent.New before all other options, so that no layer of the
// agent's own sees a recorded reply a second time. Outside a replay it does
// nothing.
func Replayable() agent.Option {
	return agent.Around(agent.Layer{
		Model: func(ctx context.Context, r llm.Request, next func(context.Context, llm.Request) (*llm.Response, error)) (*llm.Response, error) {
			run := rerunOf(ctx)
			if run == nil {
				return next(ctx, r)
			}
			return run.complete(ctx, r)
		},
		Tool: func(ctx context.Context, c agent.ToolCall, next func(context.Context, agent.ToolCall) (json.RawMessage, error)) (json.RawMessage, error) {
			run := rerunOf(ctx)
			if run == nil {
				return next(ctx, c)
			}
			// Had it been called then, its result would have been found.
			run.mu.Lock()
			m := run.current.tool(c.Tool, string(c.Arguments))
			run.mu.Unlock()
			return nil, run.fail(m)
		},
	})
}

// complete gives the next recorded reply, if the model is asked as it was then.
func (run *rerun) complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	run.mu.Lock()
	w := run.current
	_, stopped := w.main.interruption()
	miss := w.asks(r)
	if miss == nil && w.served < len(w.replies) {
		said := w.replies[w.served].Response
		w.served++
		run.mu.Unlock()
		return &said, nil
	}
	failed := w.modelFailed()
	run.mu.Unlock()
	switch {
	case miss != nil:
	case stopped: // it was being asked when the work was told to stop
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case failed != nil:
		return nil, failed
	default:
		miss = w.exhausted()
	}
	return nil, run.fail(miss)
}

// modelFailed is what the model failed with when it was asked for more than
// the record has replies, nil if that was not the end of the work.
func (w *work) modelFailed() *llm.Error {
	h := w.main.act()
	if h == nil || h.message.Act() != envelope.Failure || h.message.Header().Error.Reason != "model" {
		return nil
	}
	if h.message.Header().Error.Code == envelope.CodeTransient {
		return &llm.Error{Kind: llm.ErrorUnavailable, Text: "as it was then"}
	}
	return &llm.Error{Kind: llm.ErrorBadRequest, Text: "as it was then"}
}

func (w *work) exhausted() *MissError {
	m := &MissError{Kind: MissReply, Exchange: w.main.key, Name: fmt.Sprint(len(w.replies) + 1)}
	if n := len(w.replies); n > 0 {
		m.Nearest, m.Recorded = w.replies[n-1].Name, text(w.replies[n-1].Calls)
	}
	return m
}

// asked are the digests of a request to a model, SHA-256 in hex: of the system
// message without the paragraph that explains the marks, and of each function
// offered.
type asked struct {
	System    string            `json:"system"`
	Functions map[string]string `json:"functions"`
}

func digests(r llm.Request) *asked {
	a := &asked{Functions: map[string]string{}}
	system := ""
	if len(r.Messages) > 0 && r.Messages[0].Role == llm.RoleSystem {
		system = r.Messages[0].Text
	}
	// The last paragraph has the nonce of this one prompt.
	a.System = digest(system[:max(0, strings.LastIndex(system, "\n\n"))])
	for _, f := range r.Functions {
		a.Functions[f.Name] = digest(f.Name + "\x00" + f.Description + "\x00" + string(f.Parameters))
	}
	return a
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// asks compares what the model is asked now with what it was asked then, as
// far as the record says.
func (w *work) asks(r llm.Request) *MissError {
	if r.Choice != llm.ChoiceRequired && r.Choice != llm.ChoiceAuto {
		m := &MissError{Kind: MissReply, Exchange: w.main.key, Name: string(r.Choice), Want: text(lastText(r))}
		if w.served > 0 {
			m.Nearest, m.Recorded = w.replies[w.served-1].Name, text(w.replies[w.served-1].Calls)
		}
		return m
	}
	if m := w.called(r); m != nil {
		return m
	}
	if w.served == len(w.replies) {
		return nil
	}
	then := w.replies[w.served]
	now, was := map[string]any{}, map[string]any{}
	if then.Offered != nil {
		now["offered"], was["offered"] = set(names(r.Functions)), set(then.Offered)
	}
	if prompt := w.prompt(); prompt != "" {
		was["prompt"], now["prompt"] = prompt, prompted(r, prompt)
	}
	if then.Asked != nil {
		is := digests(r)
		now["system"], was["system"] = is.System, then.Asked.System
		now["functions"], was["functions"] = is.Functions, then.Asked.Functions
	}
	if d := differences(text(now), text(was)); len(d) > 0 {
		return &MissError{Kind: MissReply, Exchange: w.main.key, Name: then.Name, Want: text(now), Nearest: then.Name, Recorded: text(was), Differences: d}
	}
	return nil
}

// prompt is the digest of the prompt under which the next act was made, if the
// act says so.
func (w *work) prompt() string {
	h := w.main.act()
	if h == nil || h.message.Header().Provenance == nil {
		return ""
	}
	return h.message.Header().Provenance.Prompt
}

// prompted is the recorded digest if the system message begins with a text of
// that digest.
func prompted(r llm.Request, recorded string) string {
	if len(r.Messages) == 0 {
		return ""
	}
	system := r.Messages[0].Text
	for i := range system {
		if strings.HasPrefix(system[i:], "\n\n") && "sha256:"+digest(system[:i]) == recorded {
			return recorded
		}
	}
	return "another"
}

// called compares the calls that came of the last reply with those of then.
func (w *work) called(r llm.Request) *MissError {
	i := len(r.Messages) - 1
	for ; i >= 0 && r.Messages[i].Role != llm.RoleAssistant; i-- {
	}
	if i < 0 || w.served == 0 {
		return nil
	}
	then := w.replies[w.served-1]
	for n, now := range r.Messages[i].Calls {
		if n >= len(then.Calls) {
			break
		}
		was := then.Calls[n]
		if refused(r.Messages[i:], now.ID) {
			if w.has(store.Result, place(then.Name, n)) {
				return w.other(was.Name, "null")
			}
			continue
		}
		args := []byte(was.Arguments)
		if n < len(then.Mended) && then.Mended[n].Arguments != nil {
			args = then.Mended[n].Arguments
		}
		if !json.Valid(args) {
			continue // what it was mended to is not recorded
		}
		if slices.Contains(then.Offered, was.Name) && was.Name != now.Name || len(differences(now.Arguments, string(args))) > 0 {
			return w.other(now.Name, now.Arguments)
		}
	}
	return nil
}

// refused reports whether the runtime answered a call itself instead of making
// it.
func refused(messages []llm.Message, callID string) bool {
	for _, m := range messages {
		if m.Role == llm.RoleTool && m.CallID == callID {
			mark, _, _ := strings.Cut(m.Text, "\n")
			return strings.Contains(mark, ` from="parley" `)
		}
	}
	return false
}

// other is the miss of a call that the model did not make so.
func (w *work) other(name, args string) *MissError {
	m := w.tool(name, args)
	if strings.Contains(name, "__") {
		m.Kind = MissQuestion
	}
	return m
}

func names(list []llm.Function) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.Name
	}
	return out
}

func set(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

func lastText(r llm.Request) string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}
