package transcript

import (
	"maps"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// snapshot is the semantic state that the fold has come to.
func (f *fold) snapshot() protocol.Snapshot {
	s := protocol.Snapshot{Protocol: f.protocol, Conversation: f.conversation, Fence: f.fence, Acks: slices.Clone(f.acks)}
	for _, peer := range slices.Sorted(maps.Keys(f.exchanges)) {
		x := f.exchanges[peer]
		s.Exchanges = append(s.Exchanges, protocol.ExchangeSnapshot{
			Peer: peer, Role: x.Role, State: x.State, Sent: slices.Clone(f.sent[peer]), Received: slices.Clone(f.received[peer]),
		})
	}
	if f.binding == nil || f.binding.Gather == nil {
		return s
	}
	g := protocol.GatherSnapshot{ID: f.binding.Gather.ID, Policy: f.binding.Gather.Policy}
	for _, c := range f.accepted {
		if c.Dissents {
			g.Dissent = append(g.Dissent, c.Message)
		}
		if c.Dissents || !c.Abstains {
			g.Contributions = append(g.Contributions, c)
		}
	}
	if f.reduction != nil {
		g.Missing, g.ValueDigest = f.reduction.Missing, f.reduction.ValueDigest
	}
	s.Gathers = []protocol.GatherSnapshot{g}
	return s
}

// recorded is the semantic state as the store has it: states from the rows, acts and decisions from what the entries of
// the log say that they led to. No table is asked. Entries must have been read before, so that their messages decode.
func recorded(log []store.Entry, rows []store.Exchange) (protocol.Snapshot, error) {
	r := recording{sent: map[string][]protocol.Numbered{}, received: map[string][]protocol.Numbered{}, given: map[string]protocol.Contribution{}, foreign: foreign(rows)}
	for _, e := range log {
		if err := r.enter(e); err != nil {
			return protocol.Snapshot{}, err
		}
	}
	s := protocol.Snapshot{Fence: r.fence, Acks: r.acks}
	for _, row := range rows {
		s.Protocol, s.Conversation = row.State.Protocol, row.Conversation
		s.Exchanges = append(s.Exchanges, protocol.ExchangeSnapshot{
			Peer: row.Peer, Role: row.State.Role, State: row.State.State, Sent: r.sent[row.Peer], Received: r.received[row.Peer],
		})
	}
	if r.gather != nil {
		s.Gathers = []protocol.GatherSnapshot{r.gathered()}
	}
	return s, nil
}

type recording struct {
	sent, received map[string][]protocol.Numbered
	given          map[string]protocol.Contribution // by message id
	gather         *protocol.Gather
	reduction      *protocol.Reduction
	fence          *envelope.Fence
	acks           []string
	fenced         bool
	foreign        map[string]bool // peers whose exchange a stranger opened under the id of the owner's conversation
}

func foreign(rows []store.Exchange) map[string]bool {
	peers := map[string]bool{}
	for _, row := range rows {
		if row.State.Role != protocol.Initiator {
			peers[row.Peer] = true
		}
	}
	if len(peers) == len(rows) { // the owner takes part in the conversation of another
		return nil
	}
	return peers
}

func (r *recording) enter(e store.Entry) error {
	switch e.Kind {
	case store.Bound:
		b, err := note[protocol.Binding](e)
		r.gather = b.Gather
		return err
	case store.Reduced:
		n, err := note[protocol.Reduction](e)
		r.reduction = &n
		return err
	case store.Concluded:
		r.fenced = true
		return nil
	case store.Fired, store.Rejected, store.Absent, store.Noted:
		return nil
	}
	m, err := envelope.Decode(e.Envelope)
	if err != nil {
		return diverges(e, "envelope", "a message", err.Error())
	}
	if e.Kind == store.Received && (e.From.Done() || r.fenced && m.ReceiptKind() != envelope.Ack) {
		return nil
	}
	switch {
	case m.ReceiptKind() == envelope.Ack:
		r.acks = append(r.acks, m.Sender())
		return nil
	case m.ReceiptKind() != "":
		return nil
	case e.Kind == store.Sent:
		r.sent[e.Peer] = append(r.sent[e.Peer], protocol.Numbered{Seq: m.Seq(), Digest: m.Digest()})
	default:
		r.received[e.Peer] = append(r.received[e.Peer], protocol.Numbered{Seq: m.Seq(), Digest: m.Digest()})
		if e.From == open {
			r.given[m.ID()] = protocol.Contribute(m)
		}
	}
	if fence := m.Header().Fence; fence != nil && !r.foreign[e.Peer] {
		r.fence, r.fenced = fence, true
	}
	return nil
}

// gathered goes by the record of the reduction, if there is one.
func (r *recording) gathered() protocol.GatherSnapshot {
	g := protocol.GatherSnapshot{ID: r.gather.ID, Policy: r.gather.Policy}
	if r.reduction == nil {
		for id, c := range r.given {
			if c.Dissents {
				g.Dissent = append(g.Dissent, id)
			}
			if c.Dissents || !c.Abstains {
				g.Contributions = append(g.Contributions, c)
			}
		}
		return g
	}
	for _, id := range slices.Concat(r.reduction.Inputs, r.reduction.Dissent) {
		if c, known := r.given[id]; known {
			g.Contributions = append(g.Contributions, c)
		}
	}
	g.Dissent, g.Missing, g.ValueDigest = r.reduction.Dissent, r.reduction.Missing, r.reduction.ValueDigest
	return g
}
