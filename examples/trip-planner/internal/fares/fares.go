// Package fares makes up what airlines and hotels offer: the stand-in for the systems that a real planner would ask.
//
// Every offer follows from the question alone, so the same question has the same answer on every machine and on every
// day. Prices are whole euro cents. Everything is pure and safe for concurrent use.
package fares

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
)

// Date is one day of the calendar.
type Date = calendar.Date

// ParseDate reads a date written as in "2026-03-12".
func ParseDate(s string) (Date, error) { return calendar.ParseDate(s) }

// dice is a stream of numbers that follows from what it was thrown for.
type dice struct{ state uint64 }

func throw(parts ...string) *dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(parts, "\x1f"))) // a hash never fails to write
	return &dice{h.Sum64()}
}

// next returns a number from 0 to n-1 (SplitMix64, Steele, Lea and Flood 2014).
func (d *dice) next(n int) int {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// between returns a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.next(high-low+1) }

// roundCents rounds a price in cents to whole euros, which is how the offers are priced.
func roundCents(cents float64) int64 { return int64(cents/100+0.5) * 100 }

func digits(n int) string { return strconv.Itoa(n) }
