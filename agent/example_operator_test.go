package agent_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// heard hands on what a host reports under a name.
type heard struct {
	name string
	came chan agent.Observation
}

func (h heard) Observe(_ context.Context, o agent.Observation) {
	if o.Name == h.name {
		h.came <- o
	}
}

// observed starts a host of the agents that tells what it reports under the
// name.
func observed(name string, agents ...*agent.Agent) (*agent.Host, chan agent.Observation) {
	ear := heard{name, make(chan agent.Observation, 1)}
	h := agent.NewHost(agent.Config{Store: memory.New(), Observer: ear, Log: slog.New(slog.DiscardHandler)}, agents...)
	if err := h.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	return h, ear.came
}

// The coffee bar is closed, and one try is all that the guest wants to make.
func ExampleResend() {
	ctx, guest := context.Background(), agent.New("guest")
	h, dead := observed(agent.MessageDead, guest)
	defer h.Stop(ctx)
	bar, _ := observed(agent.MessageDead, barista())
	h.Connect(agent.PeerHost(bar))
	if err := bar.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	once := envelope.RetryPolicy{MaxAttempts: 1, Jitter: "full"}
	if _, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2}, agent.Resend(once)); err != nil {
		log.Fatal(err)
	}
	<-dead
	letters, err := h.Store().DeadLetters(ctx, guest.URI(), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range letters {
		fmt.Println(l.Reason, "after", l.Attempts, "attempt:", l.LastError)
	}
	// Output: exhausted after 1 attempt: the host is not running
}

func ExamplePriority() {
	guest := agent.New("guest")
	defer run(barista(), guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Priority("high")))
	// Output: {2 coffees} <nil>
}

// A handler that fails leaves nobody at work for it.
func ExampleStart_inAHandler() {
	begun, stopped := make(chan struct{}), make(chan error, 1)
	roaster := agent.New("roaster", agent.Handle(Buy, func(ctx context.Context, _ Order) (Ticket, error) {
		close(begun)
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return Ticket{}, ctx.Err()
	}))
	var bar *agent.Agent
	bar = agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		if _, err := agent.Start(ctx, bar, "roaster", Buy, o); err != nil {
			return Ticket{}, err
		}
		<-begun // else the cancel overtakes the order, and nothing of it begins
		return Ticket{}, agent.Fail(envelope.CodePermanent, "no-milk")
	}))
	guest := agent.New("guest")
	defer run(roaster, bar, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	fmt.Println(err)
	fmt.Println("roaster:", <-stopped)
	// Output:
	// agent://local/barista failed: permanent (no-milk)
	// roaster: the peer cancelled the exchange
}

// An operator calls a conversation off from another process; here the host's
// own store takes the command.
func ExampleHost_operator() {
	ctx := context.Background()
	slow := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, _ Order) (Ticket, error) {
		<-ctx.Done()
		return Ticket{}, ctx.Err()
	}))
	guest := agent.New("guest")
	h, done := observed(agent.CommandObeyed, guest, slow)
	defer h.Stop(ctx)
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	c := store.Command{ID: "019535d9-3df7-79fb-b466-000000000001", Verb: store.VerbCancel, Owner: guest.URI(), Conversation: order.ID(), By: "ops@acme"}
	if err := h.Store().Post(ctx, c); err != nil {
		log.Fatal(err)
	}
	<-done // the host looks once a second
	_, err = order.Wait(ctx)
	fmt.Println(err)
	answered, err := h.Store().Command(ctx, c.ID)
	fmt.Println(answered.Answer, err)
	// Output:
	// agent://local/barista stopped: the exchange was cancelled
	// 1 of its exchanges called off <nil>
}
