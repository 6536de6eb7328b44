package measure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func recorded(t *testing.T) *conversation {
	t.Helper()
	said, err := record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func TestWhatIsRepeatedIsOneRequestAsAgentsCommitIt(t *testing.T) {
	said := recorded(t)
	for what, c := range map[string]struct {
		set  store.WriteSet
		want string
	}{
		"ask":      {said.opened[0], "1 exchange, entries [sent], 0 accepted, 0 settled, 1 outgoing, 0 claimed, 0 effects, 0 deliveries"},
		"accept":   {said.accept, "1 exchange, entries [received], 1 accepted, 0 settled, 0 outgoing, 1 claimed, 0 effects, 0 deliveries"},
		"complete": {said.complete, "1 exchange, entries [sent sent], 0 accepted, 1 settled, 2 outgoing, 0 claimed, 1 effects, 0 deliveries"},
	} {
		var kinds []store.EntryKind
		for _, e := range c.set.Entries {
			kinds = append(kinds, e.Kind)
		}
		got := fmt.Sprintf("%d exchange, entries %v, %d accepted, %d settled, %d outgoing, %d claimed, %d effects, %d deliveries", len(c.set.Exchanges),
			kinds, len(c.set.Accept), len(c.set.Settle), len(c.set.Outbox), len(c.set.Claim), len(c.set.Effects), len(c.set.Deliveries))
		if got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if len(said.accept.Exchanges[0].State.Timers()) == 0 {
		t.Error("an accepted request has no timer")
	}
	if len(said.content) != contentSize {
		t.Errorf("the content has %d bytes, want %d", len(said.content), contentSize)
	}
	if len(said.opened) != 2 || len(said.opened[1].Deliveries) != 1 || len(said.sent.Deliveries) != 2 {
		t.Errorf("%+v and %+v, want the question delivered, and both acts that answer it", said.opened, said.sent)
	}
}

func TestARepetitionLeadsWhereTheRecordedConversationLed(t *testing.T) {
	ctx := t.Context()
	said, s := recorded(t), memory.New()
	defer s.Close()
	r := &Run{said: said}
	for number := range int64(3) {
		if err := r.two(ctx, s, number); err != nil {
			t.Fatal(err)
		}
	}
	// The others are written as being over.
	if err := r.history(ctx, s, 3, 5); err != nil {
		t.Fatal(err)
	}
	for number := range int64(6) {
		set := rename(number).set(said.accept)
		k := set.Exchanges[0].Key
		x, err := s.Exchange(ctx, k)
		if err != nil || x.State.Outcome() != protocol.OK || len(x.State.Timers()) != 0 {
			t.Errorf("%d: %+v, %v", number, x, err)
		}
		row, err := s.Inbox(ctx, set.Accept[0].InboxKey)
		if err != nil || row.Status != store.Settled {
			t.Errorf("%d: %+v, %v", number, row, err)
		}
		effect, err := s.Effect(ctx, set.Claim[0].EffectKey)
		if err != nil || effect.Status != store.Ended {
			t.Errorf("%d: %+v, %v", number, effect, err)
		}
		log, err := s.Log(ctx, k.Owner, k.Conversation, 0)
		if err != nil || len(log) != 3 || x.Final != log[2].MessageID {
			t.Errorf("%d: %d entries, %v", number, len(log), err)
		}
		outbox, err := s.Outbox(ctx, k)
		want := store.Pending
		if number >= 3 {
			want = store.Delivered
		}
		if err != nil || len(outbox) != 2 || slices.ContainsFunc(outbox, func(o store.Outbox) bool { return o.Status != want }) {
			t.Errorf("%d: %+v, %v", number, outbox, err)
		}
	}
}

func TestARepetitionHasNoIDOfTheRecordedOneNorOfAnotherNumber(t *testing.T) {
	said := recorded(t)
	before := map[string]bool{}
	for _, step := range slices.Concat(said.opened, []store.WriteSet{said.accept, said.complete, said.sent}) {
		for _, id := range ids(step) {
			before[id] = true
		}
	}
	if len(before) < 5 {
		t.Fatalf("only %d ids found: the test looks in the wrong place", len(before))
	}
	last := ""
	for number := range int64(100) {
		as, now := rename(number*perMillisecond), map[string]bool{}
		for _, step := range slices.Concat(said.opened, []store.WriteSet{said.accept, said.complete, said.sent}) {
			for _, id := range ids(as.set(step)) {
				now[id] = true
			}
		}
		for id := range now {
			if u, err := uuid.Parse(id); before[id] || id <= last || err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 {
				t.Fatalf("%d: %s after %s, %v", number, id, last, err)
			}
			before[id] = true
		}
		for id := range now {
			last = max(last, id)
		}
	}
}

// ids are all ids that stand in a set, outside of its envelopes.
func ids(set store.WriteSet) (found []string) {
	set.Entries = slices.Clone(set.Entries)
	for i := range set.Entries {
		set.Entries[i].Envelope, set.Entries[i].Digest = nil, envelope.Digest{}
	}
	for _, word := range strings.FieldsFunc(fmt.Sprintf("%+v", set), func(c rune) bool { return strings.ContainsRune(" :[]{}", c) }) {
		if _, err := uuid.Parse(word); err == nil && len(word) == 36 {
			found = append(found, word)
		}
	}
	return found
}

func TestASealedRepetitionCanBeReadByAHost(t *testing.T) {
	set, err := rename(1).sealed(recorded(t).accept)
	if err != nil {
		t.Fatal(err)
	}
	entry := set.Entries[0]
	e, err := envelope.Decode(entry.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	x := set.Exchanges[0]
	if e.ID() != x.State.Opening || e.ID() != entry.MessageID || e.Conversation() != x.Conversation || e.Correlation() != x.Correlation ||
		e.Header().IdempotencyKey != set.Claim[0].Key || e.Digest() != entry.Digest || e.Digest() != set.Accept[0].Digest {
		t.Errorf("%+v\n%+v", e.Header(), set)
	}
}
