package a2a

import (
	"encoding/json"
	"fmt"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// fold goes through the log of a task and says what each entry shows to a
// reader. Snapshots and streams are both made of it, so they agree.
type fold struct {
	host *agent.Host
	// x is the task's exchange; only what never changes of it is looked at.
	x      store.Exchange
	reader string
	parley bool
	// show is Config.Show.
	show func(contract string, content json.RawMessage) []wire.Part

	// state is the exchange's after the last entry, sent the number of its last
	// act, index its place in the exchange's log.
	state protocol.State
	sent  int64
	index int64
	// asked are the states of the questions, by conversation, nil without any; told
	// is the state of the task.
	asked map[string]protocol.State
	told  wire.TaskState
	// noted are the messages that were kept while nothing was asked: one that
	// answers a question later was said before. nil without any.
	noted map[string]bool
}

// newFold begins before the first entry.
func (s *service) newFold(x store.Exchange, o shown) fold {
	f := fold{host: s.host, show: s.show, x: x, reader: o.reader, parley: o.parley, state: protocol.Start}
	f.told = f.now()
	return f
}

// resume begins behind the entry with that index, which left the exchange in that
// state, for a reader that was told that of the task.
func (f *fold) resume(index int64, state protocol.State, told wire.TaskState) {
	f.index, f.state, f.told = index, state, told
}

// said is what one entry shows; every part may be absent.
type said struct {
	// user is what the client said, agent what the agent answers.
	user, agent *wire.Message
	artifact    *wire.Artifact
	// status is the task's new one if moved: it changed or something was said about
	// it; its message is agent.
	status wire.TaskStatus
	moved  bool
}

// take takes the next entry.
func (f *fold) take(e store.Entry) (said, error) {
	var s said
	var err error
	switch {
	case e.Kind == store.Sent:
		s, err = f.ours(e)
	case e.Kind == store.Received || e.Kind == store.Noted:
		s.user, err = f.theirs(e)
	}
	if err != nil {
		return said{}, err
	}
	f.move(e)
	if now := f.now(); s.agent != nil || now != f.told {
		f.told = now
		s.moved = true
		s.status = wire.TaskStatus{State: now, Message: s.agent, Timestamp: e.At.UTC()}
	}
	return s, nil
}

// move notes where the entry leaves its exchange.
func (f *fold) move(e store.Entry) {
	if e.Conversation != f.x.Conversation {
		if e.To == "" {
			return
		}
		if f.asked == nil {
			f.asked = map[string]protocol.State{}
		}
		f.asked[e.Conversation] = e.To
		return
	}
	f.index = e.Index
	if e.To != "" {
		f.state = e.To
	}
	if e.Kind == store.Sent && e.Event != "!ack" && e.Event != "!not-understood" {
		f.sent++
	}
}

// now is where the task stands.
func (f *fold) now() wire.TaskState {
	for _, s := range f.asked {
		if waits(s) {
			return taskState(f.x.State.Protocol, f.state, true)
		}
	}
	return taskState(f.x.State.Protocol, f.state, false)
}

// ours is what an act of the agent shows: what it told is an artifact, all else
// is said about the task.
func (f *fold) ours(e store.Entry) (said, error) {
	told := e.Conversation == f.x.Conversation && (e.Event == "!inform" || e.Event == "!inform~")
	if !f.parley {
		return f.plain(e, told)
	}
	token := ""
	if f.reader != "" {
		var err error
		if token, err = f.host.Token(f.x.Owner, f.reader); err != nil {
			return said{}, err
		}
	}
	if told {
		a, err := artifactOf(e.Envelope, token)
		return said{artifact: a}, err
	}
	m, err := messageOf(e.Envelope, token, wire.Agent)
	return said{agent: f.here(m)}, err
}

// theirs is what the client said.
func (f *fold) theirs(e store.Entry) (*wire.Message, error) {
	if e.Kind == store.Noted {
		if f.noted == nil {
			f.noted = map[string]bool{}
		}
		f.noted[e.MessageID] = true
		kept, err := readOriginal(e.Note)
		if err != nil {
			return nil, fmt.Errorf("in the log of %s: %w", f.x.Owner, err)
		}
		return f.original(kept, func() []wire.Part { return []wire.Part{text("")} })
	}
	if !f.parley && f.noted[e.MessageID] {
		return nil, nil
	}
	if !f.parley {
		return f.plainUser(e)
	}
	m, err := messageOf(e.Envelope, "", wire.User)
	return f.here(m), err
}

// here says in a message which task it belongs to, unless it does.
func (f *fold) here(m *wire.Message) *wire.Message {
	if m == nil {
		return nil
	}
	if m.TaskID == "" {
		m.TaskID = f.x.Task
	}
	if m.ContextID == "" {
		m.ContextID = f.x.Correlation
	}
	return m
}
