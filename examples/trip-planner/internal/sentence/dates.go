package sentence

import (
	"slices"
	"time"
)

type form int

const (
	full      form = iota // year, month and day
	monthDay              // the next such day
	dayOnly               // "the 12th"
	dayOfWeek             // the next such weekday
	offset                // days from today
)

// spec is a day as it was named; which day of which year it is shows later.
type spec struct {
	form    form
	year    int
	month   time.Month
	day     int
	weekday time.Weekday
	today   bool // dayOfWeek: today counts too
	days    int  // offset; dayOfWeek: days to add
	check   bool // full, monthDay, dayOnly: must fall on weekday
}

// day is one day that the sentence named.
type day struct {
	spec  spec
	back  bool // the day of return
	loose bool // called the return only by the word "return"
	text  string
}

// dates understands one day, a range of days, a month, or a time that is no day.
func (p *parser) dates(i int) int {
	if n := p.dayRange(i); n > 0 {
		if from, to := p.hedged(i, i+n); from < i || to > i+n {
			p.draft.ask(When, "“%s” is not certain; which days are they?", clip(p.raw(from, to)))
			return to - i
		}
		return n
	}
	if s, n, trouble := p.date(i); n > 0 {
		if from, to := p.hedged(i, i+n); trouble == "" && (from < i || to > i+n) {
			return p.doubtDay(from, to) - (i - from)
		}
		p.addDay(i, n, s, p.isReturn(i), trouble)
		return n
	}
	if n := p.phrase(i, "next week", "this week", "next month", "this month", "next year", "this year", "in a month", "in a year",
		"this summer", "next summer", "this winter", "next winter", "this spring", "this autumn"); n > 0 {
		p.draft.vague = p.raw(i, i+n)
		return n
	}
	if n := p.integer(i + 1); p.w(i) == "in" && n.tokens > 0 {
		switch p.w(i + 1 + n.tokens) {
		case "month", "months", "year", "years":
			p.draft.vague = p.raw(i, i+2+n.tokens)
			return 2 + n.tokens
		}
	}
	if m := p.month(i); m > 0 && p.monthAlone(i) {
		p.draft.months = append(p.draft.months, m)
		p.role = none
		return 1
	}
	return 0
}

// monthAlone reports whether a month's name without a day is a month: "may" and "march" are verbs, too.
func (p *parser) monthAlone(i int) bool {
	switch p.w(i - 1) {
	case "in", "of", "early", "late", "mid", "during", "this", "next", "around", "sometime":
		return true
	}
	if p.m(i-1) == "-" && p.w(i-2) == "mid" {
		return true
	}
	w := p.w(i)
	return len(w) > 3 && w != "march" && w != "may" || len(p.tokens) == 1
}

func (p *parser) addDay(i, n int, s spec, back bool, trouble string) {
	p.role, p.lastDay = none, i+n
	loose := p.back && p.w(i-1) != "until" && p.looselyBack(i)
	p.back = false
	text := p.raw(i, i+n)
	if trouble != "" {
		about := When
		if back {
			about = Nights
		}
		p.draft.ask(about, trouble, text)
		return
	}
	p.draft.days = append(p.draft.days, day{spec: s, back: back, loose: loose, text: text})
}

// looselyBack reports whether the word of coming back before token i was a bare "return".
func (p *parser) looselyBack(i int) bool {
	for j := i - 1; j >= max(0, i-6); j-- {
		switch p.w(j) {
		case "returning", "back", "home", "until", "till":
			return false
		case "return":
			return true
		}
	}
	return false
}

// isReturn reports whether the day at token i is the day of return.
func (p *parser) isReturn(i int) bool {
	j := i - 1
	for p.w(j) == "the" || p.w(j) == "on" {
		j--
	}
	switch p.w(j) {
	case "until", "till", "til", "through", "thru", "ending":
		return true
	case "to":
		return len(p.draft.days) > 0
	}
	if p.m(j) == "-" && p.lastDay == j {
		return true
	}
	return p.back || p.about == Nights
}

// dayRange understands "12–16 March", "March 12-16", "from 12 March until Friday".
func (p *parser) dayRange(i int) int {
	if n := p.monthRange(i); n > 0 {
		return n
	}
	a, n, trouble := p.date(i)
	if n == 0 {
		a, n = p.bareDay(i)
		if n == 0 {
			return 0
		}
		j := p.until(i, i+n)
		if j == 0 {
			return 0
		}
		b, m, bad := p.date(j)
		if m == 0 || b.form != full && b.form != monthDay || b.check {
			return 0
		}
		a = spec{form: b.form, year: b.year, month: b.month, day: a.day}
		if bad == "" && a.day > b.day {
			p.role, p.back, p.lastDay = none, false, j+m
			p.draft.ask(When, "“%s” ends before it begins; which days are meant?", p.raw(i, j+m))
			return j + m - i
		}
		p.pair(i, n, a, "", j, m, b, bad)
		return j + m - i
	}
	j := p.until(i, i+n)
	if j == 0 {
		return 0
	}
	b, m, bad := p.date(j)
	if m == 0 {
		return 0
	}
	if a.form == monthDay && b.form == full && trouble == "" && bad == "" {
		a.form, a.year = full, b.year
		if b.month < a.month || b.month == a.month && b.day < a.day {
			a.year--
		}
	}
	if a.form == dayOnly && b.form <= monthDay && a.day <= b.day { // "the 12th to 16th of March"
		a = spec{form: b.form, year: b.year, month: b.month, day: a.day}
	}
	p.pair(i, n, a, trouble, j, m, b, bad)
	return j + m - i
}

// pair records both ends of a range.
func (p *parser) pair(i, n int, a spec, trouble string, j, m int, b spec, bad string) {
	p.back = false
	if trouble == "" && !exists(a) {
		trouble = noSuchDay
	}
	p.addDay(i, n, a, false, trouble)
	if trouble == "" || bad == "" {
		p.addDay(j, m, b, true, bad)
	}
	p.lastDay = j + m
}

// monthRange understands "March 12-16" and "March 12 to the 16th, 2027".
func (p *parser) monthRange(i int) int {
	m := p.month(i)
	if m == 0 {
		return 0
	}
	j := i + 1
	if p.m(j) == "." {
		j++
	}
	if p.w(j) == "the" {
		j++
	}
	a, n := p.bareDay(j)
	if n == 0 {
		return 0
	}
	k := p.until(i, j+n)
	if k == 0 {
		return 0
	}
	b, l := p.bareDay(k)
	after := k + l
	if l == 0 || p.month(after) > 0 || p.w(after) == "of" || p.unit(after) {
		return 0
	}
	if other, x, _ := p.date(k); x > 0 && other.form != dayOnly {
		return 0
	}
	a.form, a.month, b.form, b.month = monthDay, m, monthDay, m
	year, y := p.year(after)
	if y > 0 {
		a.form, a.year, b.form, b.year = full, year, full, year
	}
	trouble := ""
	if !exists(a) || !exists(b) {
		trouble = noSuchDay
	}
	if trouble == "" && b.day < a.day {
		trouble = "“%s” ends before it begins; which days are meant?"
	}
	if trouble != "" {
		p.addDay(i, after+y-i, a, false, trouble)
		return after + y - i
	}
	p.pair(i, j+n-i, a, "", k, l+y, b, "")
	return after + y - i
}

// until returns where the second day of a range begins, after the word or dash at token j.
func (p *parser) until(i, j int) int {
	switch p.w(j) {
	case "to", "until", "till", "til", "through", "thru":
	case "and":
		if p.w(i-1) != "between" && !(p.w(i-1) == "the" && p.w(i-2) == "between") {
			return 0
		}
	default:
		if p.m(j) != "-" && p.m(j) != ">" {
			return 0
		}
		if p.m(j+1) == ">" || p.m(j+1) == "-" {
			j++
		}
	}
	j++
	for slices.Contains([]string{"the", "on", "returning", "back"}, p.w(j)) {
		j++
	}
	return j
}

// bareDay reads the day of a month without the month: "12", "12th", "12.", "twelfth".
func (p *parser) bareDay(i int) (spec, int) {
	if v, n := p.ordinalWord(i); n > 0 {
		return spec{day: v}, n
	}
	number := p.integer(i)
	if number.tokens == 0 || number.value > 31 || p.at(i).kind == word && number.value > 20 && number.tokens == 1 && number.value != 30 {
		return spec{}, 0
	}
	n := number.tokens
	if number.digits && p.ordinalSuffix(i+1) {
		n++
	} else if number.digits && p.m(i+1) == "." && !p.at(i+1).gap && p.m(i+2) == "-" {
		n++
	}
	return spec{day: number.value}, n
}

// ordinalSuffix reports whether st, nd, rd or th is glued to the number before token i.
func (p *parser) ordinalSuffix(i int) bool {
	t := p.at(i)
	return t.kind == word && !t.gap && slices.Contains([]string{"st", "nd", "rd", "th"}, t.norm)
}
