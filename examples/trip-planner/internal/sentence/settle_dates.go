package sentence

import (
	"fmt"
	"slices"
	"time"
)

// departure returns the day of departure, if it can be known.
func (s *settler) departure() (Date, bool) {
	outs, backs := s.daysOf(false), s.daysOf(true)
	if len(outs) == 0 {
		return s.departureByReturn(backs)
	}
	var out Date
	for i, x := range outs {
		d, ok := s.onCalendar(x, s.today, When)
		if !ok {
			return Date{}, false
		}
		if i > 0 && d != out {
			s.ask(When, "“%s” and “%s” are two days; on which one do you leave?", clip(outs[0].text), clip(x.text))
			return Date{}, false
		}
		out = d
	}
	return s.bookable(out, outs[0].text)
}

// bookable refuses days in the past and beyond the horizon.
func (s *settler) bookable(d Date, text string) (Date, bool) {
	switch {
	case d.Before(s.today):
		s.ask(When, "“%s” is %s, which has passed; which day do you leave?", clip(text), d.Long())
	case s.today.Until(d) > Horizon:
		s.ask(When, "“%s” is %s; flights can be booked up to %s. Which day do you leave?", clip(text), d.Long(),
			s.today.AddDays(Horizon).Long())
	default:
		return d, true
	}
	return Date{}, false
}

// departureByReturn reckons back from the day of return, or asks.
func (s *settler) departureByReturn(backs []day) (Date, bool) {
	switch {
	case len(backs) > 0 && len(s.stays) == 1 && !s.stays[0].days && !backs[0].loose && !s.oneWay:
		if d, ok := s.onCalendar(backs[0], s.today, When); ok {
			return s.bookable(d.AddDays(-s.stays[0].n), s.stays[0].text+" before "+backs[0].text)
		}
	case len(backs) > 0:
		s.ask(When, "You said when to be back (“%s”); which day do you leave?", clip(backs[0].text))
	case s.vague != "":
		s.ask(When, "Which day is it, as “%s” has several?", clip(s.vague))
	case len(s.months) > 0:
		s.ask(When, "Which day in %s do you leave?", s.months[0])
	default:
		s.ask(When, "which day do you leave?")
	}
	return Date{}, false
}

// onCalendar finds the day that was named, the first one that is not before base.
func (s *settler) onCalendar(x day, base Date, about About) (Date, bool) {
	p := x.spec
	if p.form == dayOnly && len(s.months) > 0 {
		p.form, p.month = monthDay, s.months[0]
		if !exists(p) {
			s.ask(about, noSuchDay, x.text)
			return Date{}, false
		}
	}
	d := p.from(base, s.today)
	if p.check && d.Weekday() != p.weekday {
		s.ask(about, "%s is a %s, not a %s; which day is it?", d.Long(), d.Weekday(), p.weekday)
		return Date{}, false
	}
	return d, true
}

// from returns the first such day that is not before base; offsets count from today.
func (p spec) from(base, today Date) Date {
	switch p.form {
	case full:
		return Date{Year: p.year, Month: p.month, Day: p.day}
	case offset:
		return today.AddDays(p.days)
	case dayOfWeek:
		ahead := (int(p.weekday) - int(base.Weekday()) + 7) % 7
		if ahead == 0 && !p.today {
			ahead = 7
		}
		return base.AddDays(ahead + p.days)
	case dayOnly:
		month := Date{Year: base.Year, Month: base.Month, Day: 1}
		for range 4 { // no two months in a row lack a 31st, but January's may have passed
			d := Date{Year: month.Year, Month: month.Month, Day: p.day}
			if d.Valid() && !d.Before(base) {
				return d
			}
			next := month.AddDays(31)
			month = Date{Year: next.Year, Month: next.Month, Day: 1}
		}
	}
	d := Date{Year: base.Year, Month: p.month, Day: p.day}
	for range 9 { // a leap day is at most eight years away
		if d.Valid() && !d.Before(base) {
			break
		}
		d.Year++
	}
	return d
}

// nights returns the length of the stay, 0 on a one-way or day trip.
func (s *settler) nights(out Date, known bool) int {
	n, stayText := s.length()
	back, backText := s.comeback(out, known)
	switch {
	case s.noHotel && !s.oneWay && !s.dayTrip:
		s.ask(Nights, "you said that you need no hotel; I can book the flight there alone (say “one way”), or with a hotel (say how many nights)")
		return 0
	case s.noHotel && s.dayTrip && !s.oneWay && n == 0:
		return 0
	case n < 0 || backText == "" && len(s.daysOf(true)) > 0 && known:
		return 0 // asked already
	case s.oneWay && (n > 0 || backText != "" || s.dayTrip):
		s.ask(Nights, "one way, or coming back after a stay (“%s”)?", clip(stayText+backText))
	case s.oneWay:
		return 0
	case s.dayTrip && n > 0 || s.dayTrip && backText != "" && back != out:
		s.ask(Nights, "back the same day, or after a stay (“%s”)?", clip(stayText+backText))
	case s.dayTrip:
		return 0
	case backText != "" && known:
		return s.between(out, back, backText, n, stayText)
	case n > 0:
		return s.bounded(n, stayText, out, known)
	case s.weekend && known:
		return s.weekendNights(out)
	case len(s.daysOf(true)) == 0:
		s.ask(Nights, "how many nights do you stay, or which day do you come back? You can also say “one way”.")
	}
	return 0
}

// length returns the nights that the lengths of stay agree on, 0 if none was named, -1 if it had to ask.
func (s *settler) length() (int, string) {
	var nights, days *stay
	for i := range s.stays {
		x := &s.stays[i]
		same := &nights
		if x.days {
			same = &days
		}
		if *same != nil && (*same).n != x.n {
			s.ask(Nights, "“%s” and “%s” do not agree; how many nights?", clip((*same).text), clip(x.text))
			return -1, ""
		}
		*same = x
	}
	switch {
	case nights == nil && days == nil:
		return 0, ""
	case nights == nil:
		return days.n, days.text
	case days != nil && days.n != nights.n && days.n != nights.n+1:
		s.ask(Nights, "“%s” and “%s” do not agree; how many nights?", clip(nights.text), clip(days.text))
		return -1, ""
	}
	return nights.n, nights.text
}

// saidInDays reports whether the length of stay was said in days only.
func (s *settler) saidInDays() bool {
	return len(s.stays) > 0 && !slices.ContainsFunc(s.stays, func(x stay) bool { return !x.days })
}

// comeback returns the day of return and how it was named, "" if there is none.
func (s *settler) comeback(out Date, known bool) (Date, string) {
	backs := s.daysOf(true)
	if len(backs) == 0 || !known {
		if len(backs) > 0 {
			return Date{}, backs[0].text
		}
		return Date{}, ""
	}
	var back Date
	for i, x := range backs {
		d, ok := s.onCalendar(x, out, Nights)
		if !ok {
			return Date{}, ""
		}
		if i > 0 && d != back {
			s.ask(Nights, "“%s” and “%s” are two days; on which one do you come back?", clip(backs[0].text), clip(x.text))
			return Date{}, ""
		}
		back = d
	}
	return back, backs[0].text
}

// between returns the nights from departure to return, which must agree with a length that was named too.
func (s *settler) between(out, back Date, backText string, n int, stayText string) int {
	r := out.Until(back)
	switch {
	case r < 0 || r > Horizon:
		s.ask(Nights, "you leave on %s and come back on “%s”, which is before; which day do you come back?", out.Long(), clip(backText))
		return 0
	case n > 0 && r != n && !(s.saidInDays() && r == n-1):
		s.ask(Nights, "“%s” and coming back on %s (%s) do not agree; which is right?", clip(stayText), back.Long(), counted(r, "night"))
		return 0
	}
	return s.bounded(r, fmt.Sprintf("until %s", backText), out, true)
}

// bounded refuses a stay that is too long or ends after the last flight that can be booked.
func (s *settler) bounded(n int, text string, out Date, known bool) int {
	if n > MostNights {
		s.ask(Nights, "I plan up to %d nights; “%s” is more. How many nights?", MostNights, clip(text))
		return 0
	}
	if known && s.today.Until(out.AddDays(n)) > Horizon {
		s.ask(When, "the flight back would be on %s; flights can be booked up to %s. Which day do you leave?",
			out.AddDays(n).Long(), s.today.AddDays(Horizon).Long())
		return 0
	}
	if s.saidInDays() && len(s.daysOf(true)) == 0 {
		s.assume(fmt.Sprintf("stay: %s for “%s”", counted(n, "night"), text))
	}
	return n
}

// weekendNights reads a weekend from the day it begins on.
func (s *settler) weekendNights(out Date) int {
	n := 0
	switch out.Weekday() {
	case time.Friday:
		n = 2
	case time.Saturday:
		n = 1
	default:
		s.ask(Nights, "%s is a %s; how many nights is the weekend?", out.Long(), out.Weekday())
		return 0
	}
	s.assume(fmt.Sprintf("stay: %s, since the weekend begins on a %s", counted(n, "night"), out.Weekday()))
	return s.bounded(n, "the weekend", out, true)
}
