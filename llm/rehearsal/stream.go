package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// piece is how many characters of text a chunk of a stream carries.
const piece = 24

// course is what befalls an answer on its way.
type course struct {
	delay     time.Duration // before each chunk but the first
	brokenOff bool
	failing   bool
}

// stream writes the completion as server-sent events.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, c *completion, withUsage bool, fate course) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	control := http.NewResponseController(w)
	send := func(event any) {
		data, _ := json.Marshal(event) // maps, strings and numbers always encode
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = control.Flush()
	}
	chunks := c.chunks(withUsage)
	ends := len(chunks) // how many are sent
	if fate.brokenOff || fate.failing {
		ends = 1 + min(1, len(c.deltas()))
	}
	for i, chunk := range chunks[:ends] {
		if i > 0 && !s.wait(ctx, fate.delay) {
			fate.failing, fate.brokenOff = true, false // the server stops
			break
		}
		send(chunk)
	}
	switch {
	case fate.brokenOff:
		panic(http.ErrAbortHandler) // how a handler closes its connection
	case fate.failing:
		send(unavailable.body())
	default:
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
		_ = control.Flush()
	}
}

// chunks are the events of the completion: its role, its pieces, why it ended, and
// its usage if that is asked for.
func (c *completion) chunks(withUsage bool) []any {
	var out []any
	chunk := func(choices []any, usage any) {
		event := map[string]any{"id": c.id, "object": "chat.completion.chunk", "created": 0, "model": c.model, "choices": choices}
		if withUsage {
			event["usage"] = usage
		}
		out = append(out, event)
	}
	delta := func(d map[string]any, finish any) {
		chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, d := range c.deltas() {
		delta(d, nil)
	}
	delta(map[string]any{}, c.finish)
	if withUsage {
		chunk([]any{}, c.usage())
	}
	return out
}

// deltas are the pieces of the reply.
func (c *completion) deltas() []map[string]any {
	var out []map[string]any
	for _, s := range pieces(c.text) {
		out = append(out, map[string]any{"content": s})
	}
	for _, s := range pieces(c.refusal) {
		out = append(out, map[string]any{"refusal": s})
	}
	for i, call := range c.calls {
		part := func(id string, function map[string]any) {
			one := map[string]any{"index": i, "function": function}
			if id != "" {
				one["id"], one["type"] = id, "function"
			}
			out = append(out, map[string]any{"tool_calls": []any{one}})
		}
		if call.asObject {
			part(call.id, call.function())
			continue
		}
		part(call.id, map[string]any{"name": call.name, "arguments": ""})
		for _, s := range pieces(call.arguments) {
			part("", map[string]any{"arguments": s})
		}
	}
	return out
}

func pieces(s string) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; {
		n := min(piece, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}
