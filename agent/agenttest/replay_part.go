package agenttest

import (
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// part is one side of one exchange: what happened to it then, and how much of
// that has happened again.
type part struct {
	key    store.Key
	script []happening
	// slow: the runtime agrees on its own, some time before the first act.
	slow bool
	// opened: the opening act was sent or delivered again.
	opened bool
	// ids are the messages of now by those of then.
	ids map[string]string
}

// happening is an entry of the recorded log.
type happening struct {
	store.Entry
	message *envelope.Envelope // nil for a timer
	// offered: it was delivered, or its time has come; again: it has happened
	// again.
	offered, again bool
}

// incoming reports whether the message came from the peer, whatever was
// thought of it then.
func (h *happening) incoming() bool { return h.Kind == store.Received || h.Kind == store.Rejected }

// loose reports whether the entry need not happen again: when the runtime
// agrees, and which timers run out, depends on how long things take.
func (p *part) loose(h *happening) bool {
	return h.Kind == store.Fired || p.slow && h.Kind == store.Sent && h.Event == "!agree"
}

// due is the first entry that has not happened again, nil if all have.
func (p *part) due() *happening {
	for i := range p.script {
		if !p.script[i].again {
			return &p.script[i]
		}
	}
	return nil
}

// ready is what may come next from outside the work, the earliest first. A
// peer's answer may come as soon as it was asked for. What meets the work
// unasked, such as a cancel or the end of a deadline, must not come before the
// work is as far as it was then.
func (w *work) ready() (p *part, h *happening) {
	for _, of := range append([]*part{w.main}, w.children...) {
		next := of.due()
		if !of.opened || next == nil || next.offered || !of.loose(next) && !next.incoming() {
			continue
		}
		if next.incoming() && next.message.ReceiptKind() != "" {
			continue // it comes back with the message that it answers
		}
		if (of == w.main || !next.incoming()) && !w.reached(next.At) {
			continue
		}
		if h == nil || next.At.Before(h.At) {
			p, h = of, next
		}
	}
	return p, h
}

// reached reports whether all has been said again that the agent and its model
// had said before the moment.
func (w *work) reached(at time.Time) bool {
	for _, of := range append([]*part{w.main}, w.children...) {
		next := of.act()
		if next != nil && next.At.Before(at) && (of.opened || !w.enclosed(next.At)) {
			return false
		}
	}
	return w.served == len(w.replies) || !w.replies[w.served].At.Before(at)
}

// first finds the first entry that has not happened again and is meant.
func (p *part) first(meant func(*happening) bool) *happening {
	for i := range p.script {
		if h := &p.script[i]; !h.again && meant(h) {
			return h
		}
	}
	return nil
}

// act is the next act of the owner that must come.
func (p *part) act() *happening {
	return p.first(func(h *happening) bool { return h.Kind == store.Sent && !p.loose(h) })
}

// interruption is what ended the owner's work from outside, if that is what
// comes next: the peer's message or a deadline.
func (p *part) interruption() (*happening, bool) {
	next := p.first(func(h *happening) bool {
		return h.Kind != store.Sent && h.Event != protocol.TimerAgree.Firing() || h.Kind == store.Sent && !p.loose(h)
	})
	if next == nil || next.Kind == store.Sent {
		return nil, false
	}
	return next, true
}

// happened marks an entry, and those before it that need not happen.
func (p *part) happened(h *happening) {
	h.again = true
	for i := range p.script {
		if &p.script[i] == h {
			return
		}
		if p.loose(&p.script[i]) {
			p.script[i].again = true
		}
	}
}

// took marks what has happened again without being the owner's act, and
// reports whether the entry was such a thing.
func (p *part) took(e store.Entry) bool {
	switch {
	case e.Kind == store.Received || e.Kind == store.Rejected:
		if h := p.first((*happening).incoming); h != nil {
			h.again = true
		}
	case e.Kind != store.Sent, p.slow && e.Event == "!agree":
		h := p.first(func(h *happening) bool { return h.Kind == e.Kind && h.Event == e.Event })
		if h != nil {
			p.happened(h)
			p.ids[h.MessageID] = e.MessageID
		}
	default:
		return false
	}
	return true
}

// withdrawn reports whether the peer cancelled the exchange then.
func (p *part) withdrawn() bool {
	return slices.ContainsFunc(p.script, func(h happening) bool {
		return h.incoming() && h.message != nil && h.message.Act() == envelope.Cancel
	})
}

// receipt is the recorded receipt of a message of now, other than an ack that
// moved nothing.
func (p *part) receipt(messageID string) *happening {
	return p.first(func(h *happening) bool {
		return h.incoming() && h.message.ReceiptKind() != "" && p.ids[h.message.InReplyTo()] == messageID
	})
}

// again is a recorded message as it reads now: what it answers has another id.
func (p *part) again(e *envelope.Envelope) (*envelope.Envelope, error) {
	h := e.Header()
	now, ok := p.ids[h.InReplyTo]
	if !ok {
		return e, nil
	}
	h.InReplyTo, h.ContentDigest = now, ""
	if h.Receipt != "" {
		return envelope.Seal(h, nil)
	}
	return envelope.Seal(h, e.Content())
}

// begin is what the clock shows before there is anything to do.
var begin = time.Unix(0, 0).UTC()
