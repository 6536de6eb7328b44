package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// tale is a task of one kind, from its opening to where it is looked at.
type tale struct {
	agent []agent.Option
	// from is who opens it, the planner if it is "".
	from string
	open func(c client) store.Exchange
	// then is what the client says later, with everything at rest before.
	then func(c client, x store.Exchange)
	// over: the task has ended.
	over bool
}

// slow runs fn when the agree has gone out, so that all is told one by one.
func slow(fn func(ctx context.Context) (Booking, error)) []agent.Option {
	return []agent.Option{answers(func(ctx context.Context) (Booking, error) {
		time.Sleep(200 * time.Millisecond)
		return fn(ctx)
	})}
}

func opening(contract protocol.Declared, act envelope.Performative) func(c client) store.Exchange {
	return func(c client) store.Exchange { return c.open(contract, act) }
}

func tales() map[string]tale {
	return map[string]tale{
		"request": {agent: slow(func(ctx context.Context) (Booking, error) { return Booking{"R1"}, agent.Progress(ctx, Tick{1}) }),
			open: opening(book, envelope.Request), over: true},
		"refused": {agent: []agent.Option{answers(func(context.Context) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
		})}, open: opening(book, envelope.Request), over: true},
		"failed": {agent: slow(func(context.Context) (Booking, error) { panic("the secret") }), open: opening(book, envelope.Request), over: true},
		"query": {agent: []agent.Option{agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) { return booked(ctx) })},
			open: opening(look, envelope.Request), over: true},
		"misread": {agent: slow(booked), open: func(c client) store.Exchange {
			return c.take(c.opens(book, envelope.Request), `{"flight":7}`, "")
		}, over: true},
		"offer": {agent: []agent.Option{agent.Consider(deal, func(context.Context, Seat) error { return agent.Refuse(envelope.CodePermanent, "too-dear") })},
			open: opening(deal, envelope.Propose), over: true},
		"stream":  {agent: ticking(3, nil), open: opening(ticks, envelope.Request), over: true},
		"auction": {agent: []agent.Option{bidder()}, open: opening(haul, envelope.CFP), then: awarded, over: true},
		"gather": {agent: []agent.Option{agent.Contribute(poll, func(context.Context, Seat) (Tick, error) { return Tick{7}, nil })},
			open: func(c client) store.Exchange {
				h := c.opens(poll, envelope.Request)
				h.Gather = &envelope.Gather{ID: "g1"}
				return c.take(h, seat, "")
			}, then: fenced, over: true},
		"cancelled": {agent: slow(func(ctx context.Context) (Booking, error) { <-ctx.Done(); return Booking{}, context.Cause(ctx) }),
			open: opening(book, envelope.Request), then: func(c client, x store.Exchange) { c.cancel(x, 2) }, over: true},
		"asking": {agent: slow(func(ctx context.Context) (Booking, error) {
			a, err := agent.AskBack(ctx, which)
			return Booking{a.Choice}, err
		}),
			open: opening(book, envelope.Request)},
		"answered": {agent: slow(func(ctx context.Context) (Booking, error) {
			a, err := agent.AskBack(ctx, which)
			return Booking{a.Choice}, err
		}),
			open: opening(book, envelope.Request), then: func(c client, x store.Exchange) { c.reply(x, `{"choice":"aisle"}`) }, over: true},
		"chat": {from: stranger, agent: []agent.Option{agent.Handle(protocol.Chat(), func(_ context.Context, said protocol.Said) (protocol.Said, error) {
			return protocol.Said{Text: "You said " + said.Text}, nil
		})}, open: func(c client) store.Exchange {
			h := c.opens(protocol.Chat(), envelope.Request)
			h.Extensions = map[string]envelope.Extension{messageExtension: {Value: json.RawMessage(`{"digest":"","message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"Hello?"}]}}`)}}
			return c.take(h, `{"text":"Hello?"}`, "")
		}, over: true},
	}
}

func awarded(c client, x store.Exchange) {
	award := c.answering(c.acts(c.task(x, true))[0], envelope.Agree, 2)
	award.Schema, award.IdempotencyKey, award.ReplyBy = protocol.AgreeSchema, "k", c.s.host.Now().Add(time.Minute)
	c.take(award, `{}`, x.Task)
}

func fenced(c client, x store.Exchange) {
	fence := c.answering(c.acts(c.task(x, true))[0], envelope.Inform, 2)
	fence.Schema, fence.Status, fence.Gather = protocol.FenceSchema, envelope.Final, &envelope.Gather{ID: "g1"}
	fence.Fence = &envelope.Fence{ID: "f1", Proposed: "COMPLETED"}
	c.take(fence, `{"gather":"g1","proposed":"COMPLETED","value_digest":"00","counts":{"members":1,"contributed":1,"dissented":0,"abstained":0,"missing":0},"yours":"accepted"}`, x.Task)
}

// tell plays a tale and returns its task when all is at rest, with what a reader
// of each kind was told meanwhile.
func (tl tale) tell(t *testing.T) (c client, x store.Exchange, told map[bool]*follower) {
	t.Helper()
	c = client{t, begin(t, nil, tl.agent...), tl.from}
	if c.uri == "" {
		c.uri = planner
	}
	x = tl.open(c)
	told = map[bool]*follower{}
	for _, parley := range []bool{true, false} {
		f := &follower{done: make(chan struct{})}
		told[parley] = f
		go f.read(c.s.follow(t.Context(), x, "", parley, true))
	}
	rest()
	if tl.then != nil {
		tl.then(c, x)
		rest()
	}
	if got := c.task(x, true).Status.State; got.Terminal() != tl.over {
		t.Fatalf("the task is %s", got)
	}
	return c, x, told
}

// rest lets everything happen that is under way.
func rest() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

func TestTasksReadAsWrittenDown(t *testing.T) {
	for name, tl := range tales() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, x, _ := tl.tell(t)
				var text bytes.Buffer
				for _, parley := range []bool{true, false} {
					if err := json.Indent(&text, wire.Encode(c.task(x, parley)), "", "  "); err != nil {
						t.Fatal(err)
					}
					text.WriteByte('\n')
				}
				golden(t, filepath.Join("testdata", name+".json"), stable(text.String()))
			})
		})
	}
}

// golden compares a text with a file, or writes it if PARLEY_UPDATE_GOLDEN is 1.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("PARLEY_UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s (%v) does not say what the task is:\n%s", path, err, got)
	}
}

// stable replaces what differs from run to run.
func stable(text string) string {
	for _, same := range [][2]string{
		{`00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}`, "trace"},
		{`"(salt|auth|content_digest)": "[^"]*"`, `"$1": "$1"`},
	} {
		text = regexp.MustCompile(same[0]).ReplaceAllString(text, same[1])
	}
	for _, named := range [][2]string{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "id"},
		{`\b[a-z2-7]{32}\b`, "task"},
	} {
		names := map[string]string{}
		text = regexp.MustCompile(named[0]).ReplaceAllStringFunc(text, func(found string) string {
			if names[found] == "" {
				names[found] = fmt.Sprintf("%s-%d", named[1], len(names)+1)
			}
			return names[found]
		})
	}
	return text
}

func TestWhatAStreamTellsAddsUpToTheTask(t *testing.T) {
	for name, tl := range tales() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, x, told := tl.tell(t)
				for parley, f := range told {
					got := added(f.events)
					if !parley && tl.over && got.Status.State.Interrupted() {
						continue // what the client says next comes with a stream of its own
					}
					equal(t, fmt.Sprintf("told, parley %v", parley), parts(got), parts(c.task(x, parley)))
				}
			})
		})
	}
}

// added is the task that the events of a stream come to.
func added(events []wire.Event) *wire.Task {
	task := *events[0].Response.Task
	for _, e := range events[1:] {
		if u := e.Response.ArtifactUpdate; u != nil {
			task.Artifacts = append(task.Artifacts, u.Artifact)
		}
		if u := e.Response.StatusUpdate; u != nil {
			if task.Status = u.Status; u.Status.Message != nil {
				task.History = append(task.History, *u.Status.Message)
			}
		}
	}
	return &task
}

// parts are the parts of a task that its stream tells.
func parts(task *wire.Task) []string {
	list := []string{string(task.Status.State)}
	if task.Status.Message != nil {
		list = append(list, string(wire.Encode(task.Status.Message)))
	}
	for _, m := range task.History {
		if m.Role == wire.Agent {
			list = append(list, string(wire.Encode(&m)))
		}
	}
	for _, a := range task.Artifacts {
		list = append(list, string(wire.Encode(&a)))
	}
	return list
}
