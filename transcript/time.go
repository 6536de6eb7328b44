package transcript

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is a moment in a trace, which knows milliseconds and no time zone.
type Time struct{ time.Time }

// At returns t as a trace holds it: in UTC, and cut to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes a date-time with milliseconds, in UTC. A year of more than four digits is an error.
func (t Time) MarshalJSON() ([]byte, error) {
	u := t.UTC()
	if u.Year() < 0 || u.Year() > 9999 {
		return nil, fmt.Errorf("time in a trace: want a year from 0 to 9999, got %d", u.Year())
	}
	return json.Marshal(u.Format(timeLayout))
}

// UnmarshalJSON reads every date that [Validate] accepts.
func (t *Time) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("time in a trace: %w", err)
	}
	u, ok := parseDate(s)
	if !ok {
		return fmt.Errorf("time in a trace: want a date-time, got %.40q", s)
	}
	*t = Time{u}
	return nil
}

// maxTime is the last millisecond that a date can name, as far after 1970 as the first is before it
// (ECMA-262 section 21.4.1.1).
const maxTime = 8_640_000_000_000_000

// parseDate reads the date-time string format of ECMA-262 (section 21.4.1.32) in the width that RFC 3339 needs: any
// number of fractional digits, of which three count, and t and z in either case. Without an offset it is UTC. Days up
// to 31 exist in every month and run over into the next, as they do in that format.
func parseDate(s string) (time.Time, bool) {
	d := dateText(s)
	year, ok := d.year()
	if !ok {
		return time.Time{}, false
	}
	month, day := 1, 1
	if d.take("-") {
		if month, ok = d.number(2, 1, 12); !ok {
			return time.Time{}, false
		}
		if d.take("-") {
			if day, ok = d.number(2, 1, 31); !ok {
				return time.Time{}, false
			}
		}
	}
	var clock time.Duration // since midnight in UTC
	if d.take("Tt") {
		if clock, ok = d.clock(); !ok {
			return time.Time{}, false
		}
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Add(clock)
	return t, d == "" && -maxTime <= t.UnixMilli() && t.UnixMilli() <= maxTime
}

// dateText is the rest of a date that is being read.
type dateText string

func (d *dateText) take(any string) bool {
	for _, c := range []byte(any) {
		if *d != "" && (*d)[0] == c {
			*d = (*d)[1:]
			return true
		}
	}
	return false
}

// number reads so many digits, whose value is in a range.
func (d *dateText) number(digits, least, most int) (int, bool) {
	n := 0
	for range digits {
		if *d == "" || (*d)[0] < '0' || (*d)[0] > '9' {
			return 0, false
		}
		n = n*10 + int((*d)[0]-'0')
		*d = (*d)[1:]
	}
	return n, least <= n && n <= most
}

// year reads four digits, or a sign and six; minus zero is no year.
func (d *dateText) year() (int, bool) {
	switch {
	case d.take("+"):
		return d.number(6, 0, 999_999)
	case d.take("-"):
		n, ok := d.number(6, 1, 999_999)
		return -n, ok
	}
	return d.number(4, 0, 9999)
}

// clock reads a time of the day and its offset. 24:00 is the end of the day.
func (d *dateText) clock() (time.Duration, bool) {
	hour, ok := d.number(2, 0, 24)
	if !ok || !d.take(":") {
		return 0, false
	}
	minute, ok := d.number(2, 0, 59)
	if !ok {
		return 0, false
	}
	second, millis := 0, 0
	if d.take(":") {
		if second, ok = d.number(2, 0, 59); !ok {
			return 0, false
		}
		if d.take(".") {
			if millis, ok = d.fraction(); !ok {
				return 0, false
			}
		}
	}
	of := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(millis)*time.Millisecond
	if of > 24*time.Hour {
		return 0, false
	}
	offset, ok := d.offset()
	return of - offset, ok
}

func (d *dateText) fraction() (int, bool) {
	millis, digits := 0, 0
	for {
		n, ok := d.number(1, 0, 9)
		if !ok {
			break
		}
		if digits++; digits <= 3 {
			millis = millis*10 + n
		}
	}
	for i := digits; i < 3; i++ {
		millis *= 10
	}
	return millis, digits > 0
}

func (d *dateText) offset() (time.Duration, bool) {
	sign := time.Duration(1)
	switch {
	case *d == "" || d.take("Zz"):
		return 0, true
	case d.take("-"):
		sign = -1
	case !d.take("+"):
		return 0, false
	}
	hour, ok := d.number(2, 0, 23)
	if !ok || !d.take(":") {
		return 0, false
	}
	minute, ok := d.number(2, 0, 59)
	return sign * (time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute), ok
}
