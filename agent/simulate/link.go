package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// link carries what one node sends to another, with the accidents of a
// network. It is an agent.Transport.
type link struct {
	from, to *Node
}

// connect makes a node's new host and all others reachable for each other.
func (w *World) connect(n *Node, h *agent.Host) {
	for _, other := range w.nodes {
		if other == n || other.host == nil {
			continue
		}
		h.Connect(agent.PeerHost(other.host).Through(func(agent.Transport) agent.Transport { return link{n, other} }))
		other.host.Connect(agent.PeerHost(h).Through(func(agent.Transport) agent.Transport { return link{other, n} }))
	}
}

// Capabilities implements agent.Transport.
func (l link) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.Network, SenderLearns: true}
}

var (
	errLost    = errors.New("the network lost it")
	errRefused = errors.New("nobody listens there")
)

// answer is what came back with one delivery.
type answer struct {
	replies [][]byte
	err     error
	done    chan struct{}
}

// Send implements agent.Transport.
func (l link) Send(ctx context.Context, data []byte) ([][]byte, error) {
	w, f, way := l.from.world, l.from.world.faults, l.from.name+">"+l.to.name
	e := w.wire.sent(w, data)
	if how, crash := f.accident(Crash, "crash sending", way); crash {
		l.from.crash(how)
		return nil, errCrashed
	}
	latency := time.Duration(between(f.draw("latency "+way, w.turn()), 0.001, 0.05) * float64(time.Second))
	if how, late := f.accident(Delay, "delay", way); late {
		latency += time.Duration(between(how, 0.5, 15) * float64(time.Second))
	}
	if how, slow := f.accident(Slow, "slow", way); slow {
		w.slowDown(l.to, time.Duration(between(how, 1, 20)*float64(time.Second)))
	}
	if how, twice := f.accident(Duplicate, "duplicate", way); twice {
		l.deliver(e, data, latency+time.Duration(between(how, 0.01, 30)*float64(time.Second)))
	}
	if _, lost := f.accident(Drop, "drop", way); lost {
		return nil, l.silence(ctx)
	}
	a := l.deliver(e, data, latency)
	if w.loop.Wait(a.done, ctx.Done()) != 0 {
		return nil, context.Cause(ctx)
	}
	if how, hostile := f.accident(Poison, "poison", way); hostile && taken(a) {
		l.poison(e, data, how)
	}
	if how, crash := f.accident(Crash, "crash answering", way); crash {
		l.to.crash(how)
		return nil, l.silence(ctx)
	}
	if _, lost := f.accident(Drop, "drop answer", way); lost {
		return nil, l.silence(ctx)
	}
	if how, late := f.accident(Delay, "delay answer", way); late {
		if !l.from.clock.sleep(time.Duration(between(how, 0.5, 15)*float64(time.Second)), ctx.Done()) {
			return nil, context.Cause(ctx)
		}
	}
	return a.replies, a.err
}

// taken reports whether the other end has the message.
func taken(a *answer) bool { return a.err == nil && len(a.replies) > 0 && reasonOf(a.replies) == "" }

// silence waits until the sender gives up.
func (l link) silence(ctx context.Context) error {
	l.from.world.loop.Wait(ctx.Done())
	return errLost
}

// deliver hands a copy over after a while, whether or not anybody still waits
// for what comes back.
func (l link) deliver(e *envelope.Envelope, data []byte, after time.Duration) *answer {
	a := &answer{done: make(chan struct{})}
	w := l.from.world
	w.loop.Go(func() {
		defer close(a.done)
		w.calm.sleep(after + w.slowness(l.to))
		a.replies, a.err = l.hand(e, data)
	})
	return a
}

// hand gives bytes to the host that runs at the other end.
func (l link) hand(e *envelope.Envelope, data []byte) ([][]byte, error) {
	if !l.to.up {
		return nil, errRefused
	}
	replies, err := l.to.host.Deliver(context.Background(), data)
	if err == nil {
		l.from.world.wire.answered(l.from.world, e, replies)
	}
	return replies, err
}
