package agent

import (
	"fmt"
	"time"

	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

// Terms say how long a host holds on to what it has in hand and to what it
// remembers. A field that is zero has its default. They must fit each other, so
// that a receiver always remembers a message for longer than its sender may send
// it again: Start refuses those that do not with a *TermsError.
type Terms struct {
	// Lease is how long accepted work counts as being done by this host without
	// another word of it. Default: 30 s. Heartbeat is how often the leases of
	// what runs are renewed, and those of what still waits in line are given back;
	// it is less than half of Lease. Default: 10 s.
	Lease, Heartbeat time.Duration
	// Inbox is how long a received message is remembered at least. Default:
	// 24 h. Whatever that is, it is remembered until Grace after its reply_by,
	// which is longer than anybody sends it: until the cancel and the ack window
	// have passed and the last send has had its CarrierTimeout. Default of
	// Grace: 1 h.
	Inbox, Grace time.Duration
	// Effect is how long an effect is remembered under its key: at least as long
	// as any message that may ask for it again, so no less than Inbox, nor than
	// MaxReplyBy and Grace together. Default: 7 days.
	Effect time.Duration
	// RetryFirst is the wait before a message is sent again, doubled each time
	// up to RetryMax, with full jitter. Default: 0.5 s and 60 s.
	RetryFirst, RetryMax time.Duration
	// MaxReplyBy is how far ahead the deadline of a message may lie, so that
	// nobody can hold a place here for ever. An opening act that asks for more is
	// refused (permanent, policy), pointing at /reply_by. Default: 6 days.
	MaxReplyBy time.Duration
}

// TermsError says which two fields of the configuration do not fit each other.
type TermsError struct {
	// Field and Other are their names.
	Field, Other string
	// Want is what must hold, as in "Heartbeat < Lease / 2".
	Want string
	// Got and Bound are the two sides as they are.
	Got, Bound time.Duration
}

func (e *TermsError) Error() string {
	return fmt.Sprintf("terms %s and %s do not fit: want %s, got %s and %s", e.Field, e.Other, e.Want, e.Got, e.Bound)
}

func (t Terms) withDefaults() Terms {
	const day = 24 * time.Hour
	preset(&t.Lease, 30*time.Second)
	preset(&t.Heartbeat, 10*time.Second)
	preset(&t.Inbox, day)
	preset(&t.Grace, time.Hour)
	preset(&t.Effect, 7*day)
	preset(&t.RetryFirst, 500*time.Millisecond)
	preset(&t.RetryMax, time.Minute)
	preset(&t.MaxReplyBy, 6*day)
	return t
}

// check holds the terms against each other.
func (t Terms) check(carrier time.Duration) error {
	for _, d := range []struct {
		field string
		got   time.Duration
	}{{"Lease", t.Lease}, {"Heartbeat", t.Heartbeat}, {"Inbox", t.Inbox}, {"Grace", t.Grace}, {"Effect", t.Effect},
		{"RetryFirst", t.RetryFirst}, {"RetryMax", t.RetryMax}, {"MaxReplyBy", t.MaxReplyBy}} {
		if d.got < 0 {
			return &TermsError{Field: d.field, Other: d.field, Want: d.field + " >= 0", Got: d.got}
		}
	}
	lastSend := protocol.CancelWindow + ackWindow + carrier + guard.Skew
	for _, rule := range []struct {
		field, other, want string
		got, bound         time.Duration
		holds              bool
	}{
		{"Heartbeat", "Lease", "Heartbeat < Lease / 2", t.Heartbeat, t.Lease, 2*t.Heartbeat < t.Lease},
		{"RetryFirst", "RetryMax", "RetryFirst <= RetryMax", t.RetryFirst, t.RetryMax, t.RetryFirst <= t.RetryMax},
		{"Grace", "CarrierTimeout", "Grace > cancel window + ack window + CarrierTimeout + clock skew", t.Grace, lastSend, t.Grace > lastSend},
		{"Effect", "Inbox", "Effect >= Inbox", t.Effect, t.Inbox, t.Effect >= t.Inbox},
		{"Effect", "MaxReplyBy", "Effect >= MaxReplyBy + Grace", t.Effect, t.MaxReplyBy + t.Grace, t.Effect >= t.MaxReplyBy+t.Grace},
	} {
		if !rule.holds {
			return &TermsError{Field: rule.field, Other: rule.other, Want: rule.want, Got: rule.got, Bound: rule.bound}
		}
	}
	return nil
}

// remember is how long a message that is received now, with the given deadline,
// is remembered. A deadline further away than any that is accepted does not
// lengthen it.
func (t Terms) remember(now, replyBy time.Time) time.Time {
	until := now.Add(t.Inbox)
	if furthest := now.Add(t.MaxReplyBy + guard.Skew); replyBy.After(furthest) {
		replyBy = furthest
	}
	if by := replyBy.Add(t.Grace); by.After(until) {
		until = by
	}
	return until
}
