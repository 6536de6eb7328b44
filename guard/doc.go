// Package guard judges every message before it may move anything: is it
// readable, whose is it, is it new, in order, in time, legal in its protocol
// and valid against its one schema. It also quotes what peers say, so that a
// model reads it as data.
//
// Open and Admit are pure: what they need to know is handed to them, so they
// run outside any transaction and at any speed. Each refusal is a *Violation
// that names its rule, points at the fault and says what the peer is told.
package guard
