package store

import "time"

// Pin is the key that an agent was first met with. It is the store's, not one
// agent's: whoever speaks for the URI later is held to it.
type Pin struct {
	URI string
	// Key is an Ed25519 public key (RFC 8032).
	Key []byte
	// From says where it came from: a URL, or loopback.
	From string
	At   time.Time
}
