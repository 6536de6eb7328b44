package agent

import (
	"context"
	"errors"

	"github.com/parley-agents/parley/protocol"
)

// errDissent comes with a contribution that disagrees.
var errDissent = errors.New("the contribution dissents")

// Dissent makes a member's contribution one that disagrees: the function given
// to Contribute returns what it returns. The gather keeps it apart from the
// others.
func Dissent[Contribution any](c Contribution) (Contribution, error) { return c, errDissent }

// Contribute lets Go code take part in gathers. What the function returns is
// its contribution; to disagree it returns Dissent(c). An error made with Refuse
// or Fail, and any other error, abstains. It runs as Handle's does, once for
// each gather, and its context is cancelled when the gather is fenced without
// it.
func Contribute[In, Contribution any](g protocol.Gathering[In, Contribution], fn func(ctx context.Context, in In) (Contribution, error)) Option {
	return offering(g, map[phase]answer{contributing: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
		in, err := read[In](j)
		if err != nil {
			return nil, err
		}
		c, said := fn(ctx, in)
		if said != nil && !errors.Is(said, errDissent) {
			return nil, said
		}
		content, err := write(ctx, j, j.offer.Contribution, c)
		if err != nil {
			return nil, err
		}
		return content, said
	})})
}
