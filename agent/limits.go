package agent

// Limits bound what an agent's model may spend on one exchange, over all the
// lives of its host. A field that is zero has its default, one below zero
// allows nothing.
type Limits struct {
	// Rounds is how many replies, repairs not counted, the model has to end its
	// turn. Default: 16. Then: failure(capacity, budget).
	Rounds int
	// ModelCalls counts every call of the model, repairs included. Default: 32.
	// Then: failure(capacity, budget).
	ModelCalls int
	// Calls is how many functions one reply may call. Default: 16. Those beyond
	// are not made, and the model is told (capacity, too-many-calls).
	Calls int
	// Nudges is how often a reply that ends nothing, cannot be read or does
	// not pass a check is answered with what is wrong. Default: 2. Then:
	// failure(permanent) with the reason model, schema or check.
	Nudges int
	// Tokens bounds input and output tokens together, repairs included, as the
	// endpoint counts them. Default: no bound. A reply that crosses it is not
	// acted on: failure(capacity, budget).
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
	l.Calls, l.Nudges = max(l.Calls, 0), max(l.Nudges, 0)
	return l
}

// Limit sets the limits of the agent's model. The last one given counts.
func Limit(l Limits) Option { return option(func(a *Agent) { a.limits = l }) }
