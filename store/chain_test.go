package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func TestALinkTellsFieldsApartAndSparesTheBody(t *testing.T) {
	entry := store.Entry{Owner: "ab", Conversation: "c", Index: 1, MessageID: "m", At: time.UnixMilli(5), Envelope: []byte("body")}
	want := store.Link([32]byte{}, entry)

	erased := entry
	erased.Envelope, erased.Hash = nil, [32]byte{1}
	if store.Link([32]byte{}, erased) != want {
		t.Error("an erased body breaks the chain")
	}
	moved := entry
	moved.Owner, moved.Conversation = "a", "bc"
	later := entry
	later.Index = 2
	for what, got := range map[string][32]byte{"moved": store.Link([32]byte{}, moved), "later": store.Link([32]byte{}, later), "follower": store.Link([32]byte{1}, entry)} {
		if got == want {
			t.Errorf("the %s entry has the same link", what)
		}
	}
}

func TestALinkChangesWhenAnythingInTheEntryChanges(t *testing.T) {
	entry := store.Entry{Owner: "a", Conversation: "c", Index: 1, Peer: "b", Kind: store.Sent, At: time.UnixMilli(5), Event: "!inform",
		From: "agreed", To: "done:ok", MessageID: "m", Reason: "r", Note: []byte("n")}
	want := store.Link([32]byte{}, entry)
	for what, change := range map[string]func(*store.Entry){
		"owner":        func(e *store.Entry) { e.Owner = "z" },
		"conversation": func(e *store.Entry) { e.Conversation = "d" },
		"index":        func(e *store.Entry) { e.Index++ },
		"peer":         func(e *store.Entry) { e.Peer = "z" },
		"kind":         func(e *store.Entry) { e.Kind = store.Received },
		"time":         func(e *store.Entry) { e.At = e.At.Add(time.Millisecond) },
		"event":        func(e *store.Entry) { e.Event = "!failure" },
		"from":         func(e *store.Entry) { e.From = "received" },
		"to":           func(e *store.Entry) { e.To = "done:failed" },
		"message id":   func(e *store.Entry) { e.MessageID = "n" },
		"digest":       func(e *store.Entry) { e.Digest[31]++ },
		"note":         func(e *store.Entry) { e.Note = []byte("o") },
		"lack of note": func(e *store.Entry) { e.Note = nil },
		"reason":       func(e *store.Entry) { e.Reason = "late" },
	} {
		changed := entry
		change(&changed)
		if store.Link([32]byte{}, changed) == want {
			t.Errorf("another %s left the link as it was", what)
		}
	}
}

func TestTheLinkOfAnEntryWithoutANoteIsThatOfLogsFromBeforeThereWereNotes(t *testing.T) {
	entry := store.Entry{Owner: "a", Conversation: "c", Index: 1, Peer: "b", Kind: store.Sent, At: time.UnixMilli(5), Event: "!inform",
		From: "agreed", To: "done:ok", MessageID: "m", Reason: "r", Note: []byte{}}
	const want = "39c05648807f719ba48d5095d85dbe5eba28aa0c67f62618b44f874c676efd1a"
	if got := fmt.Sprintf("%x", store.Link([32]byte{}, entry)); got != want {
		t.Errorf("the link is %s, want %s", got, want)
	}
}
