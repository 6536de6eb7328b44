package agent_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// way is a way in which the clerk works.
type way struct {
	clerk func(*life) *agent.Agent
	// marked says that what makes the effect may run again.
	marked bool
	// exchanges is how many there are, the planner's with the clerk included.
	exchanges int
}

func (c way) processes() []string {
	if c.exchanges > 1 {
		return []string{"planner", "clerk", "bank"}
	}
	return []string{"planner", "clerk"}
}

var ways = map[string]way{
	"read-only tool":        {charges(false, agent.ReadOnly), true, 1},
	"keyed tool":            {charges(false, agent.Keyed), true, 1},
	"unmarked tool":         {charges(false), false, 1},
	"read-only step":        {stepped(agent.ReadOnly), true, 1},
	"keyed step":            {stepped(agent.Keyed), true, 1},
	"unmarked step":         {stepped(), false, 1},
	"mended tool":           {charges(true), false, 1},
	"dated step":            {dated, true, 1},
	"nested ask":            {delegates, true, 2},
	"nested ask of a model": {refers, true, 2},
}

// perform runs a way in which processes die and returns how the question ended,
// once everything has come to rest.
func perform(t *testing.T, c way, kills ...kill) (w *world, s *stage, ended string) {
	t.Helper()
	w = &world{}
	cast := map[string]func(*life) *agent.Agent{}
	for _, name := range c.processes() {
		cast[name] = map[string]func(*life) *agent.Agent{"planner": planner, "clerk": c.clerk, "bank": bank}[name]
	}
	s = raise(t, w, cast, kills...)
	out, err := s.ask(book)
	ended = "ok " + out.Reference
	if kind, e := ending(err); err != nil {
		ended = strings.TrimSpace(fmt.Sprint(kind, " ", e.Code, " ", e.Reason))
	}
	at(2 * time.Minute) // the last receipts are in
	return w, s, ended
}

// upheld checks what is true in all of them, wherever its processes died: what
// was recorded was not done again, each effect has one key and an unmarked one
// was made at most once, and both sides of each conversation have ended alike,
// with logs that fold to their states.
func upheld(t *testing.T, w *world, s *stage, c way, ended string) {
	t.Helper()
	for _, fault := range w.faults {
		t.Error(fault)
	}
	if keys := w.keys(); len(keys) > 1 {
		t.Errorf("the effect was made under %d keys", len(keys))
	}
	switch {
	case ended == "ok R1" && len(w.effects) == 0:
		t.Error("it ended ok without its effect")
	case c.marked && ended != "ok R1":
		t.Errorf("it ended %s, want ok", ended)
	case !c.marked && len(w.effects) > 1:
		t.Errorf("an unmarked effect was made %d times", len(w.effects))
	case ended != "ok R1" && ended != "failed permanent outcome-unknown":
		t.Errorf("it ended %s", ended)
	}
	sides := s.halves()
	if len(sides) != 2*c.exchanges {
		t.Errorf("%d sides of exchanges, want %d", len(sides), 2*c.exchanges)
	}
	for k, x := range sides {
		if !x.State.Done() {
			t.Errorf("%s has not ended with %s: %s", k.Owner, k.Peer, x.State.State)
		}
		other := sides[store.Key{Owner: k.Peer, Conversation: k.Conversation, Peer: k.Owner}]
		if other.State.Outcome() != x.State.Outcome() {
			t.Errorf("%s ended %s, and %q with %s", k.Owner, x.State.Outcome(), other.State.Outcome(), k.Peer)
		}
		if !slices.Equal(x.sent, other.received) {
			t.Errorf("%s sent %v, and %s received %v", k.Owner, x.sent, k.Peer, other.received)
		}
	}
}

// half is an exchange as its owner sees it, with the acts that it sent and
// received.
type half struct {
	store.Exchange
	sent, received []string
}

// halves are those of all exchanges. Each log is audited, and no message may be
// left that was not delivered.
func (s *stage) halves() map[store.Key]half {
	all := map[store.Key]half{}
	for _, p := range s.parts {
		h := p.living().host
		audit(s.t, h)
		conversations, err := h.Store().Conversations(s.t.Context(), "", 100)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range conversations {
			log, exchanges, err := still(s.t.Context(), h.Store(), c.Owner, c.ID)
			if err != nil {
				s.t.Fatal(err)
			}
			for _, x := range exchanges {
				all[x.Key] = half{x, acts(log, store.Sent), acts(log, store.Received)}
				rows, err := h.Store().Outbox(s.t.Context(), x.Key)
				if err != nil {
					s.t.Fatal(err)
				}
				for _, r := range rows {
					if r.Status != store.Delivered {
						s.t.Errorf("a message of %s is %s", r.Owner, r.Status)
					}
				}
			}
		}
	}
	return all
}

// acts are the messages of a kind in a log.
func acts(log []store.Entry, kind store.EntryKind) (list []string) {
	for _, e := range log {
		if e.Kind == kind {
			list = append(list, string(e.Event[1:])+" "+e.MessageID)
		}
	}
	return list
}

func TestWhereverAProcessDiesWhatItRecordedStandsAndTheExchangeEnds(t *testing.T) {
	for name, c := range ways {
		for _, victim := range c.processes() {
			for _, after := range []bool{false, true} {
				for n, more := 1, true; more; n++ { // until the exchange is over before the n-th commit
					k := kill{victim, everywhere, n, after}
					t.Run(name+", "+k.String(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							w, s, ended := perform(t, c, k)
							defer s.stop()
							upheld(t, w, s, c, ended)
							more = s.fired()
						})
					})
				}
			}
		}
	}
}

// deaths is how many times processes die in one exchange, at most.
const deaths = 4

func TestHoweverOftenProcessesDieTheExchangeEnds(t *testing.T) {
	names := slices.Sorted(maps.Keys(ways))
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		name := names[r.IntN(len(names))]
		c := ways[name]
		var kills []kill
		for range 2 + r.IntN(deaths-1) {
			processes := c.processes()
			kills = append(kills, kill{processes[r.IntN(len(processes))], everywhere, 1 + r.IntN(25), r.IntN(2) == 0})
		}
		t.Run(fmt.Sprint(name, ", ", kills), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s, ended := perform(t, c, kills...)
				defer s.stop()
				upheld(t, w, s, c, ended)
			})
		})
	}
}
