package agent

import "github.com/parley-agents/parley/envelope"

// Priority asks the receiver to take the question before others, or after them:
// "high", "normal" or "low". It is a hint, and orders only what waits at one
// host; what has waited long enough goes first all the same. Messages of a
// higher priority also leave first. Any other word is an error of Ask. Default:
// normal.
func Priority(p string) AskOption { return askOption(func(q *question) { q.priority = p }) }

// Resend says how the question is sent again while nobody answers it:
// MaxAttempts bounds how often it is sent, Backoff is the wait before the second
// time, and Jitter is "none" or "full". A policy that is out of bounds is an error
// of Ask. Default: the host's Terms, until the deadline.
func Resend(p envelope.RetryPolicy) AskOption {
	return askOption(func(q *question) { q.resend = &p })
}
