package agent

import "context"

// Instructions adds to the system message of the agent's model what fn
// returns, each time the model is asked. ctx is the work's: Current(ctx) says
// for whom. What peers said must not be part of it. Several are added in the
// order given.
func Instructions(fn func(ctx context.Context) string) Option {
	return option(func(a *Agent) { a.instructions = append(a.instructions, fn) })
}

// OfferWhen decides, each time the model is asked, which of the agent's tools
// and peers' contracts it may call: the function is offered when fn returns
// true for its name. Several must all agree.
func OfferWhen(fn func(ctx context.Context, function string) bool) Option {
	return option(func(a *Agent) { a.offerWhen = append(a.offerWhen, fn) })
}
