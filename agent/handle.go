package agent

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// answer is how an offer is answered: by Go code or by the model.
type answer interface {
	// answer returns the canonical content of the result, or an error that
	// says which act ends the exchange.
	answer(ctx context.Context, j *job, o *offer, input []byte) (result, error)
}

// result is what the work on an exchange produced.
type result struct {
	content []byte
	model   *authorship
}

// Handle lets Go code answer a contract. The function is called for each
// accepted message in a goroutine of its own: once, and again from its start
// by the next host if this one ended before the result was committed. Its context is cancelled when
// the peer cancels, when the deadline passes and when the host stops; what it
// returns after a cancel still counts if it had finished.
//
// After a crash the function runs again from its start. Ask inside it takes
// its identity from the exchange, so the second run meets the first one's
// conversations; an effect of another kind must be made with EffectKey.
//
// An error made with Refuse or Fail becomes that act. A panic becomes
// failure(permanent, handler-panic), any other error failure(permanent,
// handler); their text stays in the host's log.
func Handle[In, Out any](c protocol.Contract[In, Out], fn func(ctx context.Context, in In) (Out, error)) Option {
	return option(func(a *Agent) {
		bound, err := bind(c)
		a.offer(bound, err, goAnswer(func(ctx context.Context, o *offer, input []byte) ([]byte, error) {
			in, err := schema.Decode[In](o.ReadInput(), input)
			if err != nil {
				return nil, fmt.Errorf("reading what %s takes: %w", o.Name, err)
			}
			out, err := fn(ctx, in)
			if err != nil {
				return nil, err
			}
			content, err := schema.Encode(o.Result, out)
			if err != nil {
				return nil, fmt.Errorf("writing what %s returns: %w", o.Name, err)
			}
			if err := a.checked(ctx, o, content); err != nil {
				return nil, fmt.Errorf("checking what %s returns: %w", o.Name, err)
			}
			return content, nil
		}))
	})
}

type goAnswer func(ctx context.Context, o *offer, input []byte) ([]byte, error)

func (f goAnswer) answer(ctx context.Context, _ *job, o *offer, input []byte) (result, error) {
	content, err := f(ctx, o, input)
	return result{content: content}, err
}

// Answer lets the agent's model answer a contract. The prompt says in plain
// words how; it is the only text that reaches the model's system message, and
// the content of the peer is quoted to it as data.
func Answer[In, Out any](c protocol.Contract[In, Out], prompt string) Option {
	return option(func(a *Agent) {
		bound, err := bind(c)
		a.offer(bound, err, modelAnswer{prompt: prompt})
	})
}
