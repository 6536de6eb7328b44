package repair

import (
	"context"
	"time"

	"github.com/parley-agents/parley/llm"
)

// Budget is all that one repair may spend. The zero value is the default.
type Budget struct {
	// Tries is how many times the model may be asked: twice for a part, once for the whole. The default, and the most,
	// is 3; below zero the model is never asked.
	Tries int
	// Tokens is how many output tokens the tries may use together. The default is twice those of the reply that is
	// being repaired (Attempt.Usage), and 4000 at most; 4000 if those are not known.
	Tokens int
	// Deadline is when trying ends, also in the middle of a reply. The zero time means that only the context ends it.
	Deadline time.Time
}

const (
	maxReasks = 2
	maxTries  = maxReasks + 1
	maxTokens = 4000
)

func (b Budget) withDefaults(written llm.Usage) Budget {
	if b.Tries == 0 || b.Tries > maxTries {
		b.Tries = maxTries
	}
	if b.Tokens == 0 {
		b.Tokens = maxTokens
		if written.OutputTokens > 0 {
			b.Tokens = min(2*written.OutputTokens, maxTokens)
		}
	}
	return b
}

// within returns a context that ends at the deadline.
func (b Budget) within(ctx context.Context, now func() time.Time) (context.Context, context.CancelFunc) {
	switch {
	case b.Deadline.IsZero():
		return context.WithCancel(ctx)
	case now == nil:
		return context.WithDeadline(ctx, b.Deadline)
	}
	return context.WithTimeout(ctx, b.Deadline.Sub(now()))
}

// cost is how many tokens a reply counts for: what the endpoint reports or, if it reports nothing, a guess from the
// length, so that silence does not make a model free.
func cost(r *llm.Response) int {
	if r.Usage.OutputTokens > 0 {
		return r.Usage.OutputTokens
	}
	const bytesPerToken = 4
	size := len(r.Text) + len(r.Reasoning)
	for _, call := range r.Calls {
		size += len(call.Name) + len(call.Arguments)
	}
	return size/bytesPerToken + 1
}
