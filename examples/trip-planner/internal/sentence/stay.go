package sentence

import (
	"slices"
	"strings"
)

// stay understands how long the trip is: "for 4 nights", "a week", "3-night", "overnight", "a weekend".
func (p *parser) stay(i int) int {
	d := p.draft
	switch p.w(i) {
	case "overnight":
		d.addStay(stay{n: 1, text: "overnight"})
		return 1
	case "weekend", "weekender":
		d.weekend = true
		return 1
	case "fortnight":
		d.addStay(stay{n: 14, text: "a fortnight"})
		return 1
	}
	if n := p.phrase(i, "week - long", "weeklong"); n > 0 {
		d.addStay(stay{n: 7, text: p.raw(i, i+n)})
		return n
	}
	if n := p.phrase(i, "a few", "few", "several", "some", "a couple of", "couple of"); n > 0 && p.span(i+n) > 0 {
		if p.phrase(i, "a couple of", "couple of") > 0 {
			return p.length(i, 2, i+n)
		}
		d.ask(Nights, "how many is “%s”?", p.raw(i, i+n+1))
		return n + 1
	}
	if n := p.phrase(i, "a", "an", "one whole", "the whole", "a whole", "a full", "whole"); n > 0 {
		return p.article(i, n)
	}
	number := p.integer(i)
	if number.tokens == 0 {
		if n := p.phrase(i, "no nights", "no night"); n > 0 {
			d.ask(Nights, "is it a day trip or one way?")
			return n
		}
		return 0
	}
	j := i + number.tokens
	if k := p.alternative(j); k > 0 {
		if high := p.integer(k); high.tokens > 0 && p.span(p.hyphen(k+high.tokens)) > 0 {
			j = p.hyphen(k+high.tokens) + 1
			d.ask(Nights, "“%s” can be several lengths; which one?", p.raw(i, j))
			return j - i
		}
	}
	if p.glued(j, ".,") && p.at(j+1).kind == numeral && p.span(p.hyphen(j+2)) > 0 {
		j = p.hyphen(j+2) + 1
		d.ask(Nights, "how many whole nights are “%s”?", p.raw(i, j))
		return j - i
	}
	j = p.hyphen(j)
	for slices.Contains([]string{"full", "whole", "short", "lovely", "nice", "wonderful", "relaxing"}, p.w(j)) {
		j++
	}
	if p.span(j) == 0 {
		return 0
	}
	return p.length(i, number.value, j)
}

// article reads "a week", "a night"; a lone "a day" means nothing.
func (p *parser) article(i, n int) int {
	unit := p.w(i + n)
	if p.w(i-1) == "once" || p.w(i-1) == "twice" || p.w(i-1) == "times" || p.span(i+n) == 0 {
		return 0
	}
	if unit == "day" && p.w(i-1) != "for" {
		return 0
	}
	return p.length(i, 1, i+n)
}

// span returns how many nights the unit of time at token i has, 0 if it is none, and one for a month or year, which
// have no fixed number.
func (p *parser) span(i int) int {
	switch p.w(i) {
	case "night", "nights", "nite", "nites", "nts", "nt", "overnights", "day", "days", "month", "months", "year", "years":
		return 1
	case "week", "weeks", "wk", "wks":
		return 7
	case "fortnight", "fortnights":
		return 14
	}
	return 0
}

// length records the length whose number began at i and whose unit is at j.
func (p *parser) length(i, n, j int) int {
	d := p.draft
	text := p.raw(i, j+1)
	if from, to := p.inexact(i, j+1); from < i || to > j+1 {
		d.ask(Nights, "how many nights are “%s”?", clip(p.raw(from, to)))
		return to - i
	}
	if p.phrase(j+1, "ago", "before", "in advance", "ahead", "old") > 0 {
		return j + 1 - i
	}
	if p.negative(i) {
		d.ask(Nights, "a stay of -%s cannot be; how many nights?", text)
		return j + 1 - i
	}
	if k := p.phrase(j+1, "and a half", "and half"); k > 0 {
		d.ask(Nights, "how many whole nights are “%s”?", p.raw(i, j+1+k))
		return j + 1 + k - i
	}
	switch unit := p.w(j); unit {
	case "month", "months", "year", "years":
		d.ask(Nights, "how many nights is “%s”? I plan up to %d.", text, MostNights)
	case "day", "days":
		if n == 1 {
			d.ask(Nights, "is “%s” a day trip, or one night?", text)
			break
		}
		d.addStay(stay{n: n, days: true, text: text})
	default:
		if n == 0 {
			d.ask(Nights, "with no night, is it a day trip or one way?")
			break
		}
		d.addStay(stay{n: min(n, hugeNumber/100) * p.span(j), text: text})
	}
	return j + 1 - i
}

// inexact returns how far words reach that make the length at tokens i to j-1 inexact: "about 3 nights", "a night or two".
func (p *parser) inexact(i, j int) (from, to int) {
	from, to = i, j
	for _, ph := range []string{"no more than", "not more than", "no less than", "not less than", "more than", "less than", "fewer than",
		"at least", "at most", "up to", "not for", "minimum of", "maximum of", "twice", "up to a", "as many as"} {
		if k := i - len(strings.Fields(ph)); k >= 0 && p.phrase(k, ph) > 0 {
			return k, to
		}
	}
	switch p.at(i - 1).norm {
	case "about", "around", "roughly", "approximately", "approx", "circa", "ca", "nearly", "almost", "over", "under", "minimum", "maximum",
		"max", "min", "not", "within", "~", "±", "between", "upto", "below", "above", "half", ">", "<", "≤", "≥", "another", "extra":
		if p.m(i-1) != ">" || !p.at(i).gap {
			from = i - 1
		}
	}
	if n := p.phrase(j, "or so", "or more", "or less", "or longer", "or fewer", "or thereabouts", "- ish", "ish", "give or take", "at least",
		"at most", "minimum", "min", "tops", "± 1", "± 2", "+ / -", "less", "minus", "and a bit", "or maybe", "or perhaps", "and change"); n > 0 {
		if _, m := p.money(p.skip(j+n, budgetFillers())); m > 0 && p.w(j) != "or" {
			return from, to // "2 nights at most €1,200"
		}
		if end := p.integer(j + n); p.w(j) == "minus" || p.w(j) == "less" {
			n += end.tokens
		}
		return from, j + n
	}
	if n := p.phrase(j, "or", "plus", "+", "and"); n > 0 {
		more := p.integer(j + n)
		k := j + n + more.tokens
		switch {
		case more.tokens == 0:
		case p.phrase(k, "more", "extra") > 0 && p.noun(k+1) == 0:
			return from, k + 1
		case p.w(j) == "or" && p.span(k) == 0, p.w(j) != "and" && p.w(j) != "or" && p.noun(k) == 0 && p.ends(k) && !p.unit(k):
			return from, k
		}
	}
	if p.phrase(j, "max", "maximum") > 0 {
		if _, n := p.money(p.skip(j+1, budgetFillers())); n == 0 {
			return from, j + 1
		}
	}
	return from, to
}

// hyphen passes over a hyphen.
func (p *parser) hyphen(i int) int {
	if p.m(i) == "-" {
		return i + 1
	}
	return i
}

// alternative returns where the second number of "3-4", "3 to 4" or "3 or 4" begins.
func (p *parser) alternative(i int) int {
	if p.m(i) == "-" || p.m(i) == "/" || p.w(i) == "to" || p.w(i) == "or" {
		return i + 1
	}
	return 0
}

// journey understands "one way", "day trip" and the words of coming back.
func (p *parser) journey(i int) int {
	d := p.draft
	if n := p.phrase(i, "one way", "one - way", "oneway", "single ticket", "no return", "without return", "not returning",
		"not coming back", "no way back", "single trip"); n > 0 {
		d.oneWay = true
		return n
	}
	if n := p.phrase(i, "day trip", "day - trip", "daytrip", "same day", "same - day", "for the day", "day return"); n > 0 {
		d.dayTrip = true
		p.back = false
		return n
	}
	if n := p.phrase(i, "round trip", "round - trip", "roundtrip", "return trip", "return ticket", "return tickets",
		"return fare", "return journey", "return flights", "back to back", "and back", "and return"); n > 0 {
		d.wayBack = true
		if n == 2 && p.w(i) == "and" && p.returnsLater(i+2) {
			p.back = true
		}
		return n
	}
	if n := p.phrase(i, "return flight"); n > 0 {
		p.back, d.wayBack = len(d.days) > 0, true
		return n
	}
	if n := p.phrase(i, "returning", "return", "returns", "back", "coming home", "come home", "fly home", "flying home", "home on",
		"home by", "be home", "get home", "going home", "go home"); n > 0 {
		p.back, p.role, d.wayBack = true, none, true
		if p.w(i) == "return" && len(d.days) == 0 && p.lastPlaceOrStart(i) {
			p.back = p.dateAhead(i + 1)
		}
		return n
	}
	if n := p.phrase(i, "outbound", "depart", "departing", "departure", "leaving", "leave", "going", "out"); n > 0 {
		p.back = false
	}
	return 0
}

// returnsLater reports whether a day, or a place to come back to, follows "and back".
func (p *parser) returnsLater(i int) bool {
	return p.dateAhead(i) || p.w(i) == "to" || p.w(i) == "from" || p.w(i) == "home" || p.w(i) == "in"
}

func (p *parser) dateAhead(i int) bool {
	for _, w := range []string{"on", "the", "by"} {
		if p.w(i) == w {
			i++
		}
	}
	_, n, _ := p.date(i)
	return n > 0
}

// lastPlaceOrStart reports whether "return" at i may begin the sentence's main part: "Return Helsinki-Lisbon".
func (p *parser) lastPlaceOrStart(i int) bool {
	return i == 0 || p.w(i-1) == "a" || len(p.draft.places) == 0
}
