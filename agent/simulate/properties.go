package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// Properties are the promises that every world must keep, by name.
func Properties() map[string]string {
	return map[string]string{
		"P1":  "no message outside the table changes a state",
		"P2":  "what has a wrong sender, role, generation or shape moves nothing",
		"P3":  "every conversation reaches exactly one terminal once its deadlines have passed",
		"P4":  "a gather is fenced once, and nothing counts after its fence",
		"P5":  "COMPLETED means that the predicate is met and nobody is unresolved",
		"P6":  "a key has at most one effect",
		"P7":  "a duplicate gets the stored answer, and nobody says two things in one place",
		"P8":  "a log folds to its state, in every causally valid order",
		"P9":  "a reduction does not depend on the order of what came",
		"P10": "hops rise and deadlines shrink on delegation",
		"P11": "no receipt answers a receipt, and a conversation has a bounded number of messages",
		"P12": "work that is over holds no lease",
		"P13": "an initiator's ok has a participant's ok",
		"P14": "an initiator's conversation has a valid trace",
		"P15": "a changed envelope is refused",
		"P16": "a contradiction is found out",
		"P17": "what was never seen is never done",
	}
}

// side is one owner's record of a conversation.
type side struct {
	node      *Node
	owner     string
	log       []store.Entry
	exchanges []store.Exchange
}

// judge holds what the stores of a world say at its end to the properties.
func (w *World) judge() []side {
	var sides []side
	ended := map[[3]string]store.Exchange{}
	for _, n := range w.nodes {
		for _, owner := range n.owners() {
			sides = append(sides, w.sides(n, owner)...)
		}
	}
	for _, s := range sides {
		w.judgeSide(s)
		for _, x := range s.exchanges {
			ended[[3]string{x.Owner, x.Conversation, x.Peer}] = x
		}
	}
	for _, s := range sides {
		for _, x := range s.exchanges {
			w.judgePair(x, ended[[3]string{x.Peer, x.Conversation, x.Owner}])
			w.judgeNesting(s, x, ended)
		}
	}
	for _, p := range w.loop.panics {
		w.violate("panic", "%s", p)
	}
	for _, c := range w.checks {
		if err := c.holds(); err != nil {
			w.violate(c.property, "%v", err)
		}
	}
	return sides
}

func (w *World) sides(n *Node, owner string) []side {
	ctx := context.Background()
	conversations, err := n.disk.Conversations(ctx, owner, 100_000)
	if err != nil {
		w.violate("P3", "the store of %s cannot be read: %v", n.name, err)
		return nil
	}
	slices.SortFunc(conversations, func(a, b store.Conversation) int { return strings.Compare(a.ID, b.ID) })
	var sides []side
	for _, c := range conversations {
		s := side{node: n, owner: owner}
		if s.log, err = n.disk.Log(ctx, owner, c.ID, 0); err == nil {
			s.exchanges, err = n.disk.Exchanges(ctx, owner, c.ID)
		}
		if err != nil {
			w.violate("P3", "the store of %s cannot be read: %v", n.name, err)
		}
		sides = append(sides, s)
	}
	return sides
}

func (w *World) judgeSide(s side) {
	over := true
	for _, x := range s.exchanges {
		if !x.State.Done() {
			over = false
			w.tally.Unfinished++
			w.violate("P3", "%s with %s in %s is still %s", x.Owner, x.Peer, x.Conversation, x.State.State)
		}
		if x.State.Messages > guard.MaxMessages {
			w.violate("P11", "%s with %s has %d messages", x.Owner, x.Peer, x.State.Messages)
		}
		w.judgeLease(s, x)
	}
	if !over || s.exchanges[0].State.Role != protocol.Initiator {
		w.judgeReplay(s)
	} else {
		w.judgeEnd(s) // replays it, too
	}
	w.judgeOrder(s)
}

// judgeLease looks for work that is over and still held.
func (w *World) judgeLease(s side, x store.Exchange) {
	if x.State.Role != protocol.Participant || x.State.Opening == "" || !x.State.Done() {
		return
	}
	row, err := s.node.disk.Inbox(context.Background(), store.InboxKey{Recipient: x.Owner, Sender: x.Peer, MessageID: x.State.Opening})
	if err == nil && row.Status == store.InProgress {
		w.violate("P12", "%s has ended with %s in %s and still holds its lease", x.Owner, x.Peer, x.Conversation)
	}
}

// judgeReplay folds the log.
func (w *World) judgeReplay(s side) {
	if _, err := transcript.Replay(s.log, s.exchanges); err != nil {
		w.diverged("P8", s, err)
	}
}

func (w *World) diverged(property string, s side, err error) {
	w.tally.DigestMismatches++
	w.violate(property, "the log of %s: %v", s.owner, err)
}

// judgeOrder folds the log as it might have been: one side in three, since that
// takes as long as all the rest.
func (w *World) judgeOrder(s side) {
	r := rand.New(rand.NewChaCha8(seedOf(w.seed, "shuffle "+s.owner, len(s.log))))
	if r.IntN(3) > 0 {
		return
	}
	digest, err := transcript.StateOf(s.log, s.exchanges)
	if err == nil {
		var again envelope.Digest
		if again, err = transcript.StateOf(transcript.Shuffle(s.log, r), s.exchanges); err == nil && again != digest {
			err = errors.New("another order of it has another state")
		}
	}
	if err != nil {
		w.diverged("P9", s, err)
	}
}

// judgeEnd looks at how a conversation that its initiator has ended was closed.
func (w *World) judgeEnd(s side) {
	var concluded, reduced int
	for _, e := range s.log {
		switch {
		case e.Kind == store.Concluded:
			concluded++
		case e.Kind == store.Reduced:
			reduced++
		case e.Kind == store.Received && reduced > 0 && e.From != e.To && e.Event != "?ack":
			w.violate("P4", "%s took %s after the fence", s.owner, e.Event)
		}
	}
	if concluded != 1 || reduced > 1 {
		w.violate("P3", "%s has %d terminals and %d reductions in one conversation", s.owner, concluded, reduced)
	}
	trace, err := transcript.Export(s.log, s.exchanges)
	if _, diverged := errors.AsType[*transcript.Divergence](err); diverged {
		w.diverged("P8", s, err)
		return
	}
	if err != nil {
		w.violate("P14", "%s: %v", s.owner, err)
		return
	}
	w.traces = append(w.traces, trace)
	state := string(trace.Terminal.State)
	w.tally.Terminals[state]++
	if state == "COMPLETED" && len(trace.Terminal.UnresolvedParticipants) > 0 {
		w.violate("P5", "%s is COMPLETED without %v", s.owner, trace.Terminal.UnresolvedParticipants)
	}
}

// judgePair compares the two ends of an exchange.
func (w *World) judgePair(x, other store.Exchange) {
	if x.State.Role != protocol.Initiator || !x.State.Outcome().OK() {
		return
	}
	if x.State.Protocol == protocol.GatherV1 {
		return // closed says that the fence was acknowledged
	}
	if other.Version == 0 || !other.State.Outcome().OK() {
		w.violate("P13", "%s with %s in %s is %s, the other end %q", x.Owner, x.Peer, x.Conversation, x.State.Outcome(), other.State.Outcome())
	}
}

// judgeNesting compares an opening act with the one whose work it belongs to.
func (w *World) judgeNesting(s side, x store.Exchange, all map[[3]string]store.Exchange) {
	parent, ok := all[[3]string{x.Parent.Owner, x.Parent.Conversation, x.Parent.Peer}]
	if !ok || x.State.Role != protocol.Initiator {
		return
	}
	child, mother := opening(s.log, x), openingOf(parent, w)
	if child == nil || mother == nil {
		return
	}
	// An award gives the work another deadline than the call had.
	by := mother.ReplyBy()
	if parent.State.ReplyBy.After(by) {
		by = parent.State.ReplyBy
	}
	if child.Header().Hop <= mother.Header().Hop || !child.ReplyBy().Before(by) {
		w.violate("P10", "%s asked %s at hop %d until %s for work of hop %d until %s", x.Owner, x.Peer,
			child.Header().Hop, child.ReplyBy(), mother.Header().Hop, by)
	}
}

func openingOf(x store.Exchange, w *World) *envelope.Envelope {
	for _, n := range w.nodes {
		if log, err := n.disk.Log(context.Background(), x.Owner, x.Conversation, 0); err == nil && len(log) > 0 {
			return opening(log, x)
		}
	}
	return nil
}

func opening(log []store.Entry, x store.Exchange) *envelope.Envelope {
	for _, entry := range log {
		if entry.MessageID == x.State.Opening && entry.Peer == x.Peer {
			if e, err := envelope.Decode(entry.Envelope); err == nil {
				return e
			}
		}
	}
	return nil
}

// remember is a line for everything that the world came to, in a fixed order.
func (w *World) remember(sides []side) string {
	var b strings.Builder
	fmt.Fprintf(&b, "world %d: %d turns, %d messages, %d crashes, %d accidents\n", w.seed, w.loop.turns, w.tally.Messages, w.tally.Crashes, len(w.faults.happened))
	for _, s := range sides {
		for _, e := range s.log {
			fmt.Fprintf(&b, "%s %s %d %x\n", e.Owner, e.Conversation, e.Index, e.Hash)
		}
		for _, x := range s.exchanges {
			fmt.Fprintf(&b, "%s %s %s %d %s %s\n", x.Owner, x.Conversation, x.Peer, x.Version, x.State.State, x.State.Outcome())
		}
	}
	for _, v := range w.violations {
		fmt.Fprintf(&b, "%s %s\n", v.Property, v.Detail)
	}
	return b.String()
}
