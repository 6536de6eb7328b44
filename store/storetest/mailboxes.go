package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// mailbox is an exchange of alice whose acts the peer reads under the task. Its
// conversation is named after the task.
func mailbox(peer, task string, moved int) store.Exchange {
	x := exchange(key(alice, "of "+task, peer), "agreed")
	x.Task, x.Mailbox, x.MovedAt = task, true, at(moved)
	return x
}

func taskOf(x store.Exchange) string { return x.Task }

// named lists the tasks of a page.
func named(t *testing.T, s store.Store, q store.MailboxQuery) []string {
	t.Helper()
	return mapped(must(s.Mailboxes(t.Context(), q))(t), taskOf)
}

func tasks(t *testing.T, fresh func() Place) {
	s := fresh()()
	first, other, sent := mailbox(bob, "t", 5), mailbox(bob, "u", 5), exchange(key(alice, "sent", carol), "agreed")
	question := exchange(key(alice, "question", bob), "agreed")
	question.Task, question.Mailbox, question.Parent = "t", true, first.Key
	foreign := exchange(key(bob, "c", alice), "agreed")
	foreign.Task = "t"
	for _, x := range []store.Exchange{first, other, sent, question, foreign} {
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	}
	first.Version, first.State.State, first.EndedAt = 1, "done:ok", at(9)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{first}}) // a later step does not move it
	list := func(task string) []string { return mapped(must(s.Tasks(t.Context(), alice, task))(t), talk) }
	equal(t, "under the task", list("t"), []string{"of t", "question"})
	equal(t, "under another", list("u"), []string{"of u"})
	equal(t, "under none", list(""), []string(nil))

	sent.Version, sent.Task = 1, "v" // a server gave it a name
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{sent}})
	equal(t, "under the name given later", list("v"), []string{"sent"})
	sent.Version, sent.Task = 2, "t"
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{sent}})
	equal(t, "under the old name", list("v"), []string(nil))
	equal(t, "under the new name", list("t"), []string{"of t", "sent", "question"})
	first.Version = 2
	first.State.State, first.EndedAt = "done:ok", at(9)
	equal(t, "the first", must(s.Tasks(t.Context(), alice, "t"))(t)[0], first)
}

func mailboxOrder(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	never := mailbox(bob, "never", 0)
	never.MovedAt = time.Time{}
	inC := mailbox(bob, "in c", 25)
	inC.Correlation = "c"
	question := mailbox(bob, "question", 90)
	question.Parent = key(alice, "of a", bob)
	sent := exchange(key(alice, "sent", bob), "agreed")
	sent.Task, sent.MovedAt = "sent", at(90)
	foreign := mailbox(bob, "foreign", 90)
	foreign.Owner = carol
	for _, x := range []store.Exchange{mailbox(bob, "c", 20), mailbox(bob, "a", 20), never, mailbox(bob, "b", 30), inC, mailbox(carol, "hers", 90),
		question, sent, foreign} {
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	}
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{mailbox(bob, "moves", 10)}})
	moves := mailbox(bob, "moves", 40)
	moves.Version = 1
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{moves}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	for what, c := range map[string]struct {
		q     store.MailboxQuery
		want  []string
		count int
	}{
		"all":                       {store.MailboxQuery{}, []string{"moves", "b", "in c", "a", "c", "never"}, 6},
		"of a correlation":          {store.MailboxQuery{Correlation: "c"}, []string{"in c"}, 1},
		"of another":                {store.MailboxQuery{Correlation: "corr", Since: at(20), Limit: 3}, []string{"moves", "b", "a"}, 4},
		"since a time":              {store.MailboxQuery{Since: at(25)}, []string{"moves", "b", "in c"}, 3},
		"since just after":          {store.MailboxQuery{Since: at(25).Add(1)}, []string{"moves", "b"}, 2},
		"a few":                     {store.MailboxQuery{Limit: 2}, []string{"moves", "b"}, 6},
		"behind one":                {store.MailboxQuery{After: store.MailboxPlace{MovedAt: at(20), Task: "a"}}, []string{"c", "never"}, 6},
		"behind one that is not":    {store.MailboxQuery{After: store.MailboxPlace{MovedAt: at(26), Task: "z"}, Limit: 1}, []string{"in c"}, 6},
		"behind one without a time": {store.MailboxQuery{After: store.MailboxPlace{Task: "near"}}, []string{"never"}, 6},
		"behind the last":           {store.MailboxQuery{After: store.MailboxPlace{Task: "never"}}, nil, 6},
	} {
		c.q.Owner, c.q.Peer = alice, bob
		equal(t, what, named(t, s, c.q), c.want)
		equal(t, "the number of "+what, must(s.CountMailboxes(t.Context(), c.q))(t), c.count)
	}
	equal(t, "of a stranger", named(t, s, store.MailboxQuery{Owner: bob, Peer: alice}), []string(nil))
	whole := must(s.Mailboxes(t.Context(), store.MailboxQuery{Owner: alice, Peer: bob, Limit: 1}))(t)[0]
	moves.Version = 2
	equal(t, "the first", whole, moves)
}

// mailboxPages turns pages while what was listed moves.
func mailboxPages(t *testing.T, fresh func() Place) {
	s := fresh()()
	const all = 30
	var want []string
	for n := range all {
		x := mailbox(bob, fmt.Sprintf("t%02d", n), 50-n/3) // three of each time
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
		want = append(want, x.Task)
	}
	for _, limit := range []int{1, 4, all - 1, all, all + 1} {
		var got []string
		q := store.MailboxQuery{Owner: alice, Peer: bob, Limit: limit}
		for {
			page := must(s.Mailboxes(t.Context(), q))(t)
			if len(page) == 0 {
				break
			}
			got = append(got, mapped(page, taskOf)...)
			last := page[len(page)-1]
			q.After = store.MailboxPlace{MovedAt: last.MovedAt, Task: last.Task}
			// What was just listed moves to the front, and is not listed again.
			x := last
			x.MovedAt = at(1000)
			commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
		}
		equal(t, fmt.Sprint("pages of ", limit), got, want)
		for _, x := range must(s.Mailboxes(t.Context(), store.MailboxQuery{Owner: alice, Peer: bob, Since: at(1000)}))(t) {
			x.MovedAt = at(50 - slices.Index(want, x.Task)/3)
			commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
		}
	}
}

func contradictions(t *testing.T, fresh func() Place) {
	s := fresh()()
	nameless := mailbox(bob, "", 0)
	noted := store.Entry{Owner: alice, Conversation: "c", Peer: bob, Kind: store.Noted, MessageID: "m", Note: []byte(`{}`)}
	unnamed, silent, garbled, sealed := noted, noted, noted, noted
	unnamed.MessageID, silent.Note, garbled.Note, sealed.Envelope = "", nil, []byte("{"), []byte(`{}`)
	for what, set := range map[string]store.WriteSet{
		"a mailbox without a task":         {Exchanges: []store.Exchange{nameless}},
		"something noted without an id":    {Entries: []store.Entry{unnamed}},
		"something noted without a note":   {Entries: []store.Entry{silent}},
		"a note that is no JSON":           {Entries: []store.Entry{garbled}},
		"something noted with an envelope": {Entries: []store.Entry{noted, sealed}},
	} {
		if err := s.Commit(t.Context(), set); err == nil {
			t.Errorf("%s was written", what)
		}
	}
	equal(t, "exchanges", len(must(s.Exchanges(t.Context(), alice, ""))(t)), 0)
	equal(t, "entries", len(must(s.Log(t.Context(), alice, "c", 0))(t)), 0)
	commit(t, s, store.WriteSet{Entries: []store.Entry{noted}})
	noted.Index = 1
	found := must(s.Message(t.Context(), key(alice, "c", bob), store.Noted, "m"))(t)
	equal(t, "what was noted", unchained([]store.Entry{found}), []store.Entry{noted})
}
