package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// world is what is outside the processes and outlives them: where effects are
// had, the model's endpoint, and what the processes are known to have recorded.
type world struct {
	mu      sync.Mutex
	effects []string // the key of each time that an effect was made
	models  int      // requests of the model
	told    string   // what the model was last shown of its calls
	records map[string]bool
	faults  []string
}

// recorded hears of what a process has committed.
func (w *world) recorded(process string, set store.WriteSet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.records == nil {
		w.records = map[string]bool{}
	}
	for _, t := range set.Turns {
		w.records[process+" "+string(t.Kind)+" "+t.Name] = true
	}
}

// again notes a fault if what happens now is recorded as done.
func (w *world) again(record string) {
	if w.records[record] {
		w.faults = append(w.faults, record+" is recorded, and yet it is done again")
	}
}

// effect is made under the key of ctx and with what else identifies it. The world
// has it once for each key.
func (l *life) effect(ctx context.Context, record string, with ...string) error {
	if err := l.at("effect begins"); err != nil {
		return err
	}
	w := l.process.stage.world
	w.mu.Lock()
	w.again(l.process.name + " result " + record)
	w.effects = append(w.effects, strings.Join(append(with, agent.EffectKey(ctx)), " "))
	w.mu.Unlock()
	return l.at("effect ends")
}

// keys are those under which effects were had.
func (w *world) keys() map[string]int {
	by := map[string]int{}
	for _, k := range w.effects {
		by[k]++
	}
	return by
}

// endpoint is the model as a process sees it. What it replies follows from what
// it is shown: it calls the function, then says what came of that.
type endpoint struct {
	life     *life
	function string
	// garbled: the arguments of the call must be asked for again.
	garbled bool
}

func (e endpoint) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	if err := e.life.at("request"); err != nil {
		return nil, err
	}
	round := 1
	for _, m := range r.Messages {
		if m.Role == llm.RoleAssistant {
			round++
		}
	}
	what, told := fmt.Sprint("reply ", round), strings.Join(results(r), "\n")
	if r.Choice == "repair" {
		what = "mended 1"
	}
	w := e.life.process.stage.world
	w.mu.Lock()
	w.again(e.life.process.name + " " + what)
	w.models++
	w.told = told
	w.mu.Unlock()
	if err := e.life.at("response"); err != nil {
		return nil, err
	}
	reply := says("R1")
	switch {
	case what == "mended 1":
		reply = repairs(e.life.process.stage.t, "Turku")
	case round == 1 && e.garbled:
		reply = agenttest.Calls(agenttest.Call(e.function, "{}"))
	case round == 1 && strings.Contains(e.function, "__"):
		reply = agenttest.Calls(agenttest.Call(e.function, seat))
	case round == 1:
		reply = agenttest.Calls(agenttest.Call(e.function, City{"Turku"}))
	case strings.Contains(told, "outcome-unknown"):
		reply = agenttest.Calls(agenttest.Call("failure", map[string]string{"code": "permanent", "reason": "outcome-unknown"}))
	}
	return reply(ctx, r)
}

// charges is a clerk whose model makes its effect through a tool.
func charges(garbled bool, opts ...agent.ToolOption) func(*life) *agent.Agent {
	return func(l *life) *agent.Agent {
		return clerk(endpoint{l, "charge", garbled}, agent.Tool("charge", "Charges a city.", func(ctx context.Context, _ City) (string, error) {
			return "Charged.", l.effect(ctx, "1.1")
		}, opts...))
	}
}

// stepped is a clerk whose Go code makes its effect in a step.
func stepped(opts ...agent.ToolOption) func(*life) *agent.Agent {
	return coded(func(ctx context.Context, l *life) (Booking, error) {
		out, err := agent.Once(ctx, "charge", func(ctx context.Context) (Booking, error) {
			return Booking{"R1"}, l.effect(ctx, "once charge")
		}, opts...)
		if errors.Is(err, agent.ErrOutcomeUnknown) {
			return out, agent.Fail(envelope.CodePermanent, "outcome-unknown")
		}
		return out, err
	})
}

// coded is a clerk whose Go code answers.
func coded(fn func(ctx context.Context, l *life) (Booking, error)) func(*life) *agent.Agent {
	return func(l *life) *agent.Agent {
		return agent.New("clerk", agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) { return fn(ctx, l) }))
	}
}

// dated is a clerk whose Go code names its effect by the time and an id.
func dated(l *life) *agent.Agent {
	return coded(func(ctx context.Context, l *life) (Booking, error) {
		now, err := agent.Now(ctx)
		if err != nil {
			return Booking{}, err
		}
		id, err := agent.NewID(ctx)
		if err != nil {
			return Booking{}, err
		}
		return agent.Once(ctx, "charge", func(ctx context.Context) (Booking, error) {
			return Booking{"R1"}, l.effect(ctx, "once charge", now.String(), id)
		}, agent.Keyed)
	})(l)
}

// delegates is a clerk whose Go code lets the bank make the effect.
func delegates(l *life) *agent.Agent {
	return coded(func(ctx context.Context, l *life) (Booking, error) {
		return agent.Ask(ctx, l.agent, "bank", book, seat)
	})(l)
}

// refers is a clerk whose model lets the bank make the effect.
func refers(l *life) *agent.Agent {
	return clerk(endpoint{life: l, function: "bank__acme_flight_book_v1"}, agent.MayAsk("bank", book))
}

// bank makes the effect under the key that it is given.
func bank(l *life) *agent.Agent {
	return agent.New("bank", agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
		return Booking{"R1"}, l.effect(ctx, "")
	}))
}

func planner(*life) *agent.Agent { return agent.New("planner") }
