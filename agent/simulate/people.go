package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

// person is one of the town.
func (s *stage) person(name string) []agent.Option {
	return []agent.Option{
		agent.Handle(errand, func(ctx context.Context, in Task) (Done, error) { return s.town.do(ctx, name, in, true) }),
		agent.Handle(look, func(ctx context.Context, in Task) (Done, error) { return s.town.do(ctx, name, in, false) }),
		agent.Handle(protocol.Question, func(ctx context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			return protocol.QuestionAnswered{Choice: q.Choices[0]}, agent.Sleep(ctx, 2*time.Second)
		}),
		agent.Consider(deal, func(ctx context.Context, in Task) error { _, err := s.town.do(ctx, name, in, true); return err }),
		agent.Publish(news, func(ctx context.Context, in Task, emit func(Done) error) error {
			for i := range 5 {
				if err := emit(Done{ID: in.ID, N: i}); err != nil {
					return err
				}
				if err := agent.Sleep(ctx, 700*time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		}),
		agent.Bid(tender,
			func(ctx context.Context, in Task) (Price, error) {
				_, err := s.town.do(ctx, name, in, false)
				return Price{Cents: int(name[1]-'0') * 10}, err
			},
			func(ctx context.Context, in Task, _ Price) (Done, error) { return s.town.do(ctx, name, in, true) }),
		agent.Contribute(ballot, func(ctx context.Context, in Task) (Done, error) {
			if in.How == "twice" {
				return agent.Dissent(Done{ID: in.ID})
			}
			return s.town.do(ctx, name, in, false)
		}),
	}
}

// do does a task in the way that it asks for.
func (t *town) do(ctx context.Context, name string, in Task, effect bool) (Done, error) {
	out := Done{ID: in.ID, N: 1}
	switch in.How {
	case "slow":
		if err := agent.Sleep(ctx, 4*time.Second); err != nil {
			return out, err
		}
	case "refuse":
		return out, agent.Refuse(envelope.CodePermanent, "busy")
	case "fail":
		return out, agent.Fail(envelope.CodePermanent, "broken")
	case "transient":
		return out, agent.Fail(envelope.CodeTransient, "later")
	case "panic":
		panic("the errand went wrong")
	case "ask":
		answer, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Which one?", Choices: []string{"this", "that"}})
		if err != nil {
			return out, err
		}
		if answer.Choice != "this" {
			t.world.violate("P7", "%s was answered %q", name, answer.Choice)
		}
	case "delegate":
		if work, _ := agent.Current(ctx); work.Hop < 2 {
			for _, n := range t.people {
				if n.name != name {
					if _, err := agent.Ask(ctx, t.at(name), n.name, look, Task{ID: in.ID + "+", How: "delegate"}); err != nil {
						return out, err
					}
					break
				}
			}
		}
	}
	if !effect {
		return out, nil
	}
	work, _ := agent.Current(ctx)
	what := name + " " + work.Sender + " " + work.Contract + " " + in.ID
	key := agent.EffectKey(ctx)
	t.effects.make(what, key)
	_, err := agent.Once(ctx, "tell", func(context.Context) (int, error) {
		t.effects.once[what]++
		return 1, nil
	})
	if errors.Is(err, agent.ErrOutcomeUnknown) {
		return out, agent.Fail(envelope.CodePermanent, "outcome-unknown")
	}
	return out, err
}

// at is the agent of that name, as it runs now.
func (t *town) at(name string) *agent.Agent {
	for _, n := range t.people {
		if n.name == name {
			return n.Agent(name)
		}
	}
	return nil
}

// effects are what happened outside, where no crash undoes anything.
type effects struct {
	// keyed are the keys under which each task was done by a system that takes
	// a key, once counts how often it was done by one that takes none.
	keyed map[string]map[string]bool
	once  map[string]int
}

func (e *effects) make(task, key string) {
	if e.keyed[task] == nil {
		e.keyed[task] = map[string]bool{}
	}
	e.keyed[task][key] = true
}

// overOnce counts the tasks that were done more than once.
func (e *effects) overOnce() (n int) {
	for _, keys := range e.keyed {
		if len(keys) > 1 {
			n++
		}
	}
	for _, times := range e.once {
		if times > 1 {
			n++
		}
	}
	return n
}
