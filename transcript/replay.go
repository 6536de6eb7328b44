package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Divergence is the first place in which a store and the fold of its log say different things. One of the two was
// changed, or the store was written by other rules.
type Divergence struct {
	Index int64 // of the entry, 0 if it is about an exchange or the conversation as a whole
	Peer  string
	Event protocol.Event
	// What differs: "transition", "chain", "envelope", "digest", "terminal" and the like; of a row, "exchange" and the
	// member.
	What             string
	Recorded, Folded string
}

func (d *Divergence) Error() string {
	place := "the conversation"
	switch {
	case d.Index != 0 && d.Event != "":
		place = fmt.Sprintf("entry %d (%s)", d.Index, d.Event)
	case d.Index != 0:
		place = fmt.Sprintf("entry %d", d.Index)
	case d.Peer != "":
		place = "the exchange with " + d.Peer
	}
	return fmt.Sprintf("%s: %s: recorded %s, folded %s", place, d.What, d.Recorded, d.Folded)
}

func diverges(e store.Entry, what, recorded, folded string) *Divergence {
	return &Divergence{Index: e.Index, Peer: e.Peer, Event: e.Event, What: what, Recorded: recorded, Folded: folded}
}

func transition(from, to protocol.State) string { return string(from) + "→" + string(to) }

// ErrNothing says that there is neither a log to replay nor an exchange that should have one.
var ErrNothing = errors.New("the log is empty")

// Replayed is what a log came to.
type Replayed struct {
	Owner, Conversation string
	Entries             int
	Snapshot            protocol.Snapshot
	// Digest is that of the snapshot, protocol.StateDigest.
	Digest envelope.Digest
	// Terminal is how the conversation ended, "" while it goes on and in a participant's log.
	Terminal protocol.Terminal
}

// Step is one entry of a log that is replayed.
type Step struct {
	Entry store.Entry
	// From and To are the states of the entry's exchange around it, empty for an entry that belongs to none.
	From, To protocol.State
	// Digest is that of the whole state after the entry.
	Digest envelope.Digest
}

// Steps replays an owner's log of one conversation entry by entry and tells after each what it came to. The entries must
// be all there are, in order, and the exchanges all of the owner's in that conversation. It ends at the first entry whose
// record and fold differ, with a *Divergence, or with ErrNothing if there is none. What it compares are the hash chain,
// each message with what the log says of it, and the states around each entry; see [Replay] for the rest.
func Steps(log []store.Entry, exchanges []store.Exchange) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		if len(log) == 0 {
			yield(Step{}, ErrNothing)
			return
		}
		w := walk{fold: newFold(log[0].Owner, log[0].Conversation, exchanges), next: 1}
		for _, e := range log {
			out, err := w.step(e)
			step := Step{Entry: e, From: out.from, To: out.to}
			if err == nil {
				step.Digest = protocol.StateDigest(w.fold.snapshot())
			}
			if !yield(step, err) || err != nil {
				return
			}
		}
	}
}

// walk is a fold that compares.
type walk struct {
	*fold
	next int64
	head [32]byte
}

// step folds one entry and compares it with its record.
func (w *walk) step(e store.Entry) (folded, error) {
	if e.Owner != w.owner || e.Conversation != w.conversation || e.Index != w.next {
		return folded{}, diverges(e, "order", fmt.Sprintf("entry %d of %s in %s", e.Index, e.Owner, e.Conversation),
			fmt.Sprintf("entry %d of %s in %s", w.next, w.owner, w.conversation))
	}
	if link := store.Link(w.head, e); link != e.Hash {
		return folded{}, diverges(e, "chain", fmt.Sprintf("%x", e.Hash), fmt.Sprintf("%x", link))
	}
	w.head, w.next = e.Hash, w.next+1
	out, err := w.apply(e)
	if err == nil && (out.from != e.From || out.to != e.To) {
		err = diverges(e, "transition", transition(e.From, e.To), transition(out.from, out.to))
	}
	return out, err
}

// Replay folds an owner's log of one conversation through the transition tables and compares what comes out with the
// store: each step with the states that its entry records, the record of a reduction and of the terminal with those made
// again, then every exchange with its row, and at last the digest of the folded state with that of the stored one. The
// log must be whole and in order, and the exchanges all of the owner's in that conversation.
//
// It returns a *Divergence at the first difference, such as an exchange without a log or a log without one, and ErrNothing
// if there is neither. The digest of the folded state is there even when only the rows differ. Of a row, the lease and a
// number of rounds are taken as they are, since nothing in the log says them, and so is the text of an error over content
// that nobody kept. It is pure and never panics.
func Replay(log []store.Entry, exchanges []store.Exchange) (Replayed, error) {
	switch {
	case len(log) == 0 && len(exchanges) == 0:
		return Replayed{}, ErrNothing
	case len(log) == 0:
		return Replayed{}, &Divergence{Peer: exchanges[0].Peer, What: "log", Recorded: "nothing", Folded: "an exchange in " + string(exchanges[0].State.State)}
	case len(exchanges) == 0:
		return Replayed{}, diverges(log[0], "exchange", "a log", "no exchange")
	}
	w := walk{fold: newFold(log[0].Owner, log[0].Conversation, exchanges), next: 1}
	for i, e := range log {
		if _, err := w.step(e); err != nil {
			return w.replayed(i), err
		}
	}
	r := w.replayed(len(log))
	for _, row := range exchanges {
		if err := w.compare(row); err != nil {
			return r, err
		}
	}
	if terminal, over := w.end(); over && !w.concluded {
		return r, &Divergence{What: "terminal", Recorded: "nothing", Folded: string(terminal)}
	}
	live, err := recorded(log, exchanges)
	if err != nil {
		return r, err
	}
	if stored := protocol.StateDigest(live); stored != r.Digest {
		return r, &Divergence{What: "digest", Recorded: stored.String(), Folded: r.Digest.String()}
	}
	return r, nil
}

func (f *fold) replayed(entries int) Replayed {
	s := f.snapshot()
	return Replayed{Owner: f.owner, Conversation: f.conversation, Entries: entries, Snapshot: s,
		Digest: protocol.StateDigest(s), Terminal: f.terminal}
}

// compare holds a row to the exchange that the fold came to.
func (f *fold) compare(row store.Exchange) error {
	differs := func(what, was, is string) error {
		return &Divergence{Peer: row.Peer, What: "exchange: " + what, Recorded: was, Folded: is}
	}
	if row.Owner != f.owner || row.Conversation != f.conversation {
		return differs("key", row.Owner+" in "+row.Conversation, f.owner+" in "+f.conversation)
	}
	is := f.exchanges[row.Peer]
	if row.Final != f.final[row.Peer] && !f.voided[row.Peer] {
		return differs("final", strconv.Quote(row.Final), strconv.Quote(f.final[row.Peer]))
	}
	if is, known := f.correlation[row.Peer]; known && is != row.Correlation {
		return differs("correlation", strconv.Quote(row.Correlation), strconv.Quote(is))
	}
	if was, is := row.EndedAt, f.endedAt[row.Peer]; !was.Truncate(time.Millisecond).Equal(is.Truncate(time.Millisecond)) {
		return differs("end", was.UTC().Format(time.RFC3339Nano), is.UTC().Format(time.RFC3339Nano))
	}
	was, made := members(row.State, f.voided[row.Peer]), members(is, f.voided[row.Peer])
	for _, name := range slices.Sorted(maps.Keys(both(was, made))) {
		if string(was[name]) != string(made[name]) {
			return differs(name, quoted(was[name]), quoted(made[name]))
		}
	}
	return nil
}

// members are those of an exchange that follow from its log, as JSON. Times count in milliseconds, as stores keep them.
func members(x protocol.Exchange, voided bool) map[string]json.RawMessage {
	x.LeaseBy = time.Time{}
	for _, t := range []*time.Time{&x.ReplyBy, &x.AgreeBy, &x.CancelBy, &x.AckBy} {
		if !t.IsZero() {
			*t = t.UTC().Truncate(time.Millisecond)
		}
	}
	if voided {
		x.Error = nil
	}
	var list map[string]json.RawMessage
	data, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil { // a time beyond year 9999: no store could have kept it
		return map[string]json.RawMessage{"unreadable": json.RawMessage(err.Error())}
	}
	return list
}

func both(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func quoted(value json.RawMessage) string {
	if value == nil {
		return "nothing"
	}
	return string(value)
}
