package store

import "time"

// MailboxQuery says which mailboxes are meant.
type MailboxQuery struct {
	// Owner and Peer are whose acts are read and who reads them.
	Owner, Peer string
	// Correlation is that of the exchanges, "" any.
	Correlation string
	// Since is the earliest MovedAt, zero any.
	Since time.Time
	// After is the place behind which the list begins, that of the last exchange
	// that was listed before; zero is the start.
	After MailboxPlace
	// Limit is how many are listed at most, 0 or less all.
	Limit int
}

// MailboxPlace is the place of an exchange in the order of Store.Mailboxes.
// Places stay what they are while exchanges come and go, but an exchange that
// moves leaves its own for the first.
type MailboxPlace struct {
	MovedAt time.Time
	Task    string
}
