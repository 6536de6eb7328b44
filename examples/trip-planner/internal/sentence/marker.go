package sentence

import (
	"slices"
	"unicode/utf8"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// marker understands the words that say what the next place is.
func (p *parser) marker(i int) int {
	for _, m := range []struct {
		role    role
		phrases []string
	}{
		{origin, []string{"from", "leaving from", "leaving", "departing", "starting", "depart", "departs", "leave", "leaves", "start",
			"starts", "beginning", "begin", "origin", "departure", "out of", "live in", "living in", "based in", "ex", "i'm in", "i am in", "we're in", "we are in", "currently in",
			"located in", "i'm from", "i am from"}},
		{destination, []string{"to", "visit", "visiting", "into", "toward", "towards", "destination", "explore", "exploring", "arriving",
			"arrive", "reach", "reaching", "discover"}},
		{stopover, []string{"via", "stopover in", "stopping in", "layover in", "changing in", "through"}},
	} {
		if n := p.phrase(i, m.phrases...); n > 0 {
			p.mark(m.role, i+n)
			return n
		}
	}
	switch p.w(i) {
	case "in", "at":
		if p.role == none && p.w(i) == "in" {
			p.mark(passing, i+1)
		} else if p.roleAt == i {
			p.roleAt = i + 1
		}
		return 1
	case "for":
		if p.known(i + 1) {
			p.mark(destination, i+1)
		}
		return 1
	case "between":
		p.between = true
		p.mark(origin, i+1)
		return 1
	}
	return 0
}

func (p *parser) mark(r role, next int) { p.role, p.roleAt = r, next }

// stray deals with what no other rule understood: words, numbers and marks.
func (p *parser) stray(i int) int {
	t := p.at(i)
	switch t.kind {
	case numeral:
		return p.strayNumber(i)
	case mark:
		p.strayMoney(i)
		if t.norm == "." || t.norm == "!" || t.norm == "?" || t.norm == ";" || t.norm == "\n" {
			p.role, p.between = none, false
		} else if p.roleAt == i {
			p.roleAt = i + 1 // "to: Lisbon", "from “Oslo”"
		}
		return 1
	}
	if n := p.integer(i); n.tokens > 0 && (p.about != "" || n.value > 1 && !p.unit(i+n.tokens)) {
		a := p.amount(i)
		if a.seen = a.text; !common(p.w(i+n.tokens)) && p.at(i+n.tokens).kind == word {
			a.seen = p.raw(i, i+n.tokens+1)
		}
		p.draft.left = append(p.draft.left, a)
		return a.tokens
	}
	p.strayMoney(i)
	if p.noun(i) >= companionOne && !several(t.norm) {
		return p.doubtParty(i, i+1) // somebody whom nothing counted
	}
	if several(t.norm) && (t.norm != "us" || !t.allCapitals() || p.shout) {
		p.draft.plural = t.text
	}
	if filler(t.norm) {
		if p.roleAt == i && (t.norm == "the" || t.norm == "a") {
			p.roleAt = i + 1
		}
		return 1
	}
	if common(t.norm) || utf8.RuneCountInString(t.text) == 1 {
		if !p.answering() {
			p.role = none
		}
		return 1
	}
	return p.strange(i)
}

// strayMoney asks about a currency without an amount that can be read: "thousand euros".
func (p *parser) strayMoney(i int) {
	t := p.at(i)
	if p.about != "" || p.w(i-1) == "in" || t.norm == "e" || !euro(t.norm) && !p.foreign(i) {
		return
	}
	p.draft.ask(Budget, "I cannot read the amount in “%s”; what is the most that the trip may cost?", clip(p.raw(max(0, i-2), i+1)))
}

// strange deals with a word that is neither common nor a place: a misspelt or an unknown place, if one has to be here.
func (p *parser) strange(i int) int {
	t := p.at(i)
	capital := t.capital() && !p.shout
	between, joint := p.sinceLast(i)
	expected := p.role != none || joint && (between == "arrow" || (between == "and" || between == "or") && capital)
	if p.role == passing && !capital {
		p.role = none
		return 1
	}
	if !expected && !capital {
		if !tripNoun(p.w(i+1)) || utf8.RuneCountInString(t.text) < 6 {
			return 1
		}
	}
	m, n := p.misspelt(i)
	if n > 0 && (expected || p.heads(i, i+n)) &&
		(capital || utf8.RuneCountInString(p.raw(i, i+n)) > 4) {
		p.mention(i, mention{airport: m.Airport, candidates: m.Candidates, typo: true, weak: !capital && !p.answering(),
			text: p.raw(i, i+n), end: i + n})
		return n
	}
	n = p.properName(i)
	text := p.raw(i, i+n)
	if expected && p.role != passing {
		p.mention(i, mention{unknown: true, weak: !capital && !p.answering(), text: text, end: i + n})
		return n
	}
	p.role = none
	if capital && (!p.begins(i) || p.heads(i, i+n)) {
		p.draft.strange = append(p.draft.strange, text)
	}
	return n
}

// heads reports whether what stands at token j shows that tokens i to j-1 are a place: "Lisbonn trip", "Lisbonn from".
func (p *parser) heads(i, j int) bool {
	return tripNoun(p.w(j)) || p.w(j) == "to" || p.arrow(j) > 0 || i == 0 && p.w(j) == "from"
}

// answering reports whether the whole text is the answer to a question about a place.
func (p *parser) answering() bool { return p.about == Origin || p.about == Destination }

// misspelt returns the place that one to three words at token i name with one letter wrong.
func (p *parser) misspelt(i int) (places.Match, int) {
	for n := min(3, len(p.tokens)-i); n > 0; n-- {
		last := p.at(i + n - 1)
		if !p.joinedName(i, n) || n > 1 && (common(last.norm) || p.m(i+1) == ".") {
			continue
		}
		if m := places.Resolve(p.raw(i, i+n)); m.Kind == places.Typo || m.Kind == places.Ambiguous {
			return m, n
		}
	}
	return places.Match{}, 0
}

// properName returns how many words of a capitalised name begin at token i.
func (p *parser) properName(i int) int {
	n := 1
	for n < 4 && !p.shout && p.at(i).capital() && p.at(i+n).capital() && p.at(i+n).gap && !common(p.w(i+n)) && !p.known(i+n) {
		n++
	}
	return n
}

// strayNumber keeps a number that stands alone: it was said for a reason.
func (p *parser) strayNumber(i int) int {
	a := p.amount(i)
	j := i + a.tokens
	before, after := i > 0 && p.at(i-1).kind == word && !p.at(i).gap, p.at(j).kind == word && !p.at(j).gap
	if p.unit(j) || p.w(i-1) == "under" && p.noun(i-2) > 0 || slices.Contains([]string{"flight", "room", "gate", "number", "no", "boeing", "airbus", "top", "at", "before", "after",
		"around", "nr", "aged", "age", "row", "seat", "#"}, p.at(i-1).norm) {
		return a.tokens
	}
	if before && !p.at(i-1).gap && p.at(i-2).kind == numeral {
		return a.tokens // "1e9"
	}
	from, to := i, j
	if before {
		from--
	}
	if p.at(j).kind == word && (after || !common(p.w(j)) && !p.known(j)) {
		to++
	}
	a.seen = p.raw(from, to)
	if (before || after) && a.cents >= 100_00 {
		p.draft.wishes = append(p.draft.wishes, a.seen) // "AY121"
		return a.tokens
	}
	p.draft.left = append(p.draft.left, a)
	return a.tokens
}
