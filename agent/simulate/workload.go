package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// The contracts of the world that Run plays by default: a small town whose
// people do each other's errands.
var (
	errand = protocol.Request[Task, Done]("sim.town.errand/v1")
	look   = protocol.Query[Task, Done]("sim.town.look/v1")
	deal   = protocol.NewOffer[Task]("sim.town.deal/v1")
	news   = protocol.NewStream[Task, Done]("sim.town.news/v1")
	tender = protocol.NewAuction[Task, Price, Done]("sim.town.tender/v1")
	ballot = protocol.NewGathering[Task, Done]("sim.town.ballot/v1")
)

// Task is what one of the town asks of another.
type Task struct {
	// ID tells what is asked for, whoever is asked and however often.
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64"`
	// How says how it will go: see town.do.
	How string `json:"how" jsonschema:"enum=quick,enum=slow,enum=refuse,enum=fail,enum=transient,enum=panic,enum=delegate,enum=twice,enum=ask"`
}

// Done is what comes of it.
type Done struct {
	ID string `json:"id"`
	N  int    `json:"n"`
}

// Price is what a bidder asks.
type Price struct {
	Cents int `json:"cents" jsonschema:"minimum=0"`
}

var ways = []string{"quick", "quick", "quick", "slow", "slow", "refuse", "fail", "transient", "panic", "delegate", "delegate", "twice", "ask", "ask"}

// stage has what each of the town can do, for one world after another: to make
// the schemas of their contracts takes longer than to play a small world.
type stage struct {
	town *town
	acts map[string][]agent.Option
}

// town is the default workload of a world.
type town struct {
	world   *World
	stage   *stage
	people  []*Node
	effects effects
	// barred are the exchanges of which somebody was told that they were never
	// seen.
	barred []store.Key
}

// settle describes the default world: two to four people on as many hosts, and
// one to five things that they want of each other.
func (s *stage) settle(w *World, only string) {
	t := &town{world: w, stage: s, effects: effects{keyed: map[string]map[string]bool{}, once: map[string]int{}}}
	s.town = t
	r := w.Random()
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprintf("p%d", i)
		t.people = append(t.people, w.Node(name, func() []*agent.Agent { return []*agent.Agent{agent.New(name, s.of(name)...)} }))
	}
	spoken := protocols()
	for i := range 1 + r.IntN(5) {
		name := spoken[r.IntN(len(spoken))]
		if only != "" {
			name = only
		}
		t.want(i, name, r)
	}
	w.Check("P6", func() error {
		if n := t.effects.overOnce(); n > 0 {
			w.tally.EffectsOverOnce += n
			return fmt.Errorf("%d tasks were done more than once", n)
		}
		return nil
	})
	w.Check("P17", t.unseen)
}

// protocols are those that the town speaks.
func protocols() []string {
	return []string{protocol.RequestV1, protocol.QueryV1, protocol.ProposeV1, protocol.SubscribeV1, protocol.ContractNetV1, protocol.GatherV1}
}

// of is what a person of that name can do in the town that is on stage.
func (s *stage) of(name string) []agent.Option {
	if s.acts == nil {
		s.acts = map[string][]agent.Option{}
	}
	if s.acts[name] == nil {
		s.acts[name] = s.person(name)
	}
	return s.acts[name]
}

// want lets one of the town want something of others, once or, where the
// answer was lost, again under the same key.
func (t *town) want(i int, name string, r *rand.Rand) {
	from := t.people[r.IntN(len(t.people))]
	others := slices.DeleteFunc(slices.Clone(t.people), func(n *Node) bool { return n == from })
	to := others[r.IntN(len(others))]
	task := Task{ID: fmt.Sprintf("task-%d", i), How: ways[r.IntN(len(ways))]}
	begin := time.Duration(r.IntN(20000)) * time.Millisecond
	within := time.Duration(3000+r.IntN(27000)) * time.Millisecond
	patience := time.Duration(-1)
	if r.IntN(4) == 0 {
		patience = time.Duration(r.IntN(10000)) * time.Millisecond
	}
	again := r.IntN(3)
	opts := []agent.AskOption{agent.Within(within), agent.Key("key-" + task.ID)}
	t.world.Do(from, func(ctx context.Context) error {
		if d := begin - t.world.Now().Sub(epoch); d > 0 {
			t.world.Sleep(d)
		}
		for try := 0; ; try++ {
			err := t.ask(ctx, from, to, others, name, task, patience, opts)
			t.world.tally.Outcomes[outcomeOf(err)]++
			if unknown, ok := errors.AsType[*protocol.UnknownError](err); ok && name == protocol.RequestV1 {
				err = t.look(ctx, from, to, unknown.Conversation)
			}
			if errors.Is(err, agent.ErrStopped) || try >= again || err == nil {
				return err
			}
			if t.world.Sleep(time.Duration(1+try) * time.Second); !from.up {
				return agent.ErrStopped
			}
		}
	})
}

// look finds out what became of an errand, before it is asked for again.
func (t *town) look(ctx context.Context, from, to *Node, conversation string) error {
	_, err := agent.Outcome(ctx, from.Agent(from.name), errand, conversation, agent.Within(10*time.Second))
	t.world.tally.Outcomes["looked: "+outcomeOf(err)]++
	if is[*protocol.NeverSeenError](err) {
		t.barred = append(t.barred, store.Key{Owner: "agent://local/" + to.name, Conversation: conversation, Peer: "agent://local/" + from.name})
	}
	return err
}

// unseen looks for what was done although it had been said that it was never
// seen.
func (t *town) unseen() error {
	for _, k := range t.barred {
		for _, n := range t.people {
			if x, err := n.disk.Exchange(context.Background(), k); err == nil && x.State.Outcome().OK() {
				return fmt.Errorf("%s did what %s asked for in %s", k.Owner, k.Peer, k.Conversation)
			}
		}
	}
	return nil
}

// ask opens a conversation and waits for its end, or withdraws it when the
// asker's patience is over.
func (t *town) ask(ctx context.Context, from, to *Node, others []*Node, name string, task Task, patience time.Duration, opts []agent.AskOption) (err error) {
	me := from.Agent(from.name)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if patience >= 0 {
		defer t.world.calm.At(t.world.Now().Add(patience), cancel)()
	}
	var names []string
	for _, o := range others {
		names = append(names, o.name)
	}
	switch name {
	case protocol.RequestV1:
		_, err = agent.Ask(ctx, me, to.name, errand, task, opts...)
	case protocol.QueryV1:
		_, err = agent.Ask(ctx, me, to.name, look, task, opts...)
	case protocol.ProposeV1:
		err = agent.Propose(ctx, me, to.name, deal, task, opts...)
	case protocol.SubscribeV1:
		for _, err = range agent.Subscribe(ctx, me, to.name, news, task, opts...) {
			if err != nil {
				break
			}
		}
	case protocol.ContractNetV1:
		_, err = agent.CallForProposals(ctx, me, names, tender, task, agent.AuctionTerms[Task, Price]{Pick: cheapest}, opts...)
	case protocol.GatherV1:
		_, err = agent.Gather(ctx, me, names, ballot, task, agent.GatherTerms{Reducer: protocol.ReducerPreserveDissent}, opts...)
	}
	return err
}

func cheapest(_ context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
	slices.SortStableFunc(bids, func(a, b agent.Tender[Price]) int { return cmp.Compare(a.Bid.Cents, b.Bid.Cents) })
	return bids, nil
}

// outcomeOf is how an attempt ended, in a word.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, agent.ErrStopped):
		return "stopped"
	case errors.Is(err, context.Canceled):
		return "withdrawn"
	}
	for _, kind := range []struct {
		name string
		is   func(error) bool
	}{
		{"unknown", is[*protocol.UnknownError]}, {"refused", is[*protocol.RefusedError]}, {"rejected", is[*protocol.RejectedError]},
		{"failed", is[*protocol.FailedError]}, {"cancelled", is[*protocol.CancelledError]}, {"unmet", is[*protocol.UnmetError]},
		{"in progress", is[*protocol.InProgressError]}, {"never seen", is[*protocol.NeverSeenError]}, {"not understood", is[*protocol.NotUnderstoodError]},
		{"expired", is[*protocol.ExpiredError]},
	} {
		if kind.is(err) {
			return kind.name
		}
	}
	return "error"
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
