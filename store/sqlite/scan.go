package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// row is what a record is read from.
type row interface{ Scan(into ...any) error }

// The columns that each scan function reads, in its order.
const (
	exchangeColumns = "owner, conversation, peer, version, body, correlation, parent_conversation, parent_peer, final, opened_ms, ended_ms, " +
		"moved_ms, task, mailbox"
	entryColumns = "owner, conversation, idx, hash, peer, kind, at_ms, event, from_state, to_state, message_id, digest, reason, " +
		"envelope, cut, (SELECT body FROM blob WHERE sum = log.blob), note"
	inboxColumns  = "recipient, sender, message_id, digest, conversation, seq, status, attempt, lease_ms, first_ms, runs, accepted_ms, expires_ms"
	outboxColumns = "o.owner, o.message_id, o.conversation, o.receiver, o.status, o.attempt, o.next_ms, o.expires_ms, o.overtakes, o.last_error, " +
		"o.priority, o.max_attempts, o.backoff_ms, o.jitter"
	effectColumns = "recipient, sender, capability, key, fingerprint, conversation, status, at_ms, expires_ms"
	turnColumns   = "owner, conversation, peer, ordinal, kind, name, data, at_ms"
	letterColumns = "owner, source, peer, message_id, digest, conversation, reason, last_error, attempts, at_ms, " +
		"envelope, cut, (SELECT body FROM blob WHERE sum = dead_letter.blob)"
	commandColumns  = "id, verb, owner, conversation, peer, message_id, source, asked_by, at_ms, done_ms, answer, error"
	callbackColumns = "owner, task, id, peer, config, place, done, attempt, next_ms, created_ms"
)

func scanExchange(r row) (store.Exchange, error) {
	var (
		x    store.Exchange
		body []byte
	)
	err := r.Scan(&x.Owner, &x.Conversation, &x.Peer, &x.Version, &body, &x.Correlation, &x.Parent.Conversation, &x.Parent.Peer,
		&x.Final, (*moment)(&x.OpenedAt), (*moment)(&x.EndedAt), (*moment)(&x.MovedAt), &x.Task, &x.Mailbox)
	if err != nil {
		return store.Exchange{}, err
	}
	if x.Parent != (store.Key{}) {
		x.Parent.Owner = x.Owner
	}
	if err := json.Unmarshal(body, &x.State); err != nil {
		return store.Exchange{}, fmt.Errorf("state of the exchange with %s in conversation %s: %w", x.Peer, x.Conversation, err)
	}
	return x, nil
}

func scanEntry(r row) (store.Entry, error) {
	var (
		e    store.Entry
		cut  int
		body []byte
	)
	err := r.Scan(&e.Owner, &e.Conversation, &e.Index, (*sum)(&e.Hash), &e.Peer, &e.Kind, (*moment)(&e.At), &e.Event, &e.From, &e.To,
		&e.MessageID, (*sum)(&e.Digest), &e.Reason, &e.Envelope, &cut, &body, &e.Note)
	if err != nil {
		return store.Entry{}, err
	}
	if e.Envelope, err = whole(e.Envelope, cut, body); err != nil {
		return e, fmt.Errorf("entry %d of the log of %s in conversation %s: %w", e.Index, e.Owner, e.Conversation, err)
	}
	return e, nil
}

func scanInbox(r row) (i store.Inbox, err error) {
	err = r.Scan(&i.Recipient, &i.Sender, &i.MessageID, (*sum)(&i.Digest), &i.Conversation, &i.Seq, &i.Status, &i.Attempt,
		(*moment)(&i.LeaseUntil), (*moment)(&i.FirstUntil), &i.Runs, (*moment)(&i.AcceptedAt), (*moment)(&i.ExpiresAt))
	return i, err
}

func scanOutbox(r row) (o store.Outbox, err error) {
	err = r.Scan(&o.Owner, &o.MessageID, &o.Conversation, &o.Receiver, &o.Status, &o.Attempt, (*moment)(&o.NextAt),
		(*moment)(&o.ExpiresAt), &o.Overtakes, &o.LastError, &o.Priority, &o.MaxAttempts, (*milliseconds)(&o.Backoff), &o.Jitter)
	return o, err
}

func scanEffect(r row) (e store.Effect, err error) {
	err = r.Scan(&e.Recipient, &e.Sender, &e.Capability, &e.Key, &e.Fingerprint, &e.Conversation, &e.Status,
		(*moment)(&e.At), (*moment)(&e.ExpiresAt))
	return e, err
}

func scanTurn(r row) (t store.Turn, err error) {
	err = r.Scan(&t.Owner, &t.Conversation, &t.Peer, &t.Ordinal, &t.Kind, &t.Name, &t.Data, (*moment)(&t.At))
	return t, err
}

func scanTimer(r row) (t store.Timer, err error) {
	err = r.Scan(&t.Owner, &t.Conversation, &t.Peer, &t.Name, (*moment)(&t.At))
	return t, err
}

func scanLetter(r row) (store.DeadLetter, error) {
	var (
		d    store.DeadLetter
		cut  int
		body []byte
	)
	err := r.Scan(&d.Owner, &d.Source, &d.Peer, &d.MessageID, (*sum)(&d.Digest), &d.Conversation, &d.Reason, &d.LastError, &d.Attempts,
		(*moment)(&d.At), &d.Envelope, &cut, &body)
	if err != nil {
		return store.DeadLetter{}, err
	}
	if d.Envelope, err = whole(d.Envelope, cut, body); err != nil {
		return store.DeadLetter{}, fmt.Errorf("dead letter %s of %s: %w", d.MessageID, d.Owner, err)
	}
	return d, nil
}

func scanCommand(r row) (c store.Command, err error) {
	err = r.Scan(&c.ID, &c.Verb, &c.Owner, &c.Conversation, &c.Peer, &c.MessageID, &c.Source, &c.By,
		(*moment)(&c.At), (*moment)(&c.DoneAt), &c.Answer, &c.Error)
	return c, err
}

func scanPin(r row) (p store.Pin, err error) {
	err = r.Scan(&p.URI, &p.Key, &p.From, (*moment)(&p.At))
	return p, err
}

func scanCallback(r row) (c store.Callback, err error) {
	err = r.Scan(&c.Owner, &c.Task, &c.ID, &c.Peer, &c.Config, &c.Place, &c.Done, &c.Attempt, (*moment)(&c.NextAt), (*moment)(&c.CreatedAt))
	if len(c.Config) == 0 {
		c.Config = nil
	}
	return c, err
}
