package sentence

import (
	"slices"
	"time"
)

// What may be wrong with a day that was named; %s is how it was written.
const (
	noSuchDay = "the calendar has no “%s”; which day is it?"
	notClear  = "“%s” may be read day first or month first; please write the month as a word."
)

// exists reports whether some year, or its own, has the day.
func exists(s spec) bool {
	switch s.form {
	case full:
		return Date{Year: s.year, Month: s.month, Day: s.day}.Valid()
	case monthDay:
		return Date{Year: 2024, Month: s.month, Day: s.day}.Valid() // a leap year
	case dayOnly:
		return s.day >= 1 && s.day <= 31
	}
	return true
}

// date reads one day at token i. trouble says why it is no day, although it was meant as one.
func (p *parser) date(i int) (s spec, tokens int, trouble string) {
	s, tokens, trouble = p.numeric(i)
	if tokens == 0 {
		s, tokens = p.monthDate(i)
	}
	if tokens == 0 {
		s, tokens, trouble = p.weekdayDate(i)
	}
	if tokens == 0 {
		s, tokens = p.relative(i)
	}
	if tokens == 0 {
		s, tokens = p.ordinalDay(i)
	}
	if tokens > 0 && trouble == "" && !exists(s) {
		trouble = noSuchDay
	}
	return s, tokens, trouble
}

// numeric reads 2026-03-12, 12.3.2026, 12.3. and 13/3.
func (p *parser) numeric(i int) (spec, int, string) {
	a, b := p.at(i), p.at(i+2)
	if a.kind != numeral || b.kind != numeral || !p.glued(i+1, "-./") || p.negative(i) {
		return spec{}, 0, ""
	}
	sep := p.m(i + 1)
	x, y := digitsValue(a.text), digitsValue(b.text)
	third := p.glued(i+3, sep) && p.at(i+4).kind == numeral
	if len(a.text) == 4 {
		if !third || len(b.text) > 2 || len(p.at(i+4).text) > 2 {
			return spec{}, 0, ""
		}
		return spec{form: full, year: x, month: time.Month(y), day: digitsValue(p.at(i + 4).text)}, 5, ""
	}
	if len(a.text) > 2 || len(b.text) > 2 {
		return spec{}, 0, ""
	}
	n, year := 3, 0
	switch {
	case third && (len(p.at(i+4).text) == 4 || len(p.at(i+4).text) == 2):
		n, year = 5, digitsValue(p.at(i+4).text)
		if len(p.at(i+4).text) == 2 {
			year += 2000
		}
	case sep == "." && p.m(i+3) == "." && !p.at(i+3).gap:
		n = 4
		if v, m := p.year(i + 4); m > 0 {
			n, year = 4+m, v
		}
	case sep == "-":
		return spec{}, 0, "" // 12-16 is a range
	case sep == "." && (y > 12 || x > 31 || y == 0):
		return spec{}, 0, "" // a number with a fraction
	}
	if p.unit(i+n) || p.w(i+n) == "k" && !p.at(i+n).gap {
		return spec{}, 0, ""
	}
	day, month, trouble := x, y, ""
	if sep != "." {
		switch {
		case x <= 12 && y <= 12 && x != y && x > 0 && y > 0:
			trouble = notClear
		case y > 12 && x <= 12:
			day, month = y, x
		}
	}
	s := spec{form: monthDay, month: time.Month(month), day: day}
	if year > 0 {
		s.form, s.year = full, year
	}
	return s, n, trouble
}

// monthDate reads "12th of March 2027" and "March 12, 2027".
func (p *parser) monthDate(i int) (spec, int) {
	if m := p.month(i); m > 0 {
		j := i + 1
		if p.m(j) == "." || p.m(j) == "-" && !p.at(j).gap {
			j++
		}
		if p.w(j) == "the" {
			j++
		}
		d, n := p.dayNumber(j)
		if n == 0 || p.unit(j+n) || p.negative(j) || p.isMoney(j) {
			return spec{}, 0
		}
		return p.withYear(i, j+n, spec{form: monthDay, month: m, day: d})
	}
	d, n := p.dayNumber(i)
	if n == 0 {
		return spec{}, 0
	}
	j := i + n
	dotted := p.m(j) == "." && !p.at(j).gap
	if p.w(j) == "of" || p.glued(j, "-/.") || dotted {
		j++
	}
	m := p.month(j)
	if m == 0 || dotted && p.dayFollows(j+1) || p.w(j) == "may" && p.w(j+1) == "i" {
		return spec{}, 0
	}
	return p.withYear(i, j+1, spec{form: monthDay, month: m, day: d})
}

// dayFollows reports whether the day of a month stands at token i: in "for 2. March 12" the 2 is no day.
func (p *parser) dayFollows(i int) bool {
	v, n := p.dayNumber(i)
	return n > 0 && v >= 1 && v <= 31 && !p.unit(i+n)
}

// isMoney reports whether the number at token j is an amount in some currency and not a day.
func (p *parser) isMoney(j int) bool {
	_, _, n := p.currency(j + 1)
	return n > 0 && p.at(j).kind == numeral && p.w(j+1) != "in"
}

func (p *parser) withYear(i, j int, s spec) (spec, int) {
	if y, n := p.year(j); n > 0 {
		s.form, s.year = full, y
		return s, j + n - i
	}
	return s, j - i
}

// dayNumber reads "12", "12th", "twelve" or "twelfth", up to 99 so that an impossible day is seen as one.
func (p *parser) dayNumber(i int) (day, tokens int) {
	if v, n := p.ordinalWord(i); n > 0 {
		return v, n
	}
	number := p.integer(i)
	if number.tokens == 0 || number.value > 99 {
		return 0, 0
	}
	if number.digits && p.ordinalSuffix(i+1) {
		return number.value, 2
	}
	return number.value, number.tokens
}

// year reads a year at token i, with a comma, dash or slash before it.
func (p *parser) year(i int) (year, tokens int) {
	j := i
	if m := p.m(j); m == "," || m == "/" || m == "-" || m == "." && !p.at(j+1).gap {
		j++
	}
	t := p.at(j)
	v := digitsValue(t.text)
	far := j == i && (v < 100 || v > 2199) // "20 March 9999", which then is refused
	if t.kind != numeral || len(t.text) != 4 || !far && (v < 1900 || v > 2199) || p.unit(j+1) || p.glued(j+1, "-") {
		return 0, 0
	}
	if _, _, n := p.currency(j + 1); n > 0 || p.w(j+1) == "max" || p.w(j+1) == "budget" {
		return 0, 0
	}
	return v, j + 1 - i
}

// weekdayDate reads "Friday", "next Friday", "Friday next week" and "Friday 13 March".
func (p *parser) weekdayDate(i int) (spec, int, string) {
	j, today := i, false
	if n := p.phrase(j, "next week on", "next week's", "next week", "this week on", "this week's", "this week"); n > 0 && p.weekday(j+n) >= 0 {
		w := p.weekday(j + n)
		if p.w(j) == "this" {
			return spec{form: dayOfWeek, weekday: time.Weekday(w), today: true}, n + 1, ""
		}
		return p.nextWeek(w), n + 1, ""
	}
	if n := p.phrase(j, "this coming", "this", "next", "coming"); n > 0 {
		today = p.w(j) == "this"
		j += n
	}
	w := p.weekday(j)
	if w < 0 {
		return spec{}, 0, ""
	}
	s := spec{form: dayOfWeek, weekday: time.Weekday(w), today: today}
	k := j + 1
	if n := p.phrase(k, "next week", "of next week", "in the next week"); n > 0 {
		return p.nextWeek(w), k + n - i, ""
	}
	if n := p.phrase(k, "after next", "week"); n > 0 && j == i {
		s.days = 7
		return s, k + n - i, ""
	}
	if p.m(k) == "," {
		k++
	}
	if p.w(k) == "the" {
		k++
	}
	exact, n, trouble := p.numeric(k)
	if n == 0 {
		exact, n = p.monthDate(k)
	}
	if n == 0 {
		exact, n = p.ordinalDay(k)
	}
	if n == 0 {
		return s, j + 1 - i, ""
	}
	exact.weekday, exact.check = time.Weekday(w), true
	return exact, k + n - i, trouble
}

// nextWeek returns a weekday of the week that begins next Monday.
func (p *parser) nextWeek(weekday int) spec {
	monday := (8 - int(p.today.Weekday())) % 7
	if monday == 0 {
		monday = 7
	}
	return spec{form: offset, days: monday + (weekday+6)%7}
}

// relative reads "today", "the day after tomorrow", "in 3 days", "two weeks from now".
func (p *parser) relative(i int) (spec, int) {
	for _, r := range []struct {
		phrase string
		days   int
	}{
		{"the day after tomorrow", 2}, {"day after tomorrow", 2}, {"overmorrow", 2}, {"tomorrow week", 8}, {"today week", 7}, {"tomorrow", 1}, {"tmrw", 1},
		{"tomorow", 1}, {"tommorow", 1}, {"tommorrow", 1}, {"today", 0}, {"tonight", 0}, {"yesterday", -1},
		{"the day before yesterday", -2}, {"right now", 0},
	} {
		if n := p.phrase(i, r.phrase); n > 0 {
			return spec{form: offset, days: r.days}, n
		}
	}
	j := i
	in := p.w(i) == "in"
	if in {
		j++
	}
	count, n := 1, p.phrase(j, "a", "an")
	if n == 0 {
		number := p.integer(j)
		count, n = number.value, number.tokens
		if m := p.phrase(j, "a couple of"); m > 0 {
			count, n = 2, m
		}
	}
	unit := p.w(j + n)
	if n == 0 || !slices.Contains([]string{"day", "days", "week", "weeks", "fortnight", "fortnights"}, unit) {
		return spec{}, 0
	}
	after := j + n + 1
	days := min(count, 100_000) * p.span(j+n)
	if in {
		if m := p.phrase(after, "from now", "time", "' time"); m > 0 {
			after += m
		}
		return spec{form: offset, days: days}, after - i
	}
	if m := p.phrase(after, "from now", "from today"); m > 0 {
		return spec{form: offset, days: days}, after + m - i
	}
	if m := p.phrase(after, "from tomorrow"); m > 0 {
		return spec{form: offset, days: days + 1}, after + m - i
	}
	if m := p.phrase(after, "ago"); m > 0 {
		return spec{form: offset, days: -days}, after + m - i
	}
	return spec{}, 0
}

// ordinalDay reads "the 12th" where no other thing is counted: "the 12th floor" is no day.
func (p *parser) ordinalDay(i int) (spec, int) {
	t := p.at(i)
	if t.kind != numeral || len(t.text) > 2 || !p.ordinalSuffix(i+1) {
		return spec{}, 0
	}
	switch p.w(i - 1) {
	case "the", "on", "from", "until", "till", "to", "by", "and", "returning", "back", "leaving", "departing", "":
	default:
		return spec{}, 0
	}
	switch next := p.w(i + 2); next {
	case "", "to", "for", "until", "till", "through", "with", "and", "from", "at", "in", "returning", "back", "leaving", "please",
		"return", "or", "under", "max", "budget", "alone", "solo", "one", "two", "three", "four", "a", "we", "i":
		return spec{form: dayOnly, day: digitsValue(t.text)}, 2
	}
	return spec{}, 0
}

// month returns the month named at token i, 0 for none.
func (p *parser) month(i int) time.Month {
	w := p.w(i)
	if len(w) < 3 {
		return 0
	}
	if w == "sept" {
		return time.September
	}
	for n, name := range [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december"} {
		m := time.Month(n + 1)
		if w == name || w == name[:3] && (p.dayNear(i) || p.at(i).capital() && !p.shout) {
			return m
		}
	}
	return 0
}

// dayNear reports whether a number stands beside a short month: "12 mar", "mar 12".
func (p *parser) dayNear(i int) bool {
	if p.at(i-1).kind == numeral || p.at(i+1).kind == numeral || p.m(i+1) == "." && p.at(i+2).kind == numeral {
		return true
	}
	return p.ordinalSuffix(i-1) || p.w(i-1) == "of" || p.glued(i-1, "-/.") && p.at(i-2).kind == numeral
}

// weekday returns the weekday named at token i, -1 for none. The short names "sun", "sat", "wed" and the like are
// words, too, and need a word or a capital that says they are days.
func (p *parser) weekday(i int) int {
	w := p.w(i)
	if len(w) < 3 {
		return -1
	}
	for d, name := range [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"} {
		if w == name {
			return d
		}
		if !slices.Contains([]string{name[:3], "tues", "thur", "thurs", "weds"}, w) || w[:3] != name[:3] {
			continue
		}
		switch p.w(i - 1) {
		case "on", "next", "this", "coming", "until", "till", "by", "from", "to", "back", "returning", "leaving", "departing":
			return d
		}
		next := p.at(i + 1)
		if p.at(i).capital() && !p.shout && i > 0 || next.kind == numeral || p.m(i+1) == "," && p.at(i+2).kind == numeral ||
			p.m(i-1) == "-" && i > 1 {
			return d
		}
	}
	return -1
}
