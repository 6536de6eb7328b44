package calendar_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
)

func ExampleParseDate() {
	d, err := calendar.ParseDate("2026-03-12")
	fmt.Println(d, d.Long(), d.Weekday(), d.AddDays(20), err)
	_, err = calendar.ParseDate("2026-02-30")
	fmt.Println(err)
	// Output:
	// 2026-03-12 12 March 2026 Thursday 2026-04-01 <nil>
	// date "2026-02-30": want a day of the calendar written as in 2026-03-12
}

func TestDaysAddedAreDaysCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := calendar.Of(time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "seconds"), 0).UTC())
		n := rapid.IntRange(-5000, 5000).Draw(t, "days")
		e := d.AddDays(n)
		if d.Until(e) != n || d.Before(e) != (n > 0) || !e.Valid() {
			t.Fatalf("%s + %d = %s, %d days later", d, n, e, d.Until(e))
		}
		if back, err := calendar.ParseDate(e.String()); err != nil || back != e {
			t.Fatalf("%s is read as %v, %v", e, back, err)
		}
	})
}

func TestAnImpossibleDayIsNotValid(t *testing.T) {
	for _, d := range []calendar.Date{{}, {Year: 2026, Month: 2, Day: 29}, {Year: 2026, Month: 13, Day: 1}, {Year: 2026, Month: 4, Day: 31},
		{Year: 2026, Month: 4}} {
		if d.Valid() {
			t.Errorf("%v is valid", d)
		}
	}
	if !(calendar.Date{}).IsZero() || (calendar.Date{Year: 1}).IsZero() {
		t.Error("only the zero date is zero")
	}
}
