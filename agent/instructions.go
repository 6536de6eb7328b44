package agent

import "context"

// Instructions adds to the system message of the agent's model what fn
// returns, each time the model is asked. ctx is the work's: Current(ctx) says
// for whom. What peers said must not be part of it. Several are added in the
// order given; "" adds nothing. A panic ends the exchange as
// failure(permanent, handler-panic).
func Instructions(fn func(ctx context.Context) string) Option {
	return option(func(a *Agent) { a.instructions = append(a.instructions, fn) })
}

// OfferWhen decides, each time the model is asked, which of the agent's tools
// and peers' contracts it may call: the function is offered when fn returns
// true for its name. Several must all agree. ctx is the work's. A function that
// was not offered does not run though the model calls it: the model is told
// (permanent, not-offered). What was offered is recorded with the reply, so a
// later run of the turn, after a crash, judges its calls alike. A panic ends the
// exchange as failure(permanent, handler-panic).
func OfferWhen(fn func(ctx context.Context, function string) bool) Option {
	return option(func(a *Agent) { a.offerWhen = append(a.offerWhen, fn) })
}
