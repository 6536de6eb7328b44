package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// hosting starts a host of the agents whose log nobody reads.
func hosting(cfg agent.Config, agents ...*agent.Agent) *agent.Host {
	cfg.Store, cfg.Log = memory.New(), slog.New(slog.NewTextHandler(io.Discard, nil))
	h := agent.NewHost(cfg, agents...)
	if err := h.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	return h
}

// orders is a counter at which orders are left, and fetched when they are ready.
type orders struct {
	shop   *agent.Host
	placed chan string
}

func (o orders) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	task := "order-" + e.Conversation()
	replies, err := o.shop.Take(ctx, agent.Mail{Envelope: data, Loopback: true, Task: task, Mailbox: true})
	if err == nil && e.InReplyTo() == "" {
		o.placed <- task
	}
	return replies, err
}

func (orders) Capabilities() agent.Capabilities { return agent.Capabilities{Latency: agent.Polled} }

// fetch takes over what the shop says about the orders placed, each until it is done.
func (o orders) fetch(ctx context.Context, guest *agent.Host) {
	for {
		select {
		case <-ctx.Done():
			return
		case task := <-o.placed:
			for next := 0; ; {
				moved, release := o.shop.Follow("agent://local/barista", task)
				x, said := o.said(ctx, task)
				for ; next < len(said); next++ {
					if _, err := guest.Take(ctx, agent.Mail{Envelope: said[next], Caller: x.Owner}); err != nil {
						log.Fatal(err)
					}
				}
				if x.State.Done() {
					release()
					break
				}
				select {
				case <-moved:
				case <-ctx.Done():
				}
				release()
			}
		}
	}
}

// said is what the shop has said about an order.
func (o orders) said(ctx context.Context, task string) (x store.Exchange, said [][]byte) {
	list, err := o.shop.Store().Tasks(ctx, "agent://local/barista", task)
	if err != nil || len(list) == 0 {
		log.Fatal("no such order: ", err)
	}
	entries, err := o.shop.Store().Log(ctx, list[0].Owner, list[0].Conversation, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == store.Sent {
			said = append(said, e.Envelope)
		}
	}
	return list[0], said
}

// The shop knows no way back to its guests: what it says is fetched.
func ExampleRemote() {
	ctx := context.Background()
	guest := agent.New("guest")
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)))
	home := hosting(agent.Config{}, guest)
	counter := orders{shop, make(chan string, 1)}
	home.Connect(agent.Remote{Transport: counter, Agents: shop.Agents(), Vouches: true, Collect: counter.fetch}.Link())
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 2}))
	fmt.Println(home.Stop(ctx), shop.Stop(ctx))
	// Output:
	// {2 coffees} <nil>
	// <nil> <nil>
}

// left leaves an order for two coffees at the counter, whose task it returns.
func left(shop *agent.Host, guest *agent.Agent) (home *agent.Host, task string) {
	home = hosting(agent.Config{}, guest)
	counter := orders{shop, make(chan string, 1)}
	home.Connect(agent.Remote{Transport: counter, Agents: shop.Agents(), Vouches: true}.Link())
	if _, err := agent.Start(context.Background(), guest, "barista", Buy, Order{Coffees: 2}); err != nil {
		log.Fatal(err)
	}
	return home, <-counter.placed
}

// An order is left, and looked at later.
func ExampleHost_Take() {
	ctx := context.Background()
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)))
	defer shop.Stop(ctx)
	home, task := left(shop, agent.New("guest"))
	defer home.Stop(ctx)
	for done := false; !done; {
		moved, release := shop.Follow("agent://local/barista", task)
		x, said := orders{shop: shop}.said(ctx, task)
		if done = x.State.Done(); done {
			last, err := envelope.Decode(said[len(said)-1])
			fmt.Printf("%s %s %v\n", last.Act(), last.Content(), err)
		} else {
			<-moved
		}
		release()
	}
	// Output: inform {"number":"2 coffees"} <nil>
}

// Whoever waits for the next step of a task takes the channel before it looks.
func ExampleHost_Follow() {
	ctx := context.Background()
	ready := make(chan struct{})
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		<-ready
		return sell(ctx, o)
	})))
	defer shop.Stop(ctx)
	home, task := left(shop, agent.New("guest"))
	defer home.Stop(ctx)
	moved, release := shop.Follow("agent://local/barista", task)
	defer release()
	close(ready)
	<-moved
	fmt.Println("something has happened")
	// Output: something has happened
}

// The guest says something while nobody has asked. It moves nothing.
func ExampleHost_Note() {
	ctx := context.Background()
	ready := make(chan struct{})
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		<-ready
		return sell(ctx, o)
	})))
	defer shop.Stop(ctx)
	defer close(ready)
	home, task := left(shop, agent.New("guest"))
	defer home.Stop(ctx)
	x, _ := orders{shop: shop}.said(ctx, task)
	for range 2 {
		err := shop.Note(ctx, x.Key, "note-1", []byte(`"I am in a hurry."`))
		fmt.Println(err == nil, errors.Is(err, store.ErrDuplicate))
	}
	// Output:
	// true false
	// false true
}

// A poller shows that it is there. Only a subscription has a lease that it
// keeps.
func ExampleHost_Heard() {
	ctx := context.Background()
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)))
	defer shop.Stop(ctx)
	home, task := left(shop, agent.New("guest"))
	defer home.Stop(ctx)
	x, _ := orders{shop: shop}.said(ctx, task)
	fmt.Println(shop.Heard(ctx, x))
	// Output: <nil>
}

// The server has a name of its own for what was asked there.
func ExampleHost_Assign() {
	ctx := context.Background()
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)))
	defer shop.Stop(ctx)
	guest := agent.New("guest")
	home := hosting(agent.Config{}, guest)
	defer home.Stop(ctx)
	agent.Introduce(home, shop)
	x, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 1})
	if err != nil {
		log.Fatal(err)
	}
	k := store.Key{Owner: guest.URI(), Conversation: x.ID(), Peer: "agent://local/barista"}
	fmt.Println(home.Assign(ctx, k, "A-17"))
	fmt.Println(home.Assign(ctx, k, "A-18") != nil)
	list, err := home.Store().Tasks(ctx, guest.URI(), "A-17")
	fmt.Println(len(list), err)
	// Output:
	// <nil>
	// true
	// 1 <nil>
}

// What runs beside a host ends with it.
func ExampleHost_Run() {
	h := agent.NewHost(agent.Config{Store: memory.New()}, agent.New("barista"))
	opened := make(chan struct{})
	h.Run(func(ctx context.Context) {
		fmt.Println("the shop is open")
		close(opened)
		<-ctx.Done()
		fmt.Println("the shop is closed")
	})
	if err := h.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	<-opened
	fmt.Println(h.Stop(context.Background()))
	// Output:
	// the shop is open
	// the shop is closed
	// <nil>
}

// A guest of this machine is known from its first visit on.
func ExampleHost_Identify() {
	ctx, receiver := context.Background(), "agent://local/barista"
	shop := hosting(agent.Config{}, agent.New("barista"))
	defer shop.Stop(ctx)
	for range 2 { // the second has the same name, and another key
		home := hosting(agent.Config{}, agent.New("guest"))
		token, err := home.Token("agent://local/guest", receiver)
		if err != nil {
			log.Fatal(err)
		}
		sender, err := shop.Identify(ctx, token, receiver, true)
		fmt.Println(sender, err == nil)
		home.Stop(ctx)
	}
	// Output:
	// agent://local/guest true
	//  false
}

// A token is made for whom it is shown to, and for five minutes.
func ExampleHost_Token() {
	ctx := context.Background()
	home := hosting(agent.Config{}, agent.New("guest"))
	defer home.Stop(ctx)
	token, err := home.Token("agent://local/guest", "agent://local/barista")
	fmt.Println(token != "", err)
	_, err = home.Token("agent://local/barista", "agent://local/guest")
	fmt.Println(errors.Is(err, agent.ErrUnknownPeer))
	// Output:
	// true <nil>
	// true
}

// The address of a peer is where its card is; Config.Dial makes the link.
func ExamplePeer() {
	ctx := context.Background()
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)))
	defer shop.Stop(ctx)
	guest := agent.New("guest", agent.Peer("barista", "https://coffee.example"))
	home := hosting(agent.Config{Dial: func(_ context.Context, uri, url string) (agent.Link, error) {
		fmt.Println(uri, "is at", url)
		return agent.PeerHost(shop), nil
	}}, guest)
	defer home.Stop(ctx)
	shop.Connect(agent.PeerHost(home))
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 1}))
	// Output:
	// agent://local/barista is at https://coffee.example
	// {1 coffees} <nil>
}

// What a carrier tells others about a host's agents.
func ExampleHost_Agents() {
	ctx := context.Background()
	shop := hosting(agent.Config{}, agent.New("barista", agent.Handle(Buy, sell)), agent.New("till"))
	defer shop.Stop(ctx)
	for _, uri := range shop.Agents() {
		fmt.Println(uri, len(shop.Key(uri)), len(shop.Signer(uri)))
		for _, c := range shop.Contracts(uri) {
			fmt.Println(" ", c.Name)
		}
	}
	// Output:
	// agent://local/barista 32 64
	//   acme.coffee.buy/v1
	// agent://local/till 32 64
}

// A carrier that lives beside a host has its time and its ids.
func ExampleHost_At() {
	ctx, clock := context.Background(), agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	shop := hosting(agent.Config{Clock: clock}, agent.New("barista"))
	defer shop.Stop(ctx)
	called := make(chan struct{})
	shop.At(shop.Now().Add(time.Hour), func() { close(called) })
	clock.Advance(time.Hour)
	<-called
	fmt.Println(shop.Now().Format(time.TimeOnly), len(shop.NewID()))
	// Output: 13:00:00 36
}
