package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// The messages of the store that workStore fills.
const (
	messageOpen    = "019535d9-3df7-79fb-b466-0000000000a1" // in the inbox of flights, which works on it
	messageSettled = "019535d9-3df7-79fb-b466-0000000000a2" // in the inbox of flights; its content is personal
	messageTwice   = "019535d9-3df7-79fb-b466-0000000000a3" // in the inbox of flights, of two senders
	messagePending = "019535d9-3df7-79fb-b466-0000000000b1" // in the outbox of planner
	messageDone    = "019535d9-3df7-79fb-b466-0000000000b2" // in the outbox of planner, delivered
	messageDead    = "019535d9-3df7-79fb-b466-0000000000b3" // in the outbox of planner and a dead letter
	messagePoison  = "019535d9-3df7-79fb-b466-0000000000d1" // a dead letter of flights, from its inbox; personal
	messageForged  = "019535d9-3df7-79fb-b466-0000000000d2" // in the quarantine of flights, with two digests
	commandDone    = "019535d9-3df7-79fb-b466-0000000000c2"
	commandFailed  = "019535d9-3df7-79fb-b466-0000000000c3"
	commandWaits   = "019535d9-3df7-79fb-b466-0000000000c4"
)

const hostileWords = "\x1b[2Jlate\u202e"

// workStore is filledStore with mail, dead letters and commands, some of which
// hold words that would steer a terminal.
func workStore(t *testing.T) string {
	t.Helper()
	path := filledStore(t)
	withStore(t, path, func(ctx context.Context, s *sqlite.Store) error {
		open, settled := written(t, messageOpen, nil), written(t, messageSettled, []string{"internal", "personal"})
		poison, forged := written(t, messagePoison, []string{"secret"}), written(t, messageForged, []string{"public"})
		opening := *exchange(planner, conversation2, hotels, "requested", noon.Add(-10*time.Minute))
		opening.Version, opening.State.Role = 1, protocol.Initiator
		err := s.Commit(ctx, store.WriteSet{
			Exchanges: []store.Exchange{opening},
			Entries:   []store.Entry{entryOf(flights, planner, store.Received, open), entryOf(flights, planner, store.Received, settled)},
			Accept: []store.Inbox{
				{InboxKey: store.InboxKey{Recipient: flights, Sender: planner, MessageID: messageOpen}, Conversation: conversation1, Seq: 1,
					Status: store.InProgress, Attempt: 2, LeaseUntil: noon.Add(30 * time.Second), AcceptedAt: noon.Add(-time.Minute), ExpiresAt: noon.Add(24 * time.Hour)},
				{InboxKey: store.InboxKey{Recipient: flights, Sender: planner, MessageID: messageSettled}, Conversation: conversation1, Seq: 2,
					Status: store.Settled, Attempt: 1, AcceptedAt: noon.Add(-2 * time.Minute), ExpiresAt: noon.Add(24 * time.Hour)},
				{InboxKey: store.InboxKey{Recipient: flights, Sender: planner, MessageID: messageTwice}, Conversation: conversation1, Seq: 3,
					Status: store.Settled, Attempt: 1, AcceptedAt: noon.Add(-3 * time.Minute), ExpiresAt: noon.Add(24 * time.Hour)},
				{InboxKey: store.InboxKey{Recipient: flights, Sender: hotels, MessageID: messageTwice}, Conversation: conversation2, Seq: 1,
					Status: store.Settled, Attempt: 1, AcceptedAt: noon.Add(-4 * time.Minute), ExpiresAt: noon.Add(24 * time.Hour)},
			},
			Outbox: []store.Outbox{
				{Owner: planner, MessageID: messageDead, Conversation: conversation1, Receiver: flights, NextAt: noon.Add(-time.Hour), ExpiresAt: noon.Add(-time.Minute)},
				{Owner: planner, MessageID: messageDone, Conversation: conversation1, Receiver: flights, NextAt: noon.Add(-time.Hour), ExpiresAt: noon.Add(time.Hour)},
				{Owner: planner, MessageID: messagePending, Conversation: conversation2, Receiver: hotels, NextAt: noon.Add(time.Second), ExpiresAt: noon.Add(time.Hour), Priority: "high"},
			},
			Deliveries: []store.Delivery{
				{Owner: planner, MessageID: messageDead, Status: store.Dead, Attempt: 7, LastError: "connection refused"},
				{Owner: planner, MessageID: messageDone, Status: store.Delivered, Attempt: 1},
				{Owner: planner, MessageID: messagePending, Status: store.Pending, Attempt: 3, NextAt: noon.Add(time.Second), LastError: hostileWords},
			},
			Bury: []store.DeadLetter{
				{DeadKey: store.DeadKey{Owner: planner, Source: store.DeadOutbox, Peer: flights, MessageID: messageDead}, Conversation: conversation1,
					Reason: "exhausted", LastError: "connection refused", Attempts: 7, At: noon.Add(-time.Minute), Envelope: written(t, messageDead, nil).Bytes()},
				{DeadKey: store.DeadKey{Owner: flights, Source: store.DeadInbox, Peer: planner, MessageID: messagePoison}, Conversation: conversation1,
					Reason: "poison", LastError: hostileWords, Attempts: 5, At: noon.Add(-2 * time.Minute), Envelope: poison.Bytes()},
				{DeadKey: store.DeadKey{Owner: flights, Source: store.DeadQuarantine, Peer: planner, MessageID: messageForged, Digest: forged.Digest()},
					Conversation: conversation1, Reason: "equivocation", At: noon.Add(-3 * time.Minute), Envelope: forged.Bytes()},
				{DeadKey: store.DeadKey{Owner: flights, Source: store.DeadQuarantine, Peer: planner, MessageID: messageForged, Digest: envelope.Digest{1}},
					Conversation: conversation1, Reason: "equivocation", At: noon.Add(-4 * time.Minute), Envelope: forged.Bytes()},
			},
		})
		if err != nil {
			return err
		}
		for _, c := range []store.Command{
			{ID: commandDone, Verb: store.VerbRetry, Owner: planner, Conversation: conversation1, Peer: flights, MessageID: messageDone, By: "user:ada", At: noon.Add(-time.Hour)},
			{ID: commandFailed, Verb: store.VerbDrop, Owner: flights, Peer: planner, MessageID: messageForged, Source: store.DeadQuarantine, By: "user:ada", At: noon.Add(-time.Hour)},
			{ID: commandWaits, Verb: store.VerbCancel, Owner: planner, Conversation: conversation2, By: hostileWords, At: noon.Add(-time.Minute)},
		} {
			if err := s.Post(ctx, c); err != nil {
				return err
			}
		}
		return s.Commit(ctx, store.WriteSet{Answers: []store.CommandAnswer{
			{ID: commandDone, At: noon.Add(-59 * time.Minute), Answer: "sent"}, {ID: commandFailed, At: noon.Add(-58 * time.Minute), Error: "no such letter"},
		}})
	})
	return path
}

// withStore opens the store at path as a host would, and leaves the file as old
// as filledStore makes it.
func withStore(t *testing.T, path string, do func(context.Context, *sqlite.Store) error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	must(t, do(t.Context(), s))
	must(t, s.Close())
	must(t, os.Chtimes(path, time.Time{}, noon.Add(-time.Hour)))
}

// written is a request of planner to flights.
func written(t *testing.T, id string, privacy []string) *envelope.Envelope {
	t.Helper()
	h := sealed(t).Header()
	h.MessageID, h.Labels.Privacy, h.Salt, h.ContentDigest = id, privacy, bytes.Repeat([]byte{9}, 16), ""
	e, err := envelope.Seal(h, []byte(`{"flight":"`+"\u202eAY121"+`"}`))
	must(t, err)
	return e
}

func entryOf(owner, peer string, kind store.EntryKind, e *envelope.Envelope) store.Entry {
	return store.Entry{Owner: owner, Conversation: conversation1, Peer: peer, Kind: kind, At: noon, Event: "?request", From: "received", To: "received",
		MessageID: e.ID(), Digest: e.Digest(), Envelope: e.Bytes()}
}
