// Package storetest is the conformance suite of store.Store: what every
// engine must do, told through the interface alone.
package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Place opens the store of one place. Called again after Close, it opens the
// same store with what was committed to it.
type Place func() store.Store

// Run runs the suite. Each call of fresh makes a place with nothing in it
// yet; a place that cannot be opened ends the test it was given. The suite
// closes every store that it opens.
func Run(t *testing.T, fresh func(t *testing.T) Place) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, fresh func() Place)
	}{
		{"the first meta and identity are kept", metaAndIdentity},
		{"an exchange is read as it was written", exchangeRoundTrip},
		{"a step from an old version conflicts", versionConflict},
		{"the exchanges of a set move together or not at all", movedTogether},
		{"of the steps from one version one wins and the others spoil nothing", rivals},
		{"a set that writes an exchange twice is refused", movedTwice},
		{"a set moves a thousand exchanges", movedThousand},
		{"exchanges are listed by peer, live, by parent and by correlation", exchangeLists},
		{"a parent of another owner is refused", foreignParent},
		{"what is read under a task is listed in the order of opening", tasks},
		{"mailboxes are listed by what moved last, of one peer, and counted", mailboxOrder},
		{"pages of mailboxes neither repeat nor lose what stays in place", mailboxPages},
		{"a mailbox has a task, and what is noted an id and a note", contradictions},
		{"a conversation sums up its exchanges", conversationSums},
		{"conversations are listed newest first, of one owner or all", conversationOrder},
		{"timers follow the state", timersFollow},
		{"a message is accepted once per recipient and sender", acceptOnce},
		{"a settlement needs the fence of the lease", settleFenced},
		{"taking over raises the fence of what is in progress, oldest first", takeOver},
		{"a lease is renewed under its fence", renew},
		{"a lease is taken, renewed and given back in a set, under its fence", leases},
		{"a lease that was not given back counts as a run, from the first again if it was held for long", countRuns},
		{"messages leave one after another and an overtaking one at once", firstInFirstOut},
		{"next is when the answer of due changes by itself", nextTime},
		{"due keeps to its owners and its limit, earliest first", dueBounds},
		{"due finds its owners behind many rows of others", dueBehindOthers},
		{"a long line leaves in order whatever leaves it out of turn", longLine},
		{"dropping spares what was attempted or overtakes", dropUnsent},
		{"dropping takes the rows of each exchange it names", dropSeveral},
		{"only pending rows take a delivery", deliveries},
		{"only pending rows get another time", redrive},
		{"urgent messages leave first, and none waits for ever", priorities},
		{"urgent messages are found behind any number of others", priorityBehindOthers},
		{"outbox rows keep their terms", terms},
		{"outbox rows are listed newest first, by status", outboxLists},
		{"inbox rows are listed newest first, all or those in progress", inboxLists},
		{"a dead letter is kept, written over and removed", deadLetters},
		{"dead letters are listed newest first", deadLetterOrder},
		{"a command waits until it is answered once", commands},
		{"a command that nobody could carry out is refused", badCommands},
		{"an outbox row is new and pending", outboxRows},
		{"an effect is written over and released", effects},
		{"turns are new and read by ordinal", turns},
		{"the first key of an agent is kept until it is unpinned", pins},
		{"of the keys that are pinned at once one is kept", pinRivals},
		{"a callback is written whole, listed, advanced and deleted", callbacks},
		{"no callback that was deleted or set up anew is advanced", callbackRivals},
		{"a sweep forgets the callbacks of a task with all that is under it", sweepCallbacks},
		{"a sweep forgets what has expired and nothing before its time", sweepExpired},
		{"a sweep forgets a conversation whole, and only when nothing leans on it", sweepTalks},
		{"a sweep forgets no more than its limit of each, the oldest first", sweepLimit},
		{"sweeps come to an end behind any number of kept conversations", sweepBehindKept},
		{"a sweep spares what others share", sweepShared},
		{"what a sweep keeps reads as before", sweepAgrees},
		{"sweeps run beside commits", sweepBesideCommits},
		{"a log is numbered from one and read from any index, whole or by pages", logOrder},
		{"a log stays contiguous under concurrent commits", logConcurrent},
		{"the hashes of a log are a chain of links", logChain},
		{"a large envelope is read whole wherever it stands", largeEnvelopes},
		{"a note of any size is read as it was written", notes},
		{"a message is found by its id and kind", messageByID},
		{"a message is found wherever it stands in its log", messageAnywhere},
		{"a set that fails in one part writes nothing", atomicity},
		{"owners do not see each other", isolation},
		{"what does not exist is not found", notFound},
		{"a set whose context has ended is not written", endedContext},
		{"a closed store answers closed", closed},
		{"what was committed survives closing", durability},
		{"a crash around any call leaves all or nothing of it", crashes},
		{"a commit cut off by close is whole or absent", closeUnderLoad},
		{"reads agree with a model after random write sets", agreesWithModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, closing(t, fresh))
		})
	}
}

// closing makes places whose stores are closed when the test ends.
func closing(t *testing.T, fresh func(t *testing.T) Place) func() Place {
	return func() Place {
		open := fresh(t)
		return func() store.Store {
			s := open()
			t.Cleanup(func() { s.Close() })
			return s
		}
	}
}

const (
	alice = "agent://local/alice"
	bob   = "agent://local/bob"
	carol = "agent://local/carol"
)

// at is a time some milliseconds after the suite's beginning.
func at(ms int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

func key(owner, conversation, peer string) store.Key {
	return store.Key{Owner: owner, Conversation: conversation, Peer: peer}
}

// exchange is a participant's exchange in the state, not yet written.
func exchange(k store.Key, state protocol.State) store.Exchange {
	x := protocol.Open(protocol.RequestV1, k.Conversation, k.Owner, k.Peer, protocol.Participant)
	x.State = state
	return store.Exchange{Key: k, State: x, Correlation: "corr", OpenedAt: at(0)}
}

func entry(owner, conversation, messageID string) store.Entry {
	return store.Entry{Owner: owner, Conversation: conversation, Peer: bob, Kind: store.Sent, At: at(1), Event: "!inform",
		From: "agreed", To: "done:ok", MessageID: messageID, Digest: [32]byte{1, 2, 3}, Envelope: []byte(`{"v":"1.0"}`)}
}

func accepted(recipient, sender, messageID string) store.Inbox {
	return store.Inbox{InboxKey: store.InboxKey{Recipient: recipient, Sender: sender, MessageID: messageID},
		Digest: [32]byte{9}, Conversation: "c", Seq: 1, Status: store.InProgress, Attempt: 1,
		LeaseUntil: at(30), FirstUntil: at(30), AcceptedAt: at(0), ExpiresAt: at(1000)}
}

func outgoing(owner, conversation, receiver, messageID string, next time.Time) store.Outbox {
	return store.Outbox{Owner: owner, MessageID: messageID, Conversation: conversation, Receiver: receiver,
		Status: store.Pending, NextAt: next, ExpiresAt: at(1000)}
}

// commit writes a set that must fit.
func commit(t *testing.T, s store.Store, w store.WriteSet) {
	t.Helper()
	if err := s.Commit(t.Context(), w); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// refused commits a set that must fail with want.
func refused(t *testing.T, s store.Store, w store.WriteSet, want error) {
	t.Helper()
	if err := s.Commit(t.Context(), w); !errors.Is(err, want) {
		t.Fatalf("commit: got %v, want %v", err, want)
	}
}

// is compares an error.
func is(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// must gives the value of a read that may not fail.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// mapped is f of every element.
func mapped[T, U any](list []T, f func(T) U) []U {
	var out []U
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func peerOf(x store.Exchange) string    { return x.Peer }
func idOf(o store.Outbox) string        { return o.MessageID }
func talk(x store.Exchange) string      { return x.Conversation }
func indexOf(e store.Entry) int64       { return e.Index }
func inboxMessage(i store.Inbox) string { return i.MessageID }

func letterID(d store.DeadLetter) string { return d.MessageID }
func commandID(c store.Command) string   { return c.ID }
