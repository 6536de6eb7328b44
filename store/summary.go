package store

import (
	"slices"
	"time"
)

// Summary sums up a conversation from its exchanges, of which there must be
// at least one, and its number of messages. Engines use it.
func Summary(exchanges []Exchange, messages int) Conversation {
	first := exchanges[0]
	c := Conversation{Owner: first.Owner, ID: first.Conversation, Protocol: first.State.Protocol, State: Over,
		OpenedAt: first.OpenedAt, Messages: messages}
	for _, x := range exchanges {
		c.Peers = append(c.Peers, x.Peer)
		if x.OpenedAt.Before(c.OpenedAt) {
			c.OpenedAt = x.OpenedAt
		}
		if x.EndedAt.After(c.EndedAt) {
			c.EndedAt = x.EndedAt
		}
		if !x.State.Done() {
			c.State = Live
		}
	}
	if c.State == Live {
		c.EndedAt = time.Time{}
	}
	slices.Sort(c.Peers)
	return c
}
