package a2a

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// maxArtifacts is how many artifacts a snapshot shows at most, the last ones, where
// there are streams, which tell all of them.
const maxArtifacts = 100

// shown says what a snapshot shows, and to whom.
type shown struct {
	// history is how many messages at most, the last ones; nil all.
	history   *int
	artifacts bool
	// whole: all artifacts, to who reads the task where no stream tells them.
	whole bool
	// reader is the agent that has proved to be reading, "" if none has: acts come
	// with a token for it, if parley.
	reader string
	// parley: the reader takes envelopes. Any other gets texts and data.
	parley bool
}

// snapshotNow is the snapshot of a task that is read anew.
func (s *service) snapshotNow(ctx context.Context, x store.Exchange, o shown) (*wire.Task, error) {
	x, asked, err := s.again(ctx, x)
	if err != nil {
		return nil, err
	}
	return s.snapshot(ctx, x, asked, o)
}

// snapshot is the task as it stands, of which x and the questions about it were
// just read. It is the reader's own: nothing of it changes later.
func (s *service) snapshot(ctx context.Context, x store.Exchange, asked []store.Exchange, o shown) (*wire.Task, error) {
	f := s.newFold(x, o)
	return s.picture(ctx, x, asked, o, &f, newTrack(s.host.Store(), x, 0))
}

// picture takes the fold from the beginning of the log to its end.
func (s *service) picture(ctx context.Context, x store.Exchange, asked []store.Exchange, o shown, f *fold, t *track) (*wire.Task, error) {
	status := wire.TaskStatus{State: f.told, Timestamp: moved(x, asked)}
	task := &wire.Task{ID: x.Task, ContextID: x.Correlation}
	t.look(asked)
	for {
		e, ok, err := t.next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		said, err := f.take(e)
		if err != nil {
			return nil, err
		}
		if said.moved {
			status.State, status.Message = said.status.State, said.status.Message
		}
		for _, m := range []*wire.Message{said.user, said.agent} {
			if m != nil && (o.history == nil || *o.history > 0) {
				task.History = last(append(task.History, *m), o.history)
			}
		}
		if said.artifact != nil && o.artifacts {
			task.Artifacts = append(task.Artifacts, *said.artifact)
			if len(task.Artifacts) == 2*maxArtifacts && !o.whole {
				task.Artifacts = append([]wire.Artifact(nil), task.Artifacts[maxArtifacts:]...)
			}
		}
	}
	if !o.whole {
		task.Artifacts = task.Artifacts[max(0, len(task.Artifacts)-maxArtifacts):]
	}
	task.Status = status
	return task, f.mark(task, f.state, f.sent)
}

// last keeps the last messages of a history.
func last(history []wire.Message, n *int) []wire.Message {
	if n == nil {
		return history
	}
	return history[max(0, len(history)-*n):]
}

// glance is the task as it stands, without what was said and made.
func (f *fold) glance(x store.Exchange, asked []store.Exchange) (*wire.Task, error) {
	task := &wire.Task{ID: x.Task, ContextID: x.Correlation,
		Status: wire.TaskStatus{State: stateOf(x, asked), Timestamp: moved(x, asked)}}
	return task, f.mark(task, x.State.State, x.State.Sent)
}

// mark tells a reader of Parley how the exchange stands.
func (f *fold) mark(task *wire.Task, state protocol.State, sent int64) error {
	if !f.parley {
		return nil
	}
	data, err := json.Marshal(standing{State: state, Outcome: state.Outcome(), LastSeq: sent})
	if err != nil {
		return err
	}
	task.Metadata = wire.Metadata{ExtensionURI: data}
	return nil
}

// standing is the metadata of a task: the state of its exchange, how that ended,
// and the number of the agent's last act in it.
type standing struct {
	State   protocol.State   `json:"state"`
	Outcome protocol.Outcome `json:"outcome,omitempty"`
	LastSeq int64            `json:"last_seq"`
}

// moved is when something happened last under a task.
func moved(x store.Exchange, asked []store.Exchange) time.Time {
	at := x.MovedAt
	for _, q := range asked {
		if q.MovedAt.After(at) {
			at = q.MovedAt
		}
	}
	return at.UTC()
}
