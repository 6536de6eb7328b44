package agent

import (
	"context"

	"github.com/parley-agents/parley/protocol"
)

// Handle lets Go code answer a contract. The function is called for each
// accepted message in a goroutine of its own, as soon as one of the host's workers
// is free: once, and again from its start by the next host if this one ended
// before the result was committed. Its context is cancelled when the peer
// cancels, when the deadline passes and when the host stops and has waited long
// enough; a result that it returns after that still counts. What is cancelled
// before its turn comes never runs.
//
// After a crash the function runs again from its start. Ask inside it takes
// its identity from the exchange, so the second run meets the first one's
// conversations; an effect of another kind must be made with EffectKey.
//
// An error made with Refuse or Fail becomes that act. A panic becomes
// failure(permanent, handler-panic), any other error failure(permanent,
// handler); their text stays in the host's log.
func Handle[In, Out any](c protocol.Contract[In, Out], fn func(ctx context.Context, in In) (Out, error)) Option {
	return offering(c, map[phase]answer{answering: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
		in, err := read[In](j)
		if err != nil {
			return nil, err
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return write(ctx, j, j.offer.Result, out)
	})})
}

// Answer lets the agent's model answer a contract of any kind: give a result,
// bid and perform, publish, consider or contribute. The prompt says in plain
// words how; it is the only text that reaches the model's system message, and
// the content of the peer is quoted to it as data.
//
// The model's every move is a function, and only the moves that the protocol
// allows at that moment are offered: whoever is called to bid can propose or
// refuse but not deliver, and a member of a gather can dissent.
func Answer(c Contract, prompt string) Option {
	by := modelAnswer{prompt: prompt}
	answers := map[phase]answer{}
	for _, p := range phasesOf(c.Protocol()) {
		answers[p] = by
	}
	return offering(c, answers)
}
