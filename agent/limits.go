package agent

// Limits bound what an agent's model may spend on one exchange. A field that
// is zero has its default.
type Limits struct {
	// Rounds is how often the model may be asked before it ends its turn.
	// Default: 16.
	Rounds int
	// ModelCalls counts every call of the model, repairs included. Default: 32.
	ModelCalls int
	// Calls is how many functions one reply may call. Default: 16.
	Calls int
	// Nudges is how often a reply that ends nothing, cannot be read or does
	// not pass a check is answered with what is wrong. Default: 2.
	Nudges int
	// Tokens bounds input and output tokens together, as the endpoint counts
	// them. Default: no bound.
	Tokens int
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, fallback int) {
		if *v == 0 {
			*v = fallback
		}
	}
	set(&l.Rounds, 16)
	set(&l.ModelCalls, 32)
	set(&l.Calls, 16)
	set(&l.Nudges, 2)
	return l
}

// Limit sets the limits of the agent's model. What exceeds them ends the
// exchange as failure(capacity, budget).
func Limit(l Limits) Option { return option(func(a *Agent) { a.limits = l }) }
