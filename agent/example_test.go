package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// Order and Ticket are what the examples' contract is about.
type Order struct {
	Coffees int `json:"coffees" jsonschema:"minimum=1"`
}

type Ticket struct {
	Number string `json:"number"`
}

// Buy has effects, so it is a Request; Menu only reads, so it is a Query.
var (
	Buy  = protocol.Request[Order, Ticket]("acme.coffee.buy/v1")
	Menu = protocol.Query[protocol.Empty, Ticket]("acme.coffee.menu/v1")
)

// run starts the agents, each on a host of its own, and stops them afterwards.
// A test has agenttest.Hosts for that.
func run(agents ...*agent.Agent) (stop func()) {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	var hosts []*agent.Host
	for i, a := range agents {
		s, err := sqlite.Open(context.Background(), filepath.Join(dir, fmt.Sprintf("%d.db", i)))
		if err != nil {
			log.Fatal(err)
		}
		h := agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}, a)
		if err := h.Start(context.Background()); err != nil {
			log.Fatal(err)
		}
		hosts = append(hosts, h)
	}
	agent.Introduce(hosts...)
	return func() {
		for _, h := range hosts {
			if err := h.Stop(context.Background()); err != nil {
				log.Fatal(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}

func sell(_ context.Context, o Order) (Ticket, error) {
	return Ticket{Number: fmt.Sprintf("%d coffees", o.Coffees)}, nil
}

func ExampleNew() {
	barista := agent.New("barista", agent.Handle(Buy, sell))
	defer run(barista)()
	fmt.Println(barista.URI())
	// Output: agent://local/barista
}

func ExampleHandle() {
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		return Ticket{Number: fmt.Sprintf("%d coffees", o.Coffees)}, nil
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output: {2 coffees} <nil>
}

// The model's output is a call: here of the function that gives the result.
// In a program the model is llm.FromEnv().
func ExampleAnswer() {
	model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Ticket{Number: "A-17"})))
	barista := agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee. Number the tickets."))
	guest := agent.New("guest")
	defer run(barista, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output: {A-17} <nil>
}

func ExampleTool() {
	model := agenttest.NewScript(
		agenttest.Calls(agenttest.Call("stock", Order{Coffees: 2})),
		agenttest.Calls(agenttest.Call("inform", Ticket{Number: "A-17"})))
	barista := agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee that is in stock."),
		agent.Tool("stock", "Whether so many coffees are in stock.", func(_ context.Context, o Order) (bool, error) {
			fmt.Println("the model asks for", o.Coffees)
			return o.Coffees < 10, nil
		}, agent.ReadOnly))
	guest := agent.New("guest")
	defer run(barista, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output:
	// the model asks for 2
	// {A-17} <nil>
}

// Each contract of a peer is a function that the model may call.
func ExampleMayAsk() {
	model := agenttest.NewScript(
		agenttest.Calls(agenttest.Call("barista__acme_coffee_buy_v1", Order{Coffees: 1})),
		agenttest.Calls(agenttest.Call("inform", Ticket{Number: "done"})))
	barista := agent.New("barista", agent.Handle(Buy, func(_ context.Context, o Order) (Ticket, error) {
		fmt.Println("the butler's model buys", o.Coffees)
		return Ticket{Number: "A-17"}, nil
	}))
	butler := agent.New("butler", agent.Model(model), agent.Answer(Menu, "Bring coffee."), agent.MayAsk("barista", Buy))
	guest := agent.New("guest")
	defer run(barista, butler, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "butler", Menu, protocol.Empty{}))
	// Output:
	// the butler's model buys 1
	// {done} <nil>
}

// The key names the effect: asked twice, it is had once.
func ExampleAsk() {
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		fmt.Println("selling", o.Coffees)
		return Ticket{Number: "A-17"}, nil
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	for range 2 {
		r, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Key("breakfast"), agent.Within(time.Minute))
		if unknown, ok := errors.AsType[*protocol.UnknownError](err); ok {
			fmt.Println("look before you ask again:", unknown.Conversation)
			return
		}
		fmt.Println(r.Number, err)
	}
	// Output:
	// selling 2
	// A-17 <nil>
	// A-17 <nil>
}

func ExampleRefuse() {
	barista := agent.New("barista", agent.Handle(Buy, func(context.Context, Order) (Ticket, error) {
		return Ticket{}, agent.Refuse(envelope.CodePermanent, "out-of-beans")
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	if refused, ok := errors.AsType[*protocol.RefusedError](err); ok {
		fmt.Println("refused:", refused.Reason)
	}
	// Output: refused: out-of-beans
}

func ExampleFail() {
	barista := agent.New("barista", agent.Handle(Buy, func(context.Context, Order) (Ticket, error) {
		return Ticket{}, agent.Fail(envelope.CodeTransient, "machine-hot")
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	if failed, ok := errors.AsType[*protocol.FailedError](err); ok {
		fmt.Println("failed:", failed.Reason, "try again:", failed.Code.Retriable())
	}
	// Output: failed: machine-hot try again: true
}

func ExampleCurrent() {
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		work, _ := agent.Current(ctx)
		fmt.Println(work.Sender, "asks for", work.Contract, "on behalf of", work.Actor)
		return sell(ctx, o)
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.OnBehalfOf("user:ada"))
	fmt.Println(err)
	// Output:
	// agent://local/guest asks for acme.coffee.buy/v1 on behalf of user:ada
	// <nil>
}

// What is outside the store is paid for once, however often the work runs.
func ExampleEffectKey() {
	paid := map[string]bool{} // the bank's own books
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		key := agent.EffectKey(ctx)
		if !paid[key] {
			paid[key] = true
		}
		return sell(ctx, o)
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	for _, key := range []string{"monday", "tuesday", "monday"} {
		if _, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Key(key)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(paid), "payments")
	// Output: 2 payments
}

func ExampleAgree() {
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		if err := agent.Agree(ctx); err != nil { // the guest learns that the machine runs
			return Ticket{}, err
		}
		return Ticket{}, agent.Refuse(envelope.CodePermanent, "out-of-beans") // too late to refuse
	}))
	guest := agent.New("guest")
	defer run(barista, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	if failed, ok := errors.AsType[*protocol.FailedError](err); ok {
		fmt.Println("failed:", failed.Reason)
	}
	// Output: failed: out-of-beans
}

func ExampleNewHost() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	file, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"))
	if err != nil {
		log.Fatal(err)
	}
	guest := agent.New("guest")
	host := agent.NewHost(agent.Config{Store: file}, guest, agent.New("barista", agent.Handle(Buy, sell)))
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 3}))
	fmt.Println(host.Stop(ctx))
	// Output:
	// {3 coffees} <nil>
	// <nil>
}

// Two hosts of one process. Introduce does the same in both directions for any
// number of them.
func ExamplePeerHost() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	start := func(a *agent.Agent, file string) *agent.Host {
		s, err := sqlite.Open(ctx, filepath.Join(dir, file))
		if err != nil {
			log.Fatal(err)
		}
		h := agent.NewHost(agent.Config{Store: s}, a)
		if err := h.Start(ctx); err != nil {
			log.Fatal(err)
		}
		return h
	}
	guest := agent.New("guest")
	home, shop := start(guest, "home.db"), start(agent.New("barista", agent.Handle(Buy, sell)), "shop.db")
	home.Connect(agent.PeerHost(shop))
	shop.Connect(agent.PeerHost(home))
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 1}))
	fmt.Println(home.Stop(ctx), shop.Stop(ctx))
	// Output:
	// {1 coffees} <nil>
	// <nil> <nil>
}

func ExampleIntroduce() {
	clock := agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	guest := agent.New("guest")
	var hosts []*agent.Host
	for _, a := range []*agent.Agent{guest, agent.New("barista", agent.Handle(Buy, sell))} {
		s, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprintf("%d.db", len(hosts))))
		if err != nil {
			log.Fatal(err)
		}
		h := agent.NewHost(agent.Config{Store: s, Clock: clock}, a)
		if err := h.Start(ctx); err != nil {
			log.Fatal(err)
		}
		defer h.Stop(ctx)
		hosts = append(hosts, h)
	}
	agent.Introduce(hosts...)
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 1}))
	// Output: {1 coffees} <nil>
}
