package store

import "time"

// CallbackKey names a callback.
type CallbackKey struct {
	Owner string
	// Task is what the carrier calls the exchange, as in Exchange.
	Task string
	// ID tells the callbacks of one task apart.
	ID string
}

// Callback is where a carrier posts what happens under a task: a webhook.
type Callback struct {
	CallbackKey
	// Peer is who set it up.
	Peer string
	// Config is the carrier's own, opaque to the store. It may hold secrets.
	Config []byte
	// Place is up to where it was told, in the carrier's own words; "" is the
	// start.
	Place string
	// Done: everything was told.
	Done bool
	// Attempt counts the failed tries since the last one that succeeded.
	Attempt int
	// NextAt is when it is tried next.
	NextAt    time.Time
	CreatedAt time.Time
}
