package crash_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

// verdict looks at what the processes left behind.
func verdict(t *testing.T, folder string, h *heard) {
	t.Helper()
	ends := ends{}
	for role := range seats {
		path := part{Role: role, Folder: folder}.db()
		found, err := sqlite.Check(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Findings {
			t.Errorf("the store of %s: %v", role, f)
		}
		s, err := sqlite.Inspect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ends.read(t, s)
		for m := range h.acked {
			if !slices.Contains(seats[role], name(m[0])) {
				continue
			}
			if _, err := s.Inbox(t.Context(), store.InboxKey{Recipient: m[0], Sender: m[1], MessageID: m[2]}); err != nil {
				t.Errorf("%s has acknowledged message %s of %s: %v", m[0], m[2], m[1], err)
			}
		}
	}
	ends.agree(t)
	had, err := effects(worldOf(folder))
	if err != nil {
		t.Fatal(err)
	}
	made, keys := map[int]int{}, map[string]int{}
	for _, e := range had {
		made[e.order]++
		keys[e.key]++
	}
	for key, n := range keys {
		if n != 1 {
			t.Errorf("%d effects under the key %s", n, key)
		}
	}
	orders := map[int]store.Exchange{}
	for k, x := range ends {
		if k.Owner == uri("planner") {
			orders[orderOf(t, x)] = x
		}
	}
	for n, id := range h.opened {
		if orders[n].Conversation != id {
			t.Errorf("order %d was durable in conversation %s, and is in %q", n, id, orders[n].Conversation)
		}
	}
	for n := range made {
		if _, ok := orders[n]; !ok {
			t.Errorf("an effect was made for order %d, which nobody asked for", n)
		}
	}
	for n, x := range orders {
		outcome := x.State.Outcome()
		switch {
		case outcome == protocol.OK && h.ended[n] == "ok":
			if made[n] != 1 {
				t.Errorf("order %d ended ok, and its effect was had %d times", n, made[n])
			}
		case outcome == protocol.Failed && h.ended[n] == "unclear" && kindOf(n).atMostOnce:
			if made[n] > 1 {
				t.Errorf("the effect of order %d, which may be had once, was had %d times", n, made[n])
			}
		default:
			t.Errorf("order %d is recorded as %q and was told as %q", n, outcome, h.ended[n])
		}
	}
	t.Logf("%d orders, %d effects, %d acknowledged messages", len(orders), len(had), len(h.acked))
}

// orderOf is the order that an exchange of the planner's is about.
func orderOf(t *testing.T, x store.Exchange) int {
	t.Helper()
	n, err := strconv.Atoi(x.Correlation[strings.LastIndex(x.Correlation, "-")+1:])
	if err != nil || business(n) != x.Correlation {
		t.Errorf("the planner has an exchange with the correlation %s", x.Correlation)
	}
	return n
}

func name(uri string) string { return uri[len("agent://local/"):] }

// ends are all exchanges of both stores.
type ends map[store.Key]store.Exchange

// read folds every log of a store to the state that the store has, and keeps
// the exchanges.
func (e ends) read(t *testing.T, s *sqlite.Store) {
	t.Helper()
	conversations, err := s.Conversations(t.Context(), "", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conversations {
		log, err := s.Log(t.Context(), c.Owner, c.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		exchanges, err := s.Exchanges(t.Context(), c.Owner, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transcript.Replay(log, exchanges); err != nil {
			t.Errorf("the log of %s in %s: %v", c.Owner, c.ID, err)
		}
		if _, err := transcript.Export(log, exchanges); err != nil && !errors.Is(err, transcript.ErrPartialView) {
			t.Errorf("the trace of %s in %s: %v", c.Owner, c.ID, err)
		}
		for _, x := range exchanges {
			e[x.Key] = x
		}
	}
}

// agree checks that both sides of every exchange have ended alike.
func (e ends) agree(t *testing.T) {
	t.Helper()
	for k, x := range e {
		other := e[store.Key{Owner: k.Peer, Conversation: k.Conversation, Peer: k.Owner}]
		if !x.State.Done() || other.State.Outcome() != x.State.Outcome() {
			t.Errorf("%s is in %s with %s, which is in %q", k.Owner, x.State.State, k.Peer, other.State.State)
		}
	}
}
