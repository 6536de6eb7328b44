package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// sendForeign hands an act to an agent that knows no envelopes. What it answers
// is put into some.
func (d *delivery) sendForeign(ctx context.Context) ([][]byte, error) {
	v := voice{opening: d.Envelope}
	var err error
	switch {
	case d.Protocol() != protocol.RequestV1 && d.Protocol() != protocol.QueryV1:
		why := envelope.NewError(envelope.CodePermanent, guard.ReasonUnsupportedProtocol)
		why.Detail = &envelope.Detail{Pointer: "/protocol", Want: protocol.RequestV1 + " or " + protocol.QueryV1}
		return single(v.receipt(d.Envelope, envelope.Nack, why))
	case d.opens() && d.Capability() == "urn:cap:"+protocol.OutcomeName:
		return d.foreignOutcome(ctx)
	case d.opens():
		var said [][]byte
		if said, err = d.openForeign(ctx); err == nil && said != nil {
			return said, nil
		}
	case d.Act() == envelope.Cancel:
		var said [][]byte
		if said, err = d.neverForeign(ctx, v); err == nil && said == nil {
			err = d.cancelForeign(ctx, d.exchange)
		}
		if err == nil && said != nil {
			return said, nil
		}
	case d.exchange.State.Role == protocol.Participant:
		err = d.answerForeign(ctx)
	}
	if err != nil {
		return nil, sendError(err)
	}
	return single(v.receipt(d.Envelope, envelope.Ack, nil))
}

func single(data []byte, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	return [][]byte{data}, nil
}

// foreignCall is what a call to a foreign agent carries.
func (d *delivery) foreignCall() wire.Call {
	trace := d.Header().Trace
	return wire.Call{Traceparent: trace.Traceparent, Tracestate: trace.Tracestate}
}

// openForeign makes the task of an exchange, once: a message that may have
// arrived is looked for before it is sent again. An agent that answers without a
// task has said all that it will, and replies has it.
func (d *delivery) openForeign(ctx context.Context) (replies [][]byte, err error) {
	if d.exchange.Task != "" {
		d.watch(d.key, d.Correlation(), d.exchange.Task)
		return nil, nil
	}
	var task *wire.Task
	if d.Attempt() > 1 {
		task = d.lookForForeign(ctx)
	}
	if task == nil {
		m := wire.Message{MessageID: d.ID(), Role: wire.User, Parts: plainContent(d.Envelope), ContextID: d.peer.contexts.get(d.Correlation())}
		resp, err := d.known.client.SendMessage(ctx, d.foreignCall(), &wire.SendMessageRequest{Message: m,
			Configuration: wire.SendConfiguration{ReturnImmediately: true, AcceptedOutputModes: []string{jsonMode, textMode}}})
		if err != nil {
			return nil, err
		}
		if resp.Message != nil {
			d.peer.contexts.put(d.Correlation(), resp.Message.ContextID)
			return d.saidAtOnce(resp.Message)
		}
		task = resp.Task
	}
	d.peer.contexts.put(d.Correlation(), task.ContextID)
	if err := d.assign(ctx, task.ID); err != nil {
		return nil, err
	}
	d.watch(d.key, d.Correlation(), task.ID)
	return nil, nil
}

// lookForForeign finds the task that an earlier attempt made, nil if there is
// none or nobody can tell.
func (d *delivery) lookForForeign(ctx context.Context) *wire.Task {
	const pages = 4
	req := &wire.ListTasksRequest{ContextID: d.peer.contexts.get(d.Correlation())}
	for range pages {
		resp, err := d.known.client.ListTasks(ctx, d.foreignCall(), req)
		if err != nil {
			return nil
		}
		for i := range resp.Tasks {
			if slices.ContainsFunc(resp.Tasks[i].History, func(m wire.Message) bool { return m.MessageID == d.ID() }) {
				return &resp.Tasks[i]
			}
		}
		if req.PageToken = resp.NextPageToken; req.PageToken == "" {
			return nil
		}
	}
	return nil
}

// saidAtOnce is an answer without a task: it is the result.
func (d *delivery) saidAtOnce(m *wire.Message) ([][]byte, error) {
	v := voice{opening: d.Envelope}
	var replies [][]byte
	for _, make := range []func() ([]byte, error){
		func() ([]byte, error) { return v.receipt(d.Envelope, envelope.Ack, nil) },
		func() ([]byte, error) { return v.agree(1) },
		func() ([]byte, error) { return v.result(2, m.Parts, time.Time{}) },
	} {
		data, err := make()
		if err != nil {
			return nil, err
		}
		replies = append(replies, data)
	}
	return replies, nil
}

// neverForeign is what a cancel is answered with that overtook the act which it
// cancels: nothing was begun.
func (d *delivery) neverForeign(ctx context.Context, v voice) ([][]byte, error) {
	row, err := d.host.Store().OutboxRow(ctx, d.key.Owner, d.exchange.State.Opening)
	if err != nil || row.Status != store.Dropped {
		return nil, err
	}
	ack, err := v.receipt(d.Envelope, envelope.Ack, nil)
	if err != nil {
		return nil, err
	}
	done, err := v.cancelled(1, d.Timestamp())
	return [][]byte{ack, done}, err
}

// errUnnamed: the task of an exchange is not known yet.
var errUnnamed = errors.New("the server has not said yet what it calls the exchange")

// cancelForeign cancels the task of an exchange. One that has ended meanwhile
// says what came of it when it is read.
func (d *delivery) cancelForeign(ctx context.Context, x store.Exchange) error {
	if x.Task == "" {
		return fmt.Errorf("cancelling %s: %w", x.Conversation, errUnnamed)
	}
	_, err := d.known.client.CancelTask(ctx, d.foreignCall(), &wire.CancelTaskRequest{ID: x.Task})
	if e, ok := errors.AsType[*wire.Error](err); ok && (e.Kind == wire.TaskNotCancelable || e.Kind == wire.UnsupportedOperation) {
		err = nil
	}
	if err == nil {
		d.stir(x.Task, true)
	}
	return err
}

// answerForeign gives the answer to a question. Without one, the task would wait
// for ever: it is cancelled.
func (d *delivery) answerForeign(ctx context.Context) error {
	switch d.Act() {
	case envelope.Inform:
		if d.Status() != envelope.Final {
			return nil
		}
		var a protocol.QuestionAnswered
		if err := json.Unmarshal(d.Content(), &a); err != nil {
			return err
		}
		said := string(a.Text) + a.Choice + a.Value // one of them is set
		_, err := d.known.client.SendMessage(ctx, d.foreignCall(), &wire.SendMessageRequest{
			Message: wire.Message{MessageID: d.ID(), Role: wire.User, TaskID: d.exchange.Task, Parts: []wire.Part{{Text: &said}},
				ContextID: d.peer.contexts.get(d.Correlation())},
			Configuration: wire.SendConfiguration{ReturnImmediately: true, AcceptedOutputModes: []string{jsonMode, textMode}}})
		if e, ok := errors.AsType[*wire.Error](err); ok && (e.Kind == wire.UnsupportedOperation || e.Kind == wire.TaskNotFound) {
			err = nil // the task has ended without it
		}
		if err == nil {
			d.stir(d.exchange.Task, true)
		}
		return err
	case envelope.Refuse, envelope.Failure:
		return d.cancelForeign(ctx, d.exchange)
	}
	return nil
}
