// Package envelope holds the one noun of the wire: a message that one agent sends to one other.
//
// An [Envelope] is made from a [Header] and a content by [Seal], or from received bytes by [Decode]; both hold it to the
// same shape, and nothing changes it afterwards. Its canonical bytes (RFC 8785) give it a [Digest] that is the same on
// every carrier and at every attempt. Which message may follow which is not decided here.
//
// The package is pure: it reads no clock, does no I/O and draws no random numbers.
package envelope
