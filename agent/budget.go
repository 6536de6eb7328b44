package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// Budget bounds what one conversation may take of an agent, over all of the
// agent's exchanges in it and all lives of its host. A field that is zero has its
// default. Each conversation that the work opens has a budget of its own; how far
// that can go is what Hops bounds.
type Budget struct {
	// Messages bounds what is sent and received. One that comes beyond them is
	// answered with nack(capacity, budget), what a handler tells beyond them is an
	// error; there is always room for the acts that end the conversation. Where it
	// has several exchanges, what comes in all of them at one moment may cross the
	// bound by one each. Default: 1,000 for each exchange.
	Messages int
	// Tokens bounds the input and output tokens of the models that answer, repairs
	// included, as their endpoints count them: failure(capacity, budget). A reply
	// that crosses it is not acted on. What Judge asks is not counted. Default: no
	// bound.
	Tokens int
	// Cost bounds the same in money, by Prices; a reply of a model that has no
	// price there may cost anything and crosses it. Default: no bound.
	Cost float64
	// Prices are those of each model, under the name by which it answers, and
	// under "" that of all others. Default: none.
	Prices map[string]Price
	// Time is how long after its first message a handler or model may work for
	// the conversation: it is told to stop then, and what it does not answer itself
	// is failure(capacity, budget). Default: until the deadline.
	Time time.Duration
	// Hops is the deepest delegation that is answered; beyond it: refuse(permanent,
	// hop-limit). Default: 8.
	Hops int
}

// Price is what a million tokens cost, in the currency of Budget.Cost.
type Price struct{ Input, Output float64 }

// Spend bounds what a conversation may take of the agent. The last one given
// counts. One that cannot be kept, such as a cost without prices, is reported
// when the host starts.
func Spend(b Budget) Option { return option(func(a *Agent) { a.budget = b }) }

// checkBudget reports what is wrong with the agent's budget.
func (a *Agent) checkBudget() {
	b := a.budget
	if b.Messages < 0 || b.Tokens < 0 || b.Cost < 0 || b.Time < 0 || b.Hops < 0 {
		a.fault("a budget is below zero: %+v", b)
	}
	if b.Cost > 0 && len(b.Prices) == 0 {
		a.fault("the cost of a conversation is bounded, but no model has a price")
	}
	for model, p := range b.Prices {
		if p.Input < 0 || p.Output < 0 {
			a.fault("the price of model %q is below zero", model)
		}
	}
}

// spending is what models have taken.
type spending struct {
	usage llm.Usage
	cost  float64
	// unpriced: a model without a price has answered.
	unpriced bool
}

// add counts what a model took.
func (s *spending) add(b Budget, model string, u llm.Usage) {
	s.usage = s.usage.Add(u)
	p, priced := b.Prices[model]
	if !priced {
		p, priced = b.Prices[""]
	}
	s.unpriced = s.unpriced || !priced
	s.cost += (p.Input*float64(u.InputTokens) + p.Output*float64(u.OutputTokens)) / 1e6
}

// crossed reports whether more was taken than the budget allows; used up, that
// there is nothing left to take.
func (s spending) crossed(b Budget) (crossed, usedUp bool) {
	tokens := s.usage.InputTokens + s.usage.OutputTokens
	crossed = b.Tokens > 0 && tokens > b.Tokens || b.Cost > 0 && (s.unpriced || s.cost > b.Cost)
	return crossed, crossed || b.Tokens > 0 && tokens == b.Tokens || b.Cost > 0 && s.cost == b.Cost
}

// spentBefore is what models took for the conversation of the job in other
// exchanges and phases than the job's own, whose turn counts for itself.
func (j *job) spentBefore(ctx context.Context) (spending, error) {
	var s spending
	b := j.agent.budget
	if b.Tokens == 0 && b.Cost == 0 {
		return s, nil
	}
	exchanges, err := j.host.store.Exchanges(ctx, j.key.Owner, j.key.Conversation)
	if err != nil {
		return s, fmt.Errorf("reading conversation %s: %w", j.key.Conversation, err)
	}
	for _, x := range exchanges {
		turns, err := j.host.store.Turns(ctx, x.Key)
		if err != nil {
			return s, fmt.Errorf("reading the records of %s: %w", x.Conversation, err)
		}
		for _, t := range turns {
			if _, own := within(t.Name, j.scope()); own && x.Key == j.key {
				continue
			}
			if err := s.addRecord(b, t); err != nil {
				return s, fmt.Errorf("record %d of %s: %w", t.Ordinal, x.Conversation, err)
			}
		}
	}
	return s, nil
}

// addRecord counts what a record says that a model took. What mended the calls
// of a reply took is counted at the price of the model that gave the reply.
func (s *spending) addRecord(b Budget, t store.Turn) error {
	switch t.Kind {
	case store.Reply:
		var said reply
		if err := json.Unmarshal(t.Data, &said); err != nil {
			return err
		}
		s.add(b, said.Model, said.Usage)
	case store.Mended:
		var fixed []mended
		if err := json.Unmarshal(t.Data, &fixed); err != nil {
			return err
		}
		for _, m := range fixed {
			if m.Tries > 0 {
				s.add(b, m.Model, m.Usage)
			}
		}
	}
	return nil
}

// messages is how many messages the conversation of the exchange has and may
// have: of the exchange alone where the agent has no budget for the whole.
func (s *step) messages(ctx context.Context) (have, may int, err error) {
	may = s.host.agents[s.x.Owner].budget.Messages
	if may == 0 {
		return s.x.State.Messages, guard.MaxMessages, nil
	}
	exchanges, err := s.host.store.Exchanges(ctx, s.x.Owner, s.x.Conversation)
	if err != nil {
		return 0, 0, fmt.Errorf("reading conversation %s: %w", s.x.Conversation, err)
	}
	have = s.x.State.Messages
	for _, x := range exchanges {
		if x.Key != s.x.Key {
			have += x.State.Messages
		}
	}
	return have, may, nil
}

// timeOver is when the time is over that the budget gives to the conversation of
// the exchange, zero if it gives any.
func (j *job) timeOver(ctx context.Context) (time.Time, error) {
	if j.agent.budget.Time == 0 {
		return time.Time{}, nil
	}
	exchanges, err := j.host.store.Exchanges(ctx, j.key.Owner, j.key.Conversation)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading conversation %s: %w", j.key.Conversation, err)
	}
	var over time.Time
	for _, x := range exchanges {
		over = sooner(over, x.OpenedAt.Add(j.agent.budget.Time))
	}
	return over, nil
}
