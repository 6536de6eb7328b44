package store

import (
	"cmp"
	"time"
)

// Aging is how long after its time an outbox row counts as one of high
// priority.
const Aging = 30 * time.Second

// Rank is a place in the order of priorities: what is lower leaves first.
type Rank int

// The ranks of outbox rows.
const (
	High Rank = iota
	Normal
	Low
)

// RankOf is the rank of a priority, and whether it is one; "" is normal.
func RankOf(priority string) (rank Rank, known bool) {
	switch priority {
	case "high":
		return High, true
	case "", "normal":
		return Normal, true
	case "low":
		return Low, true
	}
	return Normal, false
}

// Rank is the rank that the row has by its priority.
func (o Outbox) Rank() Rank {
	rank, _ := RankOf(o.Priority)
	return rank
}

// Compare orders rows that are due at now as Store.Due lists them; it is 0
// where only the order of their commits tells them apart. Engines use it.
func (o Outbox) Compare(other Outbox, now time.Time) int {
	return cmp.Or(cmp.Compare(o.aged(now), other.aged(now)), o.NextAt.Compare(other.NextAt), cmp.Compare(o.Rank(), other.Rank()))
}

// aged is the rank that the row has at now.
func (o Outbox) aged(now time.Time) Rank {
	if now.Sub(o.NextAt) > Aging {
		return High
	}
	return o.Rank()
}
