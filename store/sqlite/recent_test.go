package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// agrees fails the test if the writer remembers something that the file does not
// say.
func agrees(t *testing.T, w *writer, q *queries) {
	t.Helper()
	ctx := t.Context()
	memories := map[any]any{}
	for _, young := range []map[any]memory{w.recent.old, w.recent.young} {
		for k, m := range young {
			memories[k] = m.value
		}
	}
	for k, got := range memories {
		var want any
		var err error
		switch k := k.(type) {
		case store.Key:
			if x, ok := got.(*store.Exchange); ok {
				got = *x
			}
			want, err = scanExchange(q.exchange.QueryRowContext(ctx, k.Owner, k.Conversation, k.Peer))
		case store.InboxKey:
			want, err = scanInbox(q.inbox.QueryRowContext(ctx, k.Recipient, k.Sender, k.MessageID))
		case store.EffectKey:
			want, err = scanEffect(q.effect.QueryRowContext(ctx, k.Recipient, k.Sender, k.Capability, k.Key))
		case chain:
			got = got.(tail).entries
			want, err = list(ctx, q.log, scanEntry, k.owner, k.conversation, got.([]store.Entry)[0].Index-1)
		case task:
			found, ok := w.recent.together(k)
			if !ok {
				continue // not all are remembered: it is not asked
			}
			got = found
			want, err = list(ctx, q.underTask, scanExchange, k.owner, k.name)
		case talk:
			found, ok := w.recent.together(k)
			if !ok {
				continue
			}
			got = found
			want, err = list(ctx, q.inConversation, scanExchange, k.owner, k.conversation)
		}
		if errors.Is(err, sql.ErrNoRows) {
			want, err = absent{}, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("under %+v is remembered %+v, in the file is %+v", k, got, want)
		}
	}
}

// reading are the queries of readers on the writer's own connection.
func reading(t *testing.T, w *writer) *queries {
	t.Helper()
	var q queries
	if err := prepareAll(t.Context(), w.conn, q.texts()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(q.texts()) })
	return &q
}

// accepting opens an exchange, as a request does that was accepted.
func accepting(n int) store.WriteSet {
	const owner, peer = "agent://local/flights", "agent://local/planner"
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	conversation, message := fmt.Sprint("conversation ", n), fmt.Sprint("message ", n)
	x := store.Exchange{Key: store.Key{Owner: owner, Conversation: conversation, Peer: peer}, Correlation: "trip", Task: "task", OpenedAt: at,
		State: protocol.Open(protocol.RequestV1, conversation, owner, peer, protocol.Participant)}
	x.State.Asked, x.State.Error = []string{"one", "two"}, &envelope.Error{Code: envelope.CodePermanent, Detail: &envelope.Detail{Want: "more"}}
	return store.WriteSet{
		Exchanges: []store.Exchange{x},
		Entries: []store.Entry{{Owner: owner, Conversation: conversation, Peer: peer, Kind: store.Received, At: at, MessageID: message,
			Envelope: []byte(`{"v":"1.0"}`)}},
		Accept: []store.Inbox{{InboxKey: store.InboxKey{Recipient: owner, Sender: peer, MessageID: message}, Conversation: conversation,
			Status: store.InProgress, Attempt: 1, LeaseUntil: at.Add(time.Minute), AcceptedAt: at, ExpiresAt: at.Add(time.Hour)}},
		Claim: []store.Effect{{EffectKey: store.EffectKey{Recipient: owner, Sender: peer, Capability: "c", Key: message},
			Fingerprint: []byte("print"), Conversation: conversation, Status: store.Begun, At: at, ExpiresAt: at.Add(time.Hour)}},
	}
}

func TestWhatWasJustWrittenIsNotAskedOfSQLite(t *testing.T) {
	s, ctx := openTemp(t), t.Context()
	set := accepting(1)
	x, k := set.Exchanges[0], set.Accept[0].InboxKey
	if err := s.Commit(ctx, set); err != nil {
		t.Fatal(err)
	}
	x.Version = 1
	if err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}, Settle: []store.Settlement{{InboxKey: k, Fence: 1}}}); err != nil {
		t.Fatal(err)
	}
	read := func() {
		t.Helper()
		found, err := s.Exchange(ctx, x.Key)
		row, failed := s.Inbox(ctx, k)
		_, noEffect := s.Effect(ctx, set.Claim[0].EffectKey)
		page, noLog := s.LogPage(ctx, x.Owner, x.Conversation, 0, 10)
		entry, noEntry := s.Message(ctx, x.Key, store.Received, k.MessageID)
		under, noTask := s.Tasks(ctx, x.Owner, x.Task)
		if err := errors.Join(err, failed, noEffect, noLog, noEntry, noTask); err != nil {
			t.Fatal(err)
		}
		if found.Version != 2 || row.Status != store.Settled || len(page) != 1 || entry.Index != 1 || len(under) != 1 || under[0].Version != 2 {
			t.Errorf("%+v, %+v, %d entries, entry %d, %+v", found, row, len(page), entry.Index, under)
		}
	}
	read()
	if n := s.Stats().Reads; n != 0 {
		t.Errorf("SQLite answered %d reads", n)
	}
	// Whatever may have changed anything makes it forget.
	if _, err := s.TakeOver(ctx, x.Owner); err != nil {
		t.Fatal(err)
	}
	read()
	if n := s.Stats().Reads; n != 6 {
		t.Errorf("SQLite answered %d reads, want all 6", n)
	}
}

func TestWhatWasNotThereIsRememberedUntilItIs(t *testing.T) {
	s, ctx := openTemp(t), t.Context()
	set := accepting(1)
	k := set.Exchanges[0].Key
	for range 3 {
		if _, err := s.Exchange(ctx, k); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if n := s.Stats().Reads; n != 1 {
		t.Errorf("SQLite answered %d reads, want 1", n)
	}
	if err := s.Commit(ctx, set); err != nil {
		t.Fatal(err)
	}
	if x, err := s.Exchange(ctx, k); err != nil || x.Version != 1 {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestALookUpThatACommitOvertakesTeachesNothing(t *testing.T) {
	k := store.Key{Conversation: "c"}
	one := func() *changes {
		c := &changes{}
		c.reset(&recent{})
		c.unknown(k)
		return c
	}
	for name, during := range map[string]func(*recent){
		"the whole commit":      func(r *recent) { r.bar(one()); r.admit(one()) },
		"its beginning":         func(r *recent) { r.bar(one()) },
		"one that failed":       func(r *recent) { r.bar(one()); r.admit(nil) },
		"one of anything":       func(r *recent) { r.bar(&changes{all: true}); r.admit(&changes{all: true}) },
		"the beginning of that": func(r *recent) { r.bar(&changes{all: true}) },
	} {
		var r recent
		learned := r.look(k)
		during(&r)
		learned(absent{}, 1)
		if found, ok := r.get(k); ok {
			t.Errorf("over %s: %v", name, found)
		}
	}
	for name, c := range map[string]*changes{"that": one(), "anything": {all: true}} {
		var r recent
		r.bar(c)
		learned := r.look(k) // it may read what stood before
		r.admit(c)
		learned(absent{}, 1)
		if found, ok := r.get(k); ok {
			t.Errorf("begun within a commit of %s: %v", name, found)
		}
	}
	var r recent
	r.look(k)(absent{}, 1)
	if _, ok := r.get(k); !ok || len(r.looked) != 0 {
		t.Errorf("undisturbed: %v, %d left", ok, len(r.looked))
	}
}

func TestWhatIsBeingCommittedIsOutOfMemory(t *testing.T) {
	k := store.Key{Conversation: "c"}
	var r recent
	var c changes
	c.reset(&r)
	c.set(k, store.Exchange{Version: 1}, 1)
	r.bar(&c)
	r.admit(&c)
	if _, ok := r.get(k); !ok {
		t.Fatal("what was committed is forgotten")
	}
	c.reset(&r)
	c.set(k, store.Exchange{Version: 2}, 1)
	r.bar(&c)
	if found, ok := r.get(k); ok {
		t.Errorf("while it is committed: %v", found)
	}
	r.admit(nil)
	if found, ok := r.get(k); ok {
		t.Errorf("after it was not: %v", found)
	}
}

func TestNothingThatWasUndoneIsRemembered(t *testing.T) {
	w := unrun(t)
	q := reading(t, w)
	commit := func(sets ...store.WriteSet) {
		t.Helper()
		var batch []job
		for _, set := range sets {
			p, err := prepare(set)
			if err != nil {
				t.Fatal(err)
			}
			batch = append(batch, commitJob(p))
		}
		w.serve(context.Background(), batch)
		agrees(t, w, q)
	}
	// The second one leaves a part of itself behind before it does not fit.
	misfit := accepting(2)
	misfit.Settle = []store.Settlement{{InboxKey: store.InboxKey{Recipient: "nobody"}}}
	commit(accepting(1), misfit, accepting(3))
	// A mistake that shows when everything else is written.
	run(t, w, "PRAGMA foreign_keys = ON")
	run(t, w, "CREATE TABLE orphan (parent INTEGER REFERENCES meta (only) DEFERRABLE INITIALLY DEFERRED)")
	run(t, w, "CREATE TRIGGER late_poison AFTER INSERT ON turn WHEN NEW.name = 'COMMIT' BEGIN INSERT INTO orphan VALUES (99); END")
	for _, how := range []string{"ABORT", "ROLLBACK", "COMMIT"} {
		poisoned := accepting(4)
		poisoned.Turns = []store.Turn{{Key: poisoned.Exchanges[0].Key, Ordinal: 1, Kind: store.Reply, Name: how}}
		commit(poisoned)
		commit(poisoned, accepting(5))
	}
	for n, want := range map[int]bool{2: false, 3: true, 4: false, 5: true} {
		if _, ok := w.recent.get(accepting(n).Exchanges[0].Key); ok != want {
			t.Errorf("exchange %d is remembered: %v", n, ok)
		}
	}
}

func TestWhatIsRememberedIsNobodyElses(t *testing.T) {
	s, ctx := openTemp(t), t.Context()
	set := accepting(1)
	k := set.Exchanges[0].Key
	if err := s.Commit(ctx, set); err != nil {
		t.Fatal(err)
	}
	spoil := func(x store.Exchange, log []store.Entry, f store.Effect) {
		x.State.Asked[0], x.State.Error.Code, x.State.Error.Detail.Want = "spoilt", "spoilt", "spoilt"
		log[0].MessageID, f.Fingerprint[0] = "spoilt", 'X'
	}
	spoil(set.Exchanges[0], set.Entries, set.Claim[0])
	for range 2 {
		x, err := s.Exchange(ctx, k)
		log, failed := s.Log(ctx, k.Owner, k.Conversation, 0)
		f, missing := s.Effect(ctx, set.Claim[0].EffectKey)
		if err := errors.Join(err, failed, missing); err != nil {
			t.Fatal(err)
		}
		if x.State.Asked[0] != "one" || x.State.Error.Code != envelope.CodePermanent || x.State.Error.Detail.Want != "more" ||
			log[0].MessageID == "spoilt" || f.Fingerprint[0] != 'p' {
			t.Errorf("%+v, %s, %s", x, log[0].MessageID, f.Fingerprint)
		}
		spoil(x, log, f)
	}
	if n := s.Stats().Reads; n != 0 {
		t.Errorf("SQLite answered %d reads", n)
	}
}

// What else of a state refers to something that it shares with its copy must be
// copied by ownState.
func TestOnlyTwoMembersOfAStateAreShared(t *testing.T) {
	var refers func(of reflect.Type, at string) []string
	refers = func(of reflect.Type, at string) (found []string) {
		for i := range of.NumField() {
			f := of.Field(i)
			switch f.Type.Kind() {
			case reflect.Slice, reflect.Map, reflect.Interface:
				found = append(found, at+f.Name)
			case reflect.Pointer:
				found = append(append(found, at+f.Name), refers(f.Type.Elem(), at+f.Name+".")...)
			}
		}
		return found
	}
	want := []string{"Asked", "Error", "Error.Detail"}
	if got := refers(reflect.TypeFor[protocol.Exchange](), ""); !reflect.DeepEqual(got, want) {
		t.Errorf("%v refer to something, want %v", got, want)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var r recent
	for n := range 100_000 {
		r.put(n, memory{value: absent{}, bytes: 1000})
	}
	if most := 2 * (keptBytes/1000 + 1); len(r.young)+len(r.old) > most {
		t.Errorf("%d records of 1000 bytes are remembered, more than %d", len(r.young)+len(r.old), most)
	}
	var l tail
	for n := range 1000 {
		l = l.with(store.Entry{Index: int64(n + 1), Envelope: make([]byte, 10<<10)})
	}
	if len(l.entries) > tailEntries || l.bytes > tailBytes || l.entries[len(l.entries)-1].Index != 1000 || l.whole() {
		t.Errorf("%d entries and %d bytes of a log up to %d", len(l.entries), l.bytes, l.entries[len(l.entries)-1].Index)
	}
	if _, ok := l.after(l.entries[0].Index-2, 10); ok {
		t.Error("a tail gives what it does not have")
	}
}
