package agent_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// reading is a carrier to a host that is never sent for: what goes there is mail
// under a task, and what is said there is fetched by whoever asked. The host there
// has no link back.
type reading struct {
	mu    sync.Mutex
	host  *agent.Host
	tasks chan [2]string
	// received counts what was fetched, by its message id.
	received map[string]int
	known    map[[2]string]bool
	// deaf: nothing is fetched.
	deaf bool
}

func taskOf(conversation string) string { return "task-" + conversation }

func (r *reading) there() *agent.Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.host
}

// moveTo puts another host in the place of the one that was there.
func (r *reading) moveTo(h *agent.Host) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.host = h
}

func (r *reading) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	task := [2]string{e.Receiver(), taskOf(e.Conversation())}
	r.mu.Lock()
	fresh := !r.known[task] && e.InReplyTo() == ""
	r.known[task] = r.known[task] || fresh
	r.mu.Unlock()
	if fresh {
		r.tasks <- task
	}
	return r.there().Take(ctx, agent.Mail{Envelope: data, Loopback: true, Task: task[1], Mailbox: true})
}

func (*reading) Capabilities() agent.Capabilities { return agent.Capabilities{Latency: agent.Polled} }

// collect fetches what is said under each task that was ever sent to.
func (r *reading) collect(ctx context.Context, h *agent.Host) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case task := <-r.tasks:
			if !r.deaf {
				group.Go(func() { r.follow(ctx, h, task[0], task[1]) })
			}
		}
	}
}

// follow fetches what is said under a task until all has been said. The host
// there may die, and another one take its place.
func (r *reading) follow(ctx context.Context, h *agent.Host, owner, task string) {
	for read := (map[string]bool{}); ctx.Err() == nil; {
		moved, release := r.there().Follow(owner, task)
		over, err := r.fetch(ctx, h, owner, task, read)
		switch {
		case over:
			release()
			return
		case err != nil:
			moved = nil
		}
		select {
		case <-ctx.Done():
		case <-moved:
		case <-time.After(time.Second):
		}
		release()
	}
}

// fetch takes over what was not read before, and reports whether everything has
// been said.
func (r *reading) fetch(ctx context.Context, h *agent.Host, owner, task string, read map[string]bool) (over bool, err error) {
	s := r.there().Store()
	list, err := s.Tasks(ctx, owner, task)
	if err != nil {
		return false, err
	}
	over = len(list) > 0
	for _, x := range list {
		over = over && x.State.Done()
		log, err := s.Log(ctx, owner, x.Conversation, 0)
		if err != nil {
			return false, err
		}
		for _, e := range log {
			if e.Kind != store.Sent || e.Peer != x.Peer || read[e.MessageID] {
				continue
			}
			m, err := envelope.Decode(e.Envelope)
			if err != nil || m.ReceiptKind() != "" {
				continue // a receipt went back with what it answers
			}
			if _, err := h.Take(ctx, agent.Mail{Envelope: e.Envelope, Caller: owner}); err != nil {
				return false, err
			}
			read[e.MessageID] = true
			r.mu.Lock()
			r.received[e.MessageID]++
			r.mu.Unlock()
		}
	}
	return over, nil
}

// link is the link to the agents there.
func (r *reading) link(agents ...string) agent.Link {
	return agent.Remote{Transport: r, Agents: agents, Vouches: true, Collect: r.collect}.Link()
}

// reader starts the planner's host and one of the others, whose acts the planner
// reads.
func reader(t *testing.T, there store.Store, planner *agent.Agent, others ...*agent.Agent) (r *reading, a, b *agent.Host) {
	t.Helper()
	if there == nil {
		there = memory.New()
	}
	a, b = begin(t, nil, memory.New(), planner), begin(t, nil, there, others...)
	r = &reading{host: b, tasks: make(chan [2]string, 100), received: map[string]int{}, known: map[[2]string]bool{}}
	a.Connect(r.link(b.Agents()...))
	return r, a, b
}

// readOnly checks that what the host's agents said in the conversation stands in
// their logs, was read once each, and was never to be sent.
func (r *reading) readOnly(t *testing.T, conversation string, owners ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, owner := range owners {
		list, err := r.there().Store().Tasks(ctx, owner, taskOf(conversation))
		if err != nil || len(list) == 0 {
			t.Fatalf("under the task of %s are %v, %v", owner, list, err)
		}
		for _, x := range list {
			if !x.Mailbox || x.Task != taskOf(conversation) {
				t.Errorf("the exchange of %s is no mailbox of the task: %+v", owner, x)
			}
			if rows, err := r.there().Store().Outbox(ctx, x.Key); err != nil || len(rows) != 0 {
				t.Errorf("%s has to send %v, %v", owner, rows, err)
			}
			log, err := r.there().Store().Log(ctx, owner, x.Conversation, 0)
			if err != nil {
				t.Fatal(err)
			}
			said := 0
			for _, e := range log {
				m, err := envelope.Decode(e.Envelope)
				if e.Kind != store.Sent || e.Peer != x.Peer || err != nil || m.ReceiptKind() != "" {
					continue
				}
				said++
				r.mu.Lock()
				if n := r.received[e.MessageID]; n != 1 {
					t.Errorf("%s of %s was read %d times", e.Event, owner, n)
				}
				r.mu.Unlock()
			}
			if said == 0 {
				t.Errorf("the log of %s has nothing that it said", owner)
			}
		}
	}
	dead, err := r.there().Store().DeadLetters(ctx, "", 10)
	if err != nil || len(dead) != 0 {
		t.Errorf("dead letters %v, %v", dead, err)
	}
}

// stripped is the envelope without its token.
func stripped(t *testing.T, data []byte) []byte {
	t.Helper()
	e, err := envelope.Decode(data)
	if err != nil {
		t.Error(err)
		return data
	}
	return e.WithoutAuth().Bytes()
}
