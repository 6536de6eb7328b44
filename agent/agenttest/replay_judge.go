package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// judged is the store of the run. Whatever the agents do, they write down: here
// it is compared with what they wrote then, before anything follows from it.
type judged struct {
	store.Store
	run *rerun
}

// Commit implements store.Store.
func (s judged) Commit(ctx context.Context, w store.WriteSet) error {
	for _, t := range w.Turns {
		if err := s.run.judgeTurn(ctx, t); err != nil {
			return err
		}
	}
	return s.run.commit(ctx, s.Store, w)
}

// commit writes and notes as one, so that acts are noted in their order.
func (run *rerun) commit(ctx context.Context, s store.Store, w store.WriteSet) error {
	err := run.committed(ctx, s, w)
	if missed, ok := errors.AsType[*MissError](err); ok {
		return run.fail(missed)
	}
	run.wake()
	return err
}

func (run *rerun) committed(ctx context.Context, s store.Store, w store.WriteSet) error {
	run.mu.Lock()
	defer run.mu.Unlock()
	for _, e := range w.Entries {
		if err := run.known(e); err != nil {
			return err
		}
	}
	if err := s.Commit(ctx, w); err != nil {
		return err
	}
	for _, e := range w.Entries {
		run.note(e)
	}
	return nil
}

// known says that an exchange is one of the record.
func (run *rerun) known(e store.Entry) error {
	k := store.Key{Owner: e.Owner, Conversation: e.Conversation, Peer: e.Peer}
	p := run.parts[k]
	if e.Kind != store.Sent || e.Peer == "" || p != nil && p.opened {
		return nil
	}
	return run.current.question(k, p, e)
}

// note compares an act with the recorded one.
func (run *rerun) note(e store.Entry) {
	p := run.parts[store.Key{Owner: e.Owner, Conversation: e.Conversation, Peer: e.Peer}]
	if p == nil {
		return // of the conversation as a whole
	}
	if e.Kind == store.Sent {
		p.opened = true
	}
	if p.took(e) {
		return
	}
	now := decoded(e)
	h := p.act()
	if h == nil {
		if e.Event != "!inform~" || !p.withdrawn() { // how many items a cancel lets through is chance
			run.result.Differences = append(run.result.Differences, differ(p.key, e.Event, nil, now)...)
		}
		return
	}
	p.happened(h)
	p.ids[h.MessageID] = e.MessageID
	run.result.Differences = append(run.result.Differences, differ(p.key, h.Event, h.message, now)...)
}

// judgeTurn judges a record that the work wants to add: all that was recorded
// then is there already, but for the replies.
func (run *rerun) judgeTurn(ctx context.Context, t store.Turn) error {
	run.mu.Lock()
	w := run.current
	_, stopped := w.main.interruption()
	begun, served := w.has(store.Called, t.Name), w.served
	run.mu.Unlock()
	switch {
	case t.Kind == store.Reply && served > 0 && w.replies[served-1].Name == t.Name:
		return nil
	case t.Kind == store.Reply && served == 0:
		return run.fail(fmt.Errorf("agent %s has a model that is not replayed: give it the option agenttest.Replayable", t.Owner))
	case t.Kind == store.Reply:
		return run.fail(&MissError{Kind: MissReply, Exchange: t.Key, Name: t.Name, Nearest: w.replies[served-1].Name})
	case t.Kind == store.Called && begun && stopped:
		// It ran when the work was told to stop, and nobody waited for it.
		<-ctx.Done()
		return context.Cause(ctx)
	case t.Kind == store.Called && begun:
		return agent.ErrOutcomeUnknown // it ran when the process died
	}
	if name, args, ok := w.calling(t.Name); ok {
		return run.fail(w.tool(name, args))
	}
	return run.fail(w.step(t.Name))
}

// calling is the call of the last reply that a record is named for.
func (w *work) calling(record string) (name, args string, ok bool) {
	if w.served == 0 {
		return "", "", false
	}
	r := w.replies[w.served-1]
	for i, c := range r.Calls {
		if place(r.Name, i) == record {
			return c.Name, c.Arguments, true
		}
	}
	return "", "", false
}

// place is the name under which the result of a call is recorded.
func place(reply string, call int) string { return fmt.Sprintf("%s.%d", reply, call+1) }

// step is the miss of a durable step.
func (w *work) step(name string) *MissError {
	m := &MissError{Kind: MissStep, Exchange: w.main.key, Name: name}
	best := -1
	for _, t := range w.turns {
		if t.Kind != store.Result || w.isCall(t.Name) {
			continue
		}
		if n := alike(t.Name, name); n > best {
			best, m.Nearest = n, t.Name
		}
	}
	return m
}

func (w *work) isCall(record string) bool {
	for _, r := range w.replies {
		if strings.HasPrefix(record, r.Name+".") && !strings.Contains(record[len(r.Name)+1:], " ") {
			return true
		}
	}
	return false
}

// alike counts the bytes that two names begin and end with alike.
func alike(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	end := 0
	for end < min(len(a), len(b))-n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return n + end
}
