package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// An entry of a log follows its sender's entry before it, and an entry of the owner (an act of its own, a timer, a
// decision) follows every entry before it. So what may change places are receptions from different senders between two
// entries of the owner, and nothing else. What a reception answers is an act of the owner and stands before it in each
// such order.

// arrives tells whether the entry is something that came in.
func arrives(e store.Entry) bool {
	return e.Kind == store.Received || e.Kind == store.Rejected || e.Kind == store.Noted
}

// Shuffle returns the entries of a log in a causally valid order, drawn with r. It leaves the log alone, and the entries
// as they are: an index and a hash say where an entry stood.
func Shuffle(log []store.Entry, r *rand.Rand) []store.Entry {
	order := make([]store.Entry, 0, len(log))
	var queues [][]store.Entry // what came from each sender since the owner's last entry
	drain := func() {
		for len(queues) > 0 {
			i := r.IntN(len(queues))
			order = append(order, queues[i][0])
			if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
				queues = slices.Delete(queues, i, i+1)
			}
		}
	}
	for _, e := range log {
		if !arrives(e) {
			drain()
			order = append(order, e)
			continue
		}
		i := slices.IndexFunc(queues, func(q []store.Entry) bool { return q[0].Peer == e.Peer })
		if i < 0 {
			queues = append(queues, []store.Entry{e})
			continue
		}
		queues[i] = append(queues[i], e)
	}
	drain()
	return order
}

// Causal tells whether an order of a log's entries is causally valid: nil, or an error that names the first entry out of
// place. Entries are told apart by their index.
func Causal(log, order []store.Entry) error {
	if len(log) != len(order) {
		return fmt.Errorf("the order has %d entries, the log %d", len(order), len(log))
	}
	place := map[int64]int{} // in the order
	for i, e := range order {
		place[e.Index] = i
	}
	if len(place) != len(order) {
		return fmt.Errorf("the order names an entry twice")
	}
	last := map[string]int{} // the place of each sender's entry before
	barrier, highest := -1, -1
	for _, e := range log {
		at, there := place[e.Index]
		switch previous, spoke := last[e.Peer]; {
		case !there:
			return fmt.Errorf("the order lacks entry %d", e.Index)
		case at < barrier, arrives(e) && spoke && at < previous, !arrives(e) && at < highest:
			return fmt.Errorf("entry %d stands before one that it follows", e.Index)
		}
		highest = max(highest, at)
		if arrives(e) {
			last[e.Peer] = at
		} else {
			barrier = at
		}
	}
	return nil
}

// StateOf folds entries in the order given and returns the digest of the state that they lead to. It compares nothing
// with what the entries record, and nothing with the rows, which only say which exchanges there are. Every causally valid
// order of a log has one digest. An entry that has no place where it stands gives a *Divergence.
func StateOf(order []store.Entry, exchanges []store.Exchange) (envelope.Digest, error) {
	if len(order) == 0 {
		return envelope.Digest{}, ErrNothing
	}
	f := newFold(order[0].Owner, order[0].Conversation, exchanges)
	for _, e := range order {
		if _, err := f.apply(e); err != nil {
			return envelope.Digest{}, err
		}
	}
	return protocol.StateDigest(f.snapshot()), nil
}
