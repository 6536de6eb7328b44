package a2a

import (
	"context"
	"errors"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// unanswered reports whether an act is a question that was refused here, perhaps
// by a host before this one, and whoever asked may not know it yet.
func (r *reader) unanswered(w *watch, x store.Exchange, a act) bool {
	return a.Conversation() != w.key.Conversation && a.InReplyTo() == "" && a.ReceiptKind() == "" &&
		x.State.State.Outcome() == protocol.Refused && !w.heard[a.ID()]
}

// misread tells whoever asked that a question was not understood. No act says
// that, so it has no outbox row: it is told again until the server has taken it, or
// does not want it.
func (r *reader) misread(ctx context.Context, w *watch, e *envelope.Envelope, data []byte) error {
	k, err := r.peer.ready(ctx, r.host)
	if err != nil {
		return err
	}
	m, err := messageOf(data, "", wire.User)
	if err != nil {
		return err
	}
	m.TaskID, m.ContextID = w.task, e.Correlation()
	call := wire.Call{Token: e.Auth(), Extensions: []string{ExtensionURI}}
	_, err = k.client.SendMessage(ctx, call, &wire.SendMessageRequest{Message: *m,
		Configuration: wire.SendConfiguration{ReturnImmediately: true, AcceptedOutputModes: []string{jsonMode}}})
	if told, ok := errors.AsType[*wire.Error](err); err != nil && (!ok || !decided(told.Kind)) {
		return err
	}
	w.heard[e.InReplyTo()] = true
	return nil
}

// decided reports whether sending again would be answered with the same error.
func decided(k wire.Kind) bool {
	switch k {
	case wire.InvalidParams, wire.TaskNotFound, wire.UnsupportedOperation, wire.PermissionDenied:
		return true
	}
	return false
}
