// Package calendar has the date of a trip: a day on the calendar, without a time or a zone.
package calendar

import (
	"fmt"
	"time"
)

// Date is one day of the Gregorian calendar. Dates compare with ==. The zero value is no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Of returns the day that a moment falls on in its own location.
func Of(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// ParseDate reads a date written as in "2026-03-12". The error says what was written instead.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fmt.Errorf("date %q: want a day of the calendar written as in 2026-03-12", s)
	}
	return Of(t), nil
}

// String returns the date as ISO 8601 writes it: "2026-03-12".
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day) }

// Long returns the date as a person writes it: "12 March 2026".
func (d Date) Long() string { return fmt.Sprintf("%d %s %d", d.Day, d.Month, d.Year) }

// IsZero reports whether there is no date.
func (d Date) IsZero() bool { return d == Date{} }

// Valid reports whether the calendar has this day.
func (d Date) Valid() bool { return d.Month >= 1 && d.Month <= 12 && Of(d.In(time.UTC)) == d }

// AddDays returns the date n days later, or earlier for a negative n.
func (d Date) AddDays(n int) Date {
	return Of(time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC))
}

// Until returns the number of days from d to e, negative if e comes first.
func (d Date) Until(e Date) int {
	const day = 24 * 60 * 60
	return int((e.In(time.UTC).Unix() - d.In(time.UTC).Unix()) / day)
}

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.In(time.UTC).Weekday() }

// Before reports whether d comes before e.
func (d Date) Before(e Date) bool { return d.Until(e) > 0 }

// In returns the start of the day in a zone.
func (d Date) In(zone *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, zone)
}
