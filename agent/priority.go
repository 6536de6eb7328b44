package agent

import "github.com/parley-agents/parley/envelope"

// Priority asks the receiver to take the question before others, or after them:
// "high", "normal" or "low". It is a hint, and orders only what waits at one
// host; what has waited long enough goes first all the same. Messages of a
// higher priority also leave first. Any other word is an error of Ask. Default:
// normal.
func Priority(p string) AskOption { return askOption(func(q *question) { q.priority = p }) }

// Resend says how the question is sent again until it is received: at most
// MaxAttempts times, after waits that begin with Backoff (the host's
// Terms.RetryFirst if it is 0) and double up to Terms.RetryMax, or up to Backoff
// if that is longer. With the jitter "full" each wait is drawn evenly from nothing
// to that, with "none" it is just that. A policy that is out of bounds is an error
// of Ask. Default: full, as often as there is time for.
//
// A message whose attempts are used up is a dead letter at once. Its exchange
// ends at its deadline, as one whose peer is silent does: until then an operator
// may have the message sent again.
func Resend(p envelope.RetryPolicy) AskOption {
	return askOption(func(q *question) { q.resend = &p })
}
