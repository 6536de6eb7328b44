package a2a

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// What the tests' contracts are about.
type (
	Seat struct {
		Flight string `json:"flight"`
	}
	Booking struct {
		Reference string `json:"reference"`
	}
	Tick struct {
		N int `json:"n"`
	}
)

var (
	book  = protocol.Request[Seat, Booking]("acme.flight.book/v1").WithProgress(Tick{})
	look  = protocol.Query[Seat, Booking]("acme.flight.look/v1")
	ticks = protocol.NewStream[Seat, Tick]("acme.clock.tick/v1")
	haul  = protocol.NewAuction[Seat, Tick, Booking]("acme.piano.haul/v1").Rounds(2)
	poll  = protocol.NewGathering[Seat, Tick]("acme.price.poll/v1")
	deal  = protocol.NewOffer[Seat]("acme.seat.deal/v1")

	which = protocol.QuestionAsked{Text: "Which seat?", Choices: []string{"window", "aisle"}}
)

const (
	flights  = "agent://local/flights"
	planner  = "agent://local/planner"
	stranger = "agent://local/x-0123456789abcdef"
	seat     = `{"flight":"AY121"}`
)

// counter counts what is read of a store.
type counter struct {
	store.Store
	mu                    sync.Mutex
	pages, entries, tasks int
}

func (c *counter) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages, c.entries, c.tasks = 0, 0, 0
}

func (c *counter) read() (pages, entries, tasks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages, c.entries, c.tasks
}

func (c *counter) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]store.Entry, error) {
	page, err := c.Store.LogPage(ctx, owner, conversation, after, limit)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages++
	c.entries += len(page)
	return page, err
}

func (c *counter) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	c.mu.Lock()
	c.tasks++
	c.mu.Unlock()
	return c.Store.Tasks(ctx, owner, task)
}

// begin starts the flights on a store, a new one if it is nil.
func begin(t *testing.T, st store.Store, opts ...agent.Option) *service {
	t.Helper()
	if st == nil {
		st = memory.New()
	}
	h := agent.NewHost(agent.Config{Store: st, Log: slog.New(slog.DiscardHandler), Drain: -1}, agent.New("flights", opts...))
	s := newService(h, flights)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answers is a book that is answered by fn.
func answers(fn func(ctx context.Context) (Booking, error)) agent.Option {
	return agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) { return fn(ctx) })
}

func booked(context.Context) (Booking, error) { return Booking{"R1"}, nil }

// client is a peer that speaks to the flights through a carrier that knows it,
// and reads what they say.
type client struct {
	t   *testing.T
	s   *service
	uri string
}

// call is the call of a client of Parley, or of any other.
func (c client) call(parley bool) wire.Call {
	if parley {
		return wire.Call{Caller: c.uri, Loopback: true, Extensions: []string{ExtensionURI}}
	}
	return wire.Call{Caller: c.uri, Loopback: true}
}

// opens is the header of an act that opens a task.
func (c client) opens(contract protocol.Declared, act envelope.Performative) envelope.Header {
	now := c.s.host.Now()
	h := envelope.Header{
		Performative: act, Protocol: contract.Protocol(), Schema: contract.Name().Input(), Capability: contract.Name().Capability(),
		Sender: c.uri, Receiver: flights, SenderGeneration: 1,
		MessageID: fresh(), ConversationID: fresh(), CorrelationID: "trip-8841", Seq: 1, Salt: make([]byte, 16),
		Timestamp: now, ReplyBy: now.Add(time.Hour), Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{flights}},
		Trace: envelope.Trace{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	if contract.Protocol() == protocol.RequestV1 || contract.Protocol() == protocol.ProposeV1 {
		h.IdempotencyKey = "key-" + h.MessageID
	}
	return h
}

// answering is the header of an act that answers e.
func (c client) answering(e *envelope.Envelope, act envelope.Performative, seq int64) envelope.Header {
	h := e.Reply(act)
	h.Hop = e.Header().Hop
	h.MessageID, h.Seq, h.Salt, h.Timestamp, h.SenderGeneration = fresh(), seq, make([]byte, 16), c.s.host.Now(), 1
	h.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{e.Sender()}}
	return h
}

func fresh() string { return uuid.Must(uuid.NewV7()).String() }

// take hands an act over and returns the exchange of its task.
func (c client) take(h envelope.Header, content string, task string) store.Exchange {
	c.t.Helper()
	e, err := envelope.Seal(h, []byte(content))
	if err != nil {
		c.t.Fatal(err)
	}
	if task == "" {
		task = taskID(h.ConversationID, h.Receiver)
	}
	replies, err := c.s.host.Take(context.WithoutCancel(c.t.Context()), agent.Mail{Envelope: e.Bytes(), Caller: c.uri, Loopback: true, Task: task, Mailbox: true})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range replies {
		if told := must(envelope.Decode(r)); told.ReceiptKind() == envelope.Nack {
			c.t.Fatalf("refused: %+v", told.Header().Error)
		}
	}
	x, err := c.s.find(c.t.Context(), c.call(true), task)
	if err != nil {
		c.t.Fatal(err)
	}
	return x
}

// open opens a task.
func (c client) open(contract protocol.Declared, act envelope.Performative) store.Exchange {
	c.t.Helper()
	return c.take(c.opens(contract, act), seat, "")
}

// cancel cancels a task.
func (c client) cancel(x store.Exchange, seq int64) store.Exchange {
	c.t.Helper()
	opening := c.sent(x, x.State.Opening)
	h := opening.Header()
	h.Performative, h.Schema, h.InReplyTo = envelope.Cancel, protocol.CancelSchema, opening.ID()
	h.IdempotencyKey, h.ReplyBy, h.ContentDigest = "", time.Time{}, ""
	h.MessageID, h.Seq, h.Timestamp = fresh(), seq, c.s.host.Now()
	return c.take(h, `{}`, x.Task)
}

// sent is an act of the client as the flights have it in their log.
func (c client) sent(x store.Exchange, id string) *envelope.Envelope {
	c.t.Helper()
	e, err := c.s.host.Store().Message(c.t.Context(), x.Key, store.Received, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return must(envelope.Decode(e.Envelope))
}

// task gets a task.
func (c client) task(x store.Exchange, parley bool) *wire.Task {
	c.t.Helper()
	task, err := c.s.GetTask(c.t.Context(), c.call(parley), &wire.GetTaskRequest{ID: x.Task})
	if err != nil {
		c.t.Fatal(err)
	}
	return task
}

// acts are the acts of the agent in a task, in order: those said about it and,
// after them, those that are artifacts.
func (c client) acts(task *wire.Task) []*envelope.Envelope {
	c.t.Helper()
	var list []*envelope.Envelope
	for _, m := range task.History {
		if m.Role == wire.Agent {
			list = append(list, must(envelope.Decode(must(envelopeOf(&m)))))
		}
	}
	for _, a := range task.Artifacts {
		list = append(list, must(envelope.Decode(must(envelopeOfArtifact(&a)))))
	}
	return list
}

// follower is a stream that is read as fast as it comes, until it ends.
type follower struct {
	events []wire.Event
	err    error
	done   chan struct{}
}

func (c client) follow(ctx context.Context, x store.Exchange, after string, parley bool) *follower {
	c.t.Helper()
	call := c.call(parley)
	call.LastEventID = after
	stream, err := c.s.SubscribeToTask(ctx, call, &wire.SubscribeRequest{ID: x.Task})
	if err != nil {
		c.t.Fatal(err)
	}
	f := &follower{done: make(chan struct{})}
	go f.read(stream)
	return f
}

func (f *follower) read(stream iter.Seq2[wire.Event, error]) {
	defer close(f.done)
	for e, err := range stream {
		if err != nil {
			f.err = err
			return
		}
		f.events = append(f.events, e)
	}
}

// wait is what the stream told until it ended.
func (f *follower) wait(t *testing.T) []wire.Event {
	t.Helper()
	<-f.done
	if f.err != nil {
		t.Fatalf("the stream ended with %v", f.err)
	}
	return f.events
}

// states are those that a stream told, one after another, and "artifact" for
// each artifact.
func states(events []wire.Event) []string {
	var list []string
	for _, e := range events {
		switch r := e.Response; {
		case r.Task != nil:
			list = append(list, "task "+string(r.Task.Status.State))
		case r.StatusUpdate != nil:
			list = append(list, string(r.StatusUpdate.Status.State))
		case r.ArtifactUpdate != nil:
			list = append(list, "artifact")
		}
	}
	return list
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func kindOf(err error) wire.Kind {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Kind
	}
	return ""
}
