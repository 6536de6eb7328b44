package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// errGap: acts are missing before those that were read.
var errGap = errors.New("acts are missing before those that came")

// errStalled: the host cannot take an act now.
var errStalled = errors.New("an act cannot be taken now")

// fromStart is the id of the place before every event of a task: unlike no id at
// all, it is answered with every event.
const fromStart = "0"

// follow reads an exchange by one stream. moved says that it brought something.
func (r *reader) follow(ctx context.Context, k *acquaintance, w *watch) (moved bool, err error) {
	call, err := r.reading(k, w.key.Owner)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	call.LastEventID = w.after
	r.mu.Unlock()
	resumed := call.LastEventID != ""
	events, err := k.client.SubscribeToTask(ctx, call, &wire.SubscribeRequest{ID: w.task})
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Kind == wire.UnsupportedOperation {
		return false, errors.Join(r.get(ctx, k, w), r.ended(ctx, w)) // it has ended there: what came of it can be read
	}
	if err != nil {
		return false, err
	}
	for event, err := range events {
		if errors.Is(err, errEventTooLarge) && !resumed {
			r.enlarge(w)
			return true, err
		}
		if err != nil {
			return moved, err
		}
		took, err := r.readEvent(ctx, k, w, event.Response, resumed)
		moved = moved || took
		if errors.Is(err, errGap) {
			r.mu.Lock()
			again := w.after != fromStart
			w.after = fromStart
			r.mu.Unlock()
			return moved || again, err
		}
		if err != nil {
			return moved, err
		}
		if event.ID != "" {
			r.mu.Lock()
			w.after = event.ID
			r.mu.Unlock()
		}
		if over, err := r.over(ctx, w); over || err != nil {
			return true, err
		}
	}
	return moved, nil
}

func (r *reader) ended(ctx context.Context, w *watch) error {
	_, err := r.over(ctx, w)
	return err
}

// readEvent takes what an event brings, and reports whether that was something.
// The task that begins a resumed stream leaves out what follows it.
func (r *reader) readEvent(ctx context.Context, k *acquaintance, w *watch, e wire.StreamResponse, resumed bool) (bool, error) {
	if k.foreign() {
		return r.readForeignEvent(ctx, k, w, e)
	}
	switch {
	case e.Task != nil && resumed:
		return r.take(ctx, w, actsOf(messagesOf(e.Task), e.Task.Artifacts), 0)
	case e.Task != nil:
		return r.readTask(ctx, k, w, e.Task)
	case e.StatusUpdate != nil && e.StatusUpdate.Status.Message != nil:
		return r.take(ctx, w, actsOf([]wire.Message{*e.StatusUpdate.Status.Message}, nil), 0)
	case e.ArtifactUpdate != nil:
		return r.take(ctx, w, actsOf(nil, []wire.Artifact{e.ArtifactUpdate.Artifact}), 0)
	}
	return false, nil
}

// readTask takes what a snapshot shows; what that leaves out is missing.
func (r *reader) readTask(ctx context.Context, k *acquaintance, w *watch, task *wire.Task) (took bool, err error) {
	if k.foreign() {
		return r.readForeign(ctx, k, w, task)
	}
	took, err = r.take(ctx, w, actsOf(messagesOf(task), task.Artifacts), standingOf(task).LastSeq)
	if err != nil {
		return took, err
	}
	return took, r.ended(ctx, w)
}

// readWhole is readTask, but fetches what the snapshot leaves out.
func (r *reader) readWhole(ctx context.Context, k *acquaintance, w *watch, task *wire.Task) error {
	_, err := r.readTask(ctx, k, w, task)
	if errors.Is(err, errGap) {
		err = r.fill(ctx, k, w, standingOf(task).LastSeq)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	w.seen = later(w.seen, task.Status.Timestamp)
	r.mu.Unlock()
	return nil
}

// fill reads a task's events from the start until the act with the number is
// there.
func (r *reader) fill(ctx context.Context, k *acquaintance, w *watch, last int64) error {
	call, err := r.reading(k, w.key.Owner)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	call.LastEventID = fromStart
	events, err := k.client.SubscribeToTask(ctx, call, &wire.SubscribeRequest{ID: w.task})
	if err != nil {
		return err
	}
	for event, err := range events {
		if err != nil {
			return err
		}
		if _, err := r.readEvent(ctx, k, w, event.Response, true); err != nil {
			return err
		}
		x, err := r.host.Store().Exchange(ctx, w.key)
		if err != nil {
			return err
		}
		if x.State.Received >= last || x.State.Done() {
			return r.ended(ctx, w)
		}
	}
	return errGap
}

// messagesOf is everything that was said under a task.
func messagesOf(t *wire.Task) []wire.Message {
	all := slices.Clone(t.History)
	if t.Status.Message != nil {
		all = append(all, *t.Status.Message)
	}
	return all
}

// taskReport is what the extension says about a task.
type taskReport struct {
	LastSeq int64 `json:"last_seq"`
	// Receipts are what a message is answered with at once: headers.
	Receipts []json.RawMessage `json:"receipts"`
}

func standingOf(t *wire.Task) taskReport {
	var s taskReport
	if json.Unmarshal(t.Metadata[ExtensionURI], &s) != nil {
		return taskReport{}
	}
	return s
}

// act is an envelope as it was read.
type act struct {
	*envelope.Envelope
	data []byte
}

// actsOf are the envelopes that messages of the agent and artifacts carry, each
// once. What carries none, or cannot be read, is passed over: if it is missed,
// that shows in the numbers.
func actsOf(messages []wire.Message, artifacts []wire.Artifact) []act {
	var list []act
	seen := map[string]bool{}
	add := func(data []byte, err error) {
		if err != nil {
			return
		}
		e, err := envelope.Decode(data)
		if err != nil || seen[e.ID()] {
			return
		}
		seen[e.ID()] = true
		list = append(list, act{e, data})
	}
	for i := range messages {
		if m := &messages[i]; m.Role == wire.Agent && carriesEnvelope(m.Metadata) {
			add(envelopeOf(m))
		}
	}
	for i := range artifacts {
		if a := &artifacts[i]; carriesEnvelope(a.Metadata) {
			add(envelopeOfArtifact(a))
		}
	}
	slices.SortStableFunc(list, func(a, b act) int { return cmp.Compare(a.Seq(), b.Seq()) })
	return list
}

// take gives the host what it does not have, conversation by conversation and in
// order of number, that of the exchange itself first. last is the number up to
// which the exchange's acts should be there, 0 if that is not known. The error is
// errGap, errStalled or the host's.
func (r *reader) take(ctx context.Context, w *watch, acts []act, last int64) (took bool, err error) {
	w.taking.Lock()
	defer w.taking.Unlock()
	var order []string
	in := map[string][]act{w.key.Conversation: nil}
	for _, a := range acts {
		if a.Receiver() != w.key.Owner || a.Sender() != w.key.Peer {
			continue
		}
		if _, known := in[a.Conversation()]; !known {
			order = append(order, a.Conversation())
		}
		in[a.Conversation()] = append(in[a.Conversation()], a)
	}
	for _, conversation := range append([]string{w.key.Conversation}, order...) {
		received, some, err := r.takeOne(ctx, w, conversation, in[conversation])
		took = took || some
		if err == nil && conversation == w.key.Conversation && received < last {
			err = errGap
		}
		if err != nil {
			return took, err
		}
	}
	return took, nil
}

// takeOne does so with one conversation, and returns the number of the last act
// that the host has then.
func (r *reader) takeOne(ctx context.Context, w *watch, conversation string, acts []act) (received int64, took bool, err error) {
	k := store.Key{Owner: w.key.Owner, Conversation: conversation, Peer: w.key.Peer}
	x, err := r.host.Store().Exchange(ctx, k)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, false, err
	}
	received = x.State.Received
	for _, a := range acts {
		switch {
		case r.unanswered(w, x, a):
			// The host says again what it answered.
			if err := r.give(ctx, w, a.data); err != nil {
				return received, took, err
			}
			continue
		case a.ReceiptKind() != "":
			if x.State.Done() || w.heard[a.ID()] {
				continue
			}
			w.heard[a.ID()] = true
		case a.Seq() <= received:
			continue
		case a.Seq() > received+1:
			return received, took, errGap
		}
		if err := r.give(ctx, w, a.data); err != nil {
			return received, took, err
		}
		took = true
		if x, err = r.host.Store().Exchange(ctx, k); err != nil && !errors.Is(err, store.ErrNotFound) {
			return received, took, err
		}
		if a.ReceiptKind() == "" && x.State.Received == received {
			// It was refused without consuming its number, and will be again.
			return received, took, fmt.Errorf("%w: %s is refused", errStalled, a.ID())
		}
		received = x.State.Received
	}
	return received, took, nil
}

// give gives the host one envelope. What the host answers goes nowhere, but that it
// does not understand a question: a refusal is counted there, and one that may
// pass stalls the reading.
func (r *reader) give(ctx context.Context, w *watch, data []byte) error {
	m := agent.Mail{Envelope: data, Task: w.task}
	k := r.peer.now()
	foreign := k != nil && k.foreign()
	if foreign {
		m.Caller = w.key.Peer
	}
	replies, err := r.host.Take(ctx, m)
	if err != nil {
		return err
	}
	for _, data := range replies {
		reply, err := guard.Open(data)
		if err != nil {
			return err
		}
		if told := reply.Header().Error; reply.ReceiptKind() == envelope.Nack && told != nil && told.Retriable && told.Reason != guard.ReasonInProgress {
			return fmt.Errorf("%w: %s", errStalled, told.Reason)
		}
		if reply.ReceiptKind() == envelope.NotUnderstood && !foreign {
			if err := r.misread(ctx, w, reply, data); err != nil {
				return err
			}
		}
	}
	return nil
}
