package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// The contract of the messages: a text there and a short one back.
type (
	parcel struct {
		Text string `json:"text"`
	}
	slip struct {
		Reference string `json:"reference"`
	}
)

func carry() protocol.Contract[parcel, slip] {
	return protocol.Request[parcel, slip]("parley.bench.carry/v1")
}

// contentSize is how long the content of a request is, in bytes.
const contentSize = 1024

func text() string { return strings.Repeat("x", contentSize-len(`{"text":""}`)) }

// openFor is how long a recorded conversation may stay open.
const openFor = 24 * time.Hour

// tape is a store that remembers the write sets that were committed.
type tape struct {
	store.Store
	mu   sync.Mutex
	sets []store.WriteSet
}

// Commit implements store.Store.
func (t *tape) Commit(ctx context.Context, set store.WriteSet) error {
	err := t.Store.Commit(ctx, set)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sets = append(t.sets, set)
	}
	return err
}

func (t *tape) so(what string, is func(store.WriteSet) bool) (store.WriteSet, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.sets, is)
	if i < 0 {
		return store.WriteSet{}, fmt.Errorf("no step that %s was committed", what)
	}
	return t.sets[i], nil
}

// record has one agent ask another one and returns what they committed.
func record(ctx context.Context) (*conversation, error) {
	planner, clerk := agent.New("planner"), agent.New("clerk", agent.Handle(carry(), answer))
	mine, theirs := &tape{Store: memory.New()}, &tape{Store: memory.New()}
	hosts := []*agent.Host{newHost(mine, planner), newHost(theirs, clerk)}
	agent.Introduce(hosts...)
	err := ask(ctx, hosts, planner)
	for _, h := range hosts {
		err = errors.Join(err, h.Stop(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return nil, err
	}
	return read(mine, theirs)
}

func answer(context.Context, parcel) (slip, error) { return slip{Reference: "c-0001"}, nil }

func newHost(s store.Store, agents ...*agent.Agent) *agent.Host {
	return agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}, agents...)
}

func ask(ctx context.Context, hosts []*agent.Host, from *agent.Agent) error {
	for _, h := range hosts {
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	_, err := agent.Ask(ctx, from, "clerk", carry(), parcel{text()}, agent.Within(openFor))
	return err
}

func read(mine, theirs *tape) (c *conversation, err error) {
	c = &conversation{}
	open, err := mine.so("asks", func(s store.WriteSet) bool { return len(s.Exchanges) == 1 && s.Exchanges[0].Version == 0 })
	if err != nil {
		return nil, err
	}
	c.opened = []store.WriteSet{open, delivered(open)}
	if c.accept, err = theirs.so("accepts", func(s store.WriteSet) bool { return len(s.Accept) == 1 }); err != nil {
		return nil, err
	}
	if c.complete, err = theirs.so("completes", func(s store.WriteSet) bool { return len(s.Settle) == 1 }); err != nil {
		return nil, err
	}
	c.sent = delivered(c.complete)
	c.content, err = contentOf(c.accept.Entries[0])
	return c, err
}

// delivered is that the messages of a step were delivered at the first attempt.
func delivered(step store.WriteSet) (set store.WriteSet) {
	for _, o := range step.Outbox {
		set.Deliveries = append(set.Deliveries, store.Delivery{Owner: o.Owner, MessageID: o.MessageID, Status: store.Delivered, Attempt: 1, NextAt: o.NextAt})
	}
	return set
}

// wait looks until something is so.
func wait(ctx context.Context, so func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := so(); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func contentOf(e store.Entry) ([]byte, error) {
	message, err := envelope.Decode(e.Envelope)
	if err != nil {
		return nil, fmt.Errorf("read what was asked: %w", err)
	}
	return message.Content(), nil
}
