package store_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestASetThatContradictsItselfIsAnErrorThatNamesTheExchange(t *testing.T) {
	with := func(peer string) store.Exchange {
		return store.Exchange{Key: store.Key{Owner: "a", Conversation: "c", Peer: peer}}
	}
	child := func(owner string) store.Exchange {
		x := with("b")
		x.Parent = store.Key{Owner: owner, Conversation: "up", Peer: "z"}
		return x
	}
	for _, c := range []struct {
		what      string
		exchanges []store.Exchange
		want      string // "" if it is none
	}{
		{"no exchange", nil, ""},
		{"two peers", []store.Exchange{with("b"), with("d")}, ""},
		{"a child", []store.Exchange{child("a")}, ""},
		{"one peer twice", []store.Exchange{with("d"), with("b"), with("d")}, "of a with d in conversation c: the set writes it twice"},
		{"a mailbox", []store.Exchange{{Task: "t", Mailbox: true}}, ""},
		{"a task of which nobody reads", []store.Exchange{{Task: "t"}}, ""},
		{"a mailbox without a task", []store.Exchange{{Key: store.Key{Owner: "a", Conversation: "c", Peer: "b"}, Mailbox: true}}, "of a with b in conversation c: it is a mailbox and has no task"},
		{"a foreign parent", []store.Exchange{with("d"), child("e")}, "of a with b in conversation c: its parent belongs to e"},
	} {
		err := store.WriteSet{Exchanges: c.exchanges}.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
}

func TestASetWithAPriorityOrAnAnswerThatIsNoneIsRefused(t *testing.T) {
	for _, priority := range []string{"", "low", "normal", "high"} {
		if err := (store.WriteSet{Outbox: []store.Outbox{{Priority: priority}}}).Check(); err != nil {
			t.Errorf("priority %q: %v", priority, err)
		}
	}
	for want, set := range map[string]store.WriteSet{
		`post message m of a: its priority is "urgent"`: {Outbox: []store.Outbox{{Owner: "a", MessageID: "m", Priority: "urgent"}}},
		"answer command c: the answer has no time":      {Answers: []store.CommandAnswer{{ID: "c"}}},
	} {
		if err := set.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWhatIsNotedHasAMessageIDAndANoteInJSON(t *testing.T) {
	good := store.Entry{Owner: "a", Conversation: "c", Kind: store.Noted, MessageID: "m", Note: []byte(`{"text":"half"}`)}
	for what, c := range map[string]struct {
		spoil func(*store.Entry)
		fits  bool
	}{
		"as it should be":                 {func(*store.Entry) {}, true},
		"no message id":                   {func(e *store.Entry) { e.MessageID = "" }, false},
		"no note":                         {func(e *store.Entry) { e.Note = nil }, false},
		"a note that is no JSON":          {func(e *store.Entry) { e.Note = []byte("half") }, false},
		"an envelope":                     {func(e *store.Entry) { e.Envelope = []byte("{}") }, false},
		"of another kind, without a note": {func(e *store.Entry) { e.Kind, e.Note = store.Concluded, nil }, true},
	} {
		e := good
		c.spoil(&e)
		err := store.WriteSet{Entries: []store.Entry{e}}.Check()
		if (err == nil) != c.fits || err != nil && !strings.HasPrefix(err.Error(), "append to the log of a in conversation c: what is noted has") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// FuzzCommandCheck proves that a command passes only with a text of each field
// that is bounded and of its kind.
func FuzzCommandCheck(f *testing.F) {
	f.Add("019caa10-5a00-7000-8000-000000000001", "cancel", "agent://a/b", "c", "p", "m", "outbox", "ops")
	f.Add("019CAA10-5a00-7000-8000-000000000001", "drop", "", "", "", "", "", "")
	f.Add("019caa10-5a00-7000-8000_000000000001", "DROP", strings.Repeat("x", 513), "\x00", "", "", "log", "")
	f.Fuzz(func(t *testing.T, id, verb, owner, conversation, peer, message, source, by string) {
		c := store.Command{ID: id, Verb: verb, Owner: owner, Conversation: conversation, Peer: peer, MessageID: message, Source: store.DeadSource(source), By: by}
		err := c.Check()
		if err != nil {
			if wrong, ok := errors.AsType[*store.CommandError](err); !ok || wrong.Field == "" || wrong.Want == "" {
				t.Fatalf("got %v, want an error that names the field", err)
			}
			return
		}
		if !regexp.MustCompile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$").MatchString(id) {
			t.Fatalf("the id %q passed", id)
		}
		if !slices.Contains([]string{"cancel", "retry", "requeue", "drop"}, verb) || !slices.Contains([]string{"", "outbox", "inbox", "quarantine"}, source) {
			t.Fatalf("%q of %q passed", verb, source)
		}
		for _, text := range []string{owner, conversation, peer, message, by} {
			if len(text) > 512 {
				t.Fatalf("a text of %d bytes passed", len(text))
			}
		}
	})
}
