package agent

import (
	"context"
	"log/slog"

	"github.com/parley-agents/parley/store"
)

// The names of what a host reports. They are stable: dashboards and alarms may
// hang on them.
const (
	GuardRefused    = "parley.guard.refused"
	AuthRefused     = "parley.auth.refused"
	SendFailed      = "parley.send.failed"
	MessageDead     = "parley.message.dead"
	StoreFailed     = "parley.store.failed"
	TimerFailed     = "parley.timer.failed"
	WorkFailed      = "parley.work.failed"
	CancelFailed    = "parley.cancel.failed"
	HandlerFailed   = "parley.handler.failed"
	HandlerPanicked = "parley.handler.panicked"
	ToolFailed      = "parley.tool.failed"
	ToolPanicked    = "parley.tool.panicked"
	ModelFailed     = "parley.model.failed"
	Repaired        = "parley.repair"
	Stepped         = "parley.step"

	// CircuitOpened: a receiver could not be reached several times in a row, or
	// when it was tried again, and is left alone. Attrs: wait. CircuitClosed: it
	// was reached again.
	CircuitOpened = "parley.circuit.opened"
	CircuitClosed = "parley.circuit.closed"

	// LeaseLost: somebody else has taken over work that runs here; it was told
	// to stop.
	LeaseLost = "parley.lease.lost"

	// ContractDeprecated: an exchange was opened under a contract whose peer
	// has announced its end. Attrs: contract, sunset, replaced_by.
	ContractDeprecated = "parley.contract.deprecated"

	// CommandObeyed: an operator's command was carried out, or Err says why not.
	// Attrs: command, verb, by, message, answer.
	CommandObeyed = "parley.command"
)

// Observation is one thing that an operator may want to see. But for Err it
// never carries content, nor anything else that a peer wrote but names, ids,
// codes and JSON pointers.
type Observation struct {
	// Name is one of the constants of this package.
	Name string
	// Owner, Conversation and Peer name the exchange, where there is one.
	Owner, Conversation, Peer string
	// Attrs are the rest.
	Attrs []slog.Attr
	// Err is the cause, for the operator only: its text is that of the handler,
	// check, tool or model that failed, and may quote anything.
	Err error
}

// Observer sees what a host reports, beside the log. Observe is called from
// many goroutines at once and must not block. A panic in it is caught and
// logged, and nothing else is lost.
type Observer interface {
	Observe(ctx context.Context, o Observation)
}

// report observes something of the exchange k.
func (h *Host) report(ctx context.Context, name string, k store.Key, err error, attrs ...slog.Attr) {
	h.observe(ctx, Observation{Name: name, Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Attrs: attrs, Err: err})
}

// observed reports whether anybody would see a report of that name.
func (h *Host) observed(ctx context.Context, name string) bool {
	return h.cfg.Observer != nil || h.log.Enabled(ctx, levelOf(name))
}

// observe logs and tells the observer.
func (h *Host) observe(ctx context.Context, o Observation) {
	if h.cfg.Observer != nil {
		h.inform(ctx, o)
	}
	level := levelOf(o.Name)
	if !h.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(o.Attrs)+4)
	for _, a := range []slog.Attr{slog.String("owner", o.Owner), slog.String("conversation", o.Conversation), slog.String("peer", o.Peer)} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	attrs = append(attrs, o.Attrs...)
	if o.Err != nil {
		attrs = append(attrs, slog.Any("error", o.Err))
	}
	h.log.LogAttrs(ctx, level, o.Name, attrs...)
}

// inform tells the observer, and survives it.
func (h *Host) inform(ctx context.Context, o Observation) {
	defer func() {
		if p := recover(); p != nil {
			h.log.ErrorContext(ctx, "the observer panicked", slog.String("name", o.Name), slog.Any("error", panicked(p)))
		}
	}()
	h.cfg.Observer.Observe(ctx, o)
}

func levelOf(name string) slog.Level {
	switch name {
	case CommandObeyed:
		return slog.LevelInfo
	case Stepped:
		return slog.LevelDebug
	case SendFailed, Repaired, CircuitClosed:
		return slog.LevelInfo
	case GuardRefused, AuthRefused, ToolFailed, ContractDeprecated, CircuitOpened, LeaseLost:
		return slog.LevelWarn
	}
	return slog.LevelError
}
