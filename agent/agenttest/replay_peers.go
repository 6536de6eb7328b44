package agenttest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// cast are the agents that are played from the record, with keys of their own.
type cast map[string]ed25519.PrivateKey

// play starts hosts that know the keys of all who are played: everybody whom
// the work met, the agents themselves as each other's peers included.
func (run *rerun) play(ctx context.Context, works []*work, mine map[string]bool) ([]*agent.Host, error) {
	run.cast = cast{}
	names := map[string]bool{}
	for uri := range mine {
		names[uri] = true
	}
	for _, w := range works {
		for _, p := range append(w.children, w.main) {
			names[p.key.Peer] = true
		}
	}
	stores, agents := map[string]store.Store{}, map[string][]*agent.Agent{}
	for name := range names {
		uri, err := envelope.ParseURI(name)
		if err != nil {
			return nil, err
		}
		if stores[uri.Authority] == nil {
			stores[uri.Authority] = memory.New()
		}
		seed := make([]byte, ed25519.SeedSize)
		if _, err := rand.Read(seed); err != nil {
			return nil, err
		}
		if _, err := stores[uri.Authority].Identity(ctx, store.Identity{Owner: name, Seed: seed}); err != nil {
			return nil, err
		}
		run.cast[name] = ed25519.NewKeyFromSeed(seed)
		agents[uri.Authority] = append(agents[uri.Authority], agent.New(uri.Name))
	}
	var hosts []*agent.Host
	for authority, s := range stores {
		h := agent.NewHost(agent.Config{Store: s, Clock: run.clock, Authority: authority, Log: slog.New(slog.DiscardHandler)}, agents[authority]...)
		hosts = append(hosts, h)
		if err := h.Start(ctx); err != nil {
			return hosts, err
		}
	}
	return hosts, nil
}

// signed is a message of one who is played, ready to be sent.
func (run *rerun) signed(e *envelope.Envelope) ([]byte, error) {
	from, err := envelope.ParseURI(e.Sender())
	if err != nil {
		return nil, err
	}
	token, err := guard.Mint(run.cast[e.Sender()], guard.Claims{Sender: e.Sender(), Receiver: e.Receiver(), Tenant: from.Authority,
		Expires: run.clock.Now().Add(time.Minute)})
	if err != nil {
		return nil, err
	}
	return e.Resend(1, token).Bytes(), nil
}

// peers carries the agents' messages to those who are played.
type peers struct{ run *rerun }

// Send implements agent.Transport: it answers with the receipt that the message
// got then. What the peer said to it comes as a message of its own.
func (p peers) Send(_ context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	r, err := p.run.receiptOf(e)
	if err != nil {
		return nil, err
	}
	answer, err := p.run.signed(r)
	return [][]byte{answer}, err
}

// Capabilities implements agent.Transport.
func (p peers) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.InProcess, SenderLearns: true}
}

func (run *rerun) receiptOf(e *envelope.Envelope) (*envelope.Envelope, error) {
	run.mu.Lock()
	defer run.mu.Unlock()
	k := store.Key{Owner: e.Sender(), Conversation: e.Conversation(), Peer: e.Receiver()}
	if p := run.parts[k]; p != nil {
		if h := p.receipt(e.ID()); h != nil {
			return p.again(h.message)
		}
	}
	h := e.Receipt(envelope.Ack, nil)
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUIDv8 (RFC 9562)
	h.MessageID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	h.SenderGeneration, h.Timestamp = 1, run.clock.Now().Truncate(time.Millisecond)
	h.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{e.Sender()}}
	return envelope.Seal(h, nil)
}
