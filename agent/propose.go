package agent

import (
	"context"

	"github.com/parley-agents/parley/protocol"
)

// Propose offers something to another agent and waits for its answer: nil when
// it accepts, *protocol.RejectedError when it does not, whatever the reason, or
// the typed error of another outcome, as Ask. Accepting has effects, so an offer carries a key.
// Everything else is as Ask says.
func Propose[In any](ctx context.Context, from *Agent, to string, o protocol.Offer[In], in In, opts ...AskOption) error {
	q, err := pose(from, to, o, in, opts)
	if err != nil {
		return err
	}
	_, err = q.ask(ctx)
	return err
}

// Consider lets Go code decide on offers: nil accepts, an error made with Refuse
// rejects. Any other error is a failure, as of Handle. The function runs
// as Handle's does, and what accepting sets in motion outside the host must be
// made with EffectKey.
func Consider[In any](o protocol.Offer[In], fn func(ctx context.Context, in In) error) Option {
	return offering(o, map[phase]answer{considering: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
		in, err := read[In](j)
		if err != nil {
			return nil, err
		}
		return nil, fn(ctx, in)
	})})
}
