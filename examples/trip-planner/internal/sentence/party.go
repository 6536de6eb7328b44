package sentence

import (
	"slices"
	"strings"
)

// party understands how many travel: "2 adults and a child", "for three", "me and my wife", "family of four", "solo".
func (p *parser) party(i int) int {
	for _, rule := range []func(int) int{p.partyPhrase, p.people, p.partyOf, p.forNumber} {
		if n := rule(i); n > 0 {
			return n
		}
	}
	return 0
}

// travellers records a number of people said by tokens i to j-1. The same number said again is the same people, unless
// both times only some of them were counted: "2 adults … 2 children".
func (p *parser) travellers(n, i, j int) int {
	text := p.raw(i, j)
	p.lastParty = j
	for _, c := range p.draft.counts {
		if c.n == n && (strings.EqualFold(c.text, text) || !some(c.text) || !some(text)) {
			return j - i
		}
		if c.n == n {
			p.draft.ask(Party, "you said “%s” and “%s”; how many travel in all?", clip(c.text), clip(text))
			return j - i
		}
	}
	p.draft.counts = append(p.draft.counts, count{n, text})
	return j - i
}

// some reports whether a text counts one kind of traveller only.
func some(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"adult", "child", "kid", "infant", "bab", "senior", "student", "teen", "men", "boy", "girl", "toddler"},
		func(kind string) bool { return strings.Contains(text, kind) })
}

// more adds the people who join those at tokens i to j-1: "us two and my mother-in-law".
func (p *parser) more(n, j int) (total, end int) {
	skip := p.peopleJoin(j)
	if skip == 0 || n == 0 {
		return n, j
	}
	if more, k := p.list(j + skip); k > 0 && !more.speaker && !more.vague && more.n > 0 {
		return n + more.n, j + skip + k
	}
	return n, j
}

func (p *parser) partyPhrase(i int) int {
	if n := p.phrase(i, "alone", "solo", "just me", "only me", "by myself", "just myself", "on my own", "single traveller",
		"single traveler", "single person", "solo traveller", "solo traveler", "for myself"); n > 0 && p.peopleJoin(i+n) == 0 {
		return p.travellers(1, i, i+n)
	}
	if n := p.phrase(i, "both of us", "us both", "us two", "we two", "you and me", "me and you", "the pair of us", "the both of us",
		"as a couple", "a couple", "couple"); n > 0 && p.w(i+n) != "of" && p.w(i+n) != "more" {
		total, j := p.more(2, i+n)
		return p.travellers(total, i, j)
	}
	if n := p.integer(i); n.tokens > 0 {
		if m := p.phrase(i+n.tokens, "of us", "of them"); m > 0 {
			j := i + n.tokens + m
			n.value, j = p.more(n.value, j) // "two of us and a baby"
			return p.counted(n, i, j)
		}
	}
	return 0
}

// counted records a number of travellers that was written as a number.
func (p *parser) counted(n integer, i, j int) int {
	switch {
	case p.negative(i):
		p.draft.ask(Party, "-%d travellers cannot be.", n.value)
	case n.value == 0:
		p.draft.ask(Party, "a trip needs somebody who travels.")
	default:
		return p.travellers(n.value, i, j)
	}
	return j - i
}

// partyOf understands "party of 4", "passengers: 2", "we are three".
func (p *parser) partyOf(i int) int {
	n := p.phrase(i, "party of", "group of", "family of", "team of", "party size of", "party size :", "party size", "party :", "party =",
		"travellers :", "travelers :", "passengers :", "people :", "persons :", "adults :", "guests :", "pax :", "pax",
		"party", "we are", "we're", "there are", "there will be", "we will be", "we'll be", "us :", "make that", "table for")
	if n == 0 {
		return 0
	}
	j := i + n
	for slices.Contains([]string{"just", "only", "about"}, p.w(j)) {
		j++
	}
	number := p.integer(j)
	if number.tokens == 0 {
		return 0
	}
	k := j + number.tokens
	if p.span(k) > 0 || p.phrase(k, "of us", "of them") > 0 {
		return 0
	}
	plain := p.w(i) == "we" || p.w(i) == "we're" || p.w(i) == "there" || p.w(i) == "we'll"
	if plain && !p.ends(k) && p.noun(k) == 0 {
		return 0
	}
	if _, m := p.list(j); m > 0 {
		return 0 // "we are 2 adults and 1 child"
	}
	if n := p.noun(k); n > 0 {
		k++
	}
	number.value, k = p.more(number.value, k)
	return p.counted(number, i, k)
}

// forNumber understands "for 3" where nothing follows that the number could count.
func (p *parser) forNumber(i int) int {
	if p.w(i) != "for" {
		return 0
	}
	j := i + 1
	for slices.Contains([]string{"just", "only"}, p.w(j)) {
		j++
	}
	n := p.integer(j)
	if n.tokens == 0 || n.value >= 100 {
		return 0
	}
	k := j + n.tokens
	if _, m, _ := p.date(j); m > 0 || p.unit(k) || p.span(k) > 0 || p.at(k).kind == word && !p.at(k).gap {
		return 0
	}
	if l, m := p.money(j); m > 0 && (p.currencied(j, j+m) || l.cents >= 100_00) {
		return 0
	}
	if a := p.alternative(k); a > 0 {
		high := p.integer(a)
		if after := a + high.tokens; high.tokens > 0 {
			if p.unit(after) || p.month(after) > 0 || p.span(p.hyphen(after)) > 0 || p.ordinalSuffix(after) || p.glued(after, "./") {
				return 0
			}
			p.draft.ask(Party, "“%s” can be several numbers; which one?", p.raw(j, after))
			return after - i
		}
	}
	if m := p.phrase(k, "and a half", "or more", "or so", "at least", "at most", "plus"); m > 0 && !(p.phrase(k, "plus") > 0 && p.peopleAt(k+1)) {
		if _, money := p.money(p.skip(k+m, budgetFillers())); money == 0 {
			return p.doubtParty(i, k+m)
		}
	}
	if !p.ends(k) {
		return p.forStrangers(j, k)
	}
	if total, end := p.more(n.value, k); end > k {
		n.value, k = total, end
	}
	return p.counted(n, j, k) + j - i
}

// peopleAt reports whether people are listed at token i.
func (p *parser) peopleAt(i int) bool {
	_, n := p.list(i)
	return n > 0
}

// forStrangers asks about the number at tokens i to k-1 that counts people without a word for them that is known: "for 3
// nuns".
func (p *parser) forStrangers(i, k int) int {
	if p.at(k).kind != word || common(p.w(k)) {
		return 0
	}
	for j := k; j < k+3; j++ {
		if p.span(j) > 0 || p.unit(j) {
			return 0 // "for 3 amazing nights"
		}
	}
	return p.doubtParty(i, k+1) + 1
}

// ends reports whether a number before token i stands by itself.
func (p *parser) ends(i int) bool {
	t := p.at(i)
	if t.kind != word {
		return t.kind != mark || !p.glued(i, "./:") || p.at(i+1).kind != numeral
	}
	return follows(t.norm) || p.weekday(i) >= 0 || p.month(i) > 0 || p.known(i)
}

// person is one item of a list of people.
type person struct {
	n         int
	speaker   bool
	companion bool // travels with the speaker: "with 2 kids" is three people
	vague     bool // "my kids": nobody knows how many
	kin       bool // "mum", said as a name is
	items     int
	tokens    int
}

// subject reports whether what stands at token i says that the people before it travel.
func (p *parser) subject(i int) bool {
	return slices.Contains(strings.Fields("want wants need needs would will go goes fly flies travel travels is are have has like likes"), p.w(i))
}

// people understands a list such as "2 adults, a child and a baby" or "my wife and I".
func (p *parser) people(i int) int {
	with := p.phrase(i, "together with", "along with", "with", "taking", "take", "bringing", "bring", "for")
	joined := p.w(i+with-1) != "for" && with > 0
	if with == 0 && p.phrase(i-1, "visit", "visiting", "see", "seeing", "meet", "meeting") > 0 {
		_, n := p.list(i)
		if n > 0 {
			p.role = none
		}
		return n // they do not travel
	}
	j := i + with
	if p.w(j) == "just" || p.w(j) == "only" {
		j++
	}
	if n := p.groupAlternative(j); n > 0 {
		return j - i + n
	}
	all, n := p.list(j)
	if n == 0 {
		return 0
	}
	joinedBare := with == 0 && all.kin && all.items > 1 // "mum, dad and 2 kids"
	numbered := all.n > 0 && !all.companion || joinedBare
	switch {
	case all.speaker && n == 1 && with == 0:
		return 0 // a lone "I" or "me" counts nobody
	case with == 0 && !numbered && !all.speaker && p.integer(j).tokens == 0:
		if all.companion && !several(p.w(j+n-1)) && p.w(j+n) != "of" && p.m(j+n) != "-" {
			return p.doubtParty(i, j+n) // "my wife wants to see Rome"
		}
		return 0
	}
	total := all.n
	if joined && !all.speaker && all.companion {
		total++
	}
	switch {
	case all.vague:
		p.draft.plural = p.raw(j, j+n)
	case p.negative(j):
		p.draft.ask(Party, "-%s cannot be.", p.raw(j, j+n))
	case total == 0:
		p.draft.ask(Party, "a trip needs somebody who travels.")
	default:
		p.travellers(total, j, j+n)
	}
	return j - i + n
}

// groupAlternative understands "2-3 people", which is a question.
func (p *parser) groupAlternative(i int) int {
	low := p.integer(i)
	if low.tokens == 0 {
		return 0
	}
	k := p.alternative(i + low.tokens)
	if p.glued(i+low.tokens, ".,") {
		k = i + low.tokens + 1
	}
	if k == 0 {
		return 0
	}
	high := p.integer(k)
	if high.tokens == 0 || p.noun(k+high.tokens) == 0 {
		return 0
	}
	n := k + high.tokens + 1 - i
	p.draft.ask(Party, "“%s” can be several numbers; which one?", p.raw(i, i+n))
	return n
}

// list adds up people joined by "and", commas or "with".
func (p *parser) list(i int) (person, int) {
	sum := p.person(i, false)
	if sum.tokens == 0 {
		return person{}, 0
	}
	n := sum.tokens
	for {
		skip := p.peopleJoin(i + n)
		k := i + n + skip
		next := p.person(k, true)
		apart := skip == 0 && p.integer(k).tokens == 0 && !(sum.kin && next.kin) // "2 adults 1 child" needs no "and"
		if apart || next.tokens == 0 || next.speaker && (sum.speaker || p.w(k) == "i" && p.m(i+n) == "," && skip == 1 || !sum.companion && p.verb(k+1)) {
			sum.items++
			return sum, n
		}
		sum.n += next.n
		sum.items++
		sum.speaker = sum.speaker || next.speaker
		sum.vague = sum.vague || next.vague
		sum.companion = sum.companion && next.companion
		n += skip + next.tokens
	}
}

// verb reports whether the word at token i makes the "I" before it the subject of a clause of its own.
func (p *parser) verb(i int) bool {
	return p.w(i) != "" && p.subject(i) || slices.Contains([]string{"prefer", "can", "cannot", "can't", "hate", "love", "am", "live", "stay", "could", "should",
		"must", "do", "don't", "leave", "pay", "may", "might"}, p.w(i))
}

func (p *parser) peopleJoin(i int) int {
	return p.phrase(i, ", and", "and", ",", "&", "+", "plus", "with", "and also")
}

// person reads one item; after another item "kids" alone is one, too.
func (p *parser) person(i int, joined bool) person {
	switch p.w(i) {
	case "me", "i", "myself":
		return person{n: 1, speaker: true, tokens: 1}
	}
	j := i
	possessive := slices.Contains([]string{"my", "our", "his", "her", "the", "some"}, p.w(j))
	if possessive {
		j++
	}
	n := 0
	number := p.integer(j)
	switch {
	case number.tokens > 0:
		n = number.value
		j += number.tokens
	case p.phrase(j, "a couple of") > 0:
		n = 2
		j += 3
	case !possessive && (p.w(j) == "a" || p.w(j) == "an"):
		n = 1
		j++
	}
	counts := j
	for range 2 {
		if slices.Contains([]string{"my", "our", "small", "little", "young", "old", "best", "good", "other", "close", "more",
			"elderly", "dear", "year", "month", "male", "female"}, p.w(j)) && p.w(j+1) != "" || p.w(j) == "adult" && p.noun(j+1) > 0 || p.m(j) == "-" && j > counts {
			j++
		}
	}
	kind := p.noun(j)
	inLaw := p.phrase(j+1, "- in - law", "in law", "- in - laws")
	if p.phrase(j-1, "year - old", "year old") > 0 || kind == 0 {
		return person{}
	}
	x := person{n: n, companion: kind >= companionOne, tokens: j + 1 + inLaw - i}
	switch {
	case number.tokens > 0 || n > 0:
	case !possessive && relation(p.w(j)) && j == i && (joined || p.joins(j+1)):
		x.n, x.kin = 1, true
	case !possessive && joined && kind == companionsMany:
		x.vague = true
	case !possessive:
		return person{}
	case kind == companionOne && p.w(i) != "some":
		x.n = 1
	case p.w(j) == "parents" || p.w(j) == "grandparents":
		x.n = 2
	default:
		if kind < companionOne {
			return person{} // "the people of Lisbon"
		}
		x.vague = true
	}
	return x
}

// joins reports whether another relative, or more people, follow at token i.
func (p *parser) joins(i int) bool {
	k := i + p.peopleJoin(i)
	if k > i && (p.w(k) == "i" || p.w(k) == "me") {
		return true
	}
	if k > i {
		for slices.Contains([]string{"my", "our", "a", "the"}, p.w(k)) || p.integer(k).tokens == 1 {
			k++
		}
	}
	return relation(p.w(k)) || k > i && p.noun(k) > 0
}

// relation reports whether a word for a relative is used as a name: "mum".
func relation(w string) bool {
	return slices.Contains([]string{"mum", "mom", "dad", "mummy", "daddy", "mother", "father", "grandma", "grandpa", "granny", "wife", "husband", "sister",
		"brother", "auntie", "aunt", "uncle"}, w)
}

// The kinds of words for people.
const (
	traveller      = 1 + iota // adults, people: everybody who travels
	companionOne              // wife, friend: somebody else
	companionsMany            // kids, friends
)

// noun returns the kind of the word for people at token i, 0 if it is none.
func (p *parser) noun(i int) int {
	switch p.w(i) {
	case "adult", "adults", "people", "person", "persons", "passenger", "passengers", "traveller", "travellers", "traveler",
		"travelers", "guest", "guests", "pax", "ticket", "tickets", "seat", "seats", "student", "students", "senior", "seniors",
		"pensioners", "men", "women", "tourists", "heads", "ppl", "persoons", "humans":
		return traveller
	case "wife", "husband", "partner", "girlfriend", "boyfriend", "spouse", "fiancé", "fiancée", "fiance", "fiancee", "mother",
		"father", "mum", "mom", "dad", "mummy", "daddy", "granny", "auntie", "son", "daughter", "brother", "sister", "friend", "child", "kid", "baby", "infant",
		"toddler", "colleague", "boss", "cousin", "aunt", "uncle", "grandmother", "grandfather", "grandma", "grandpa", "niece",
		"nephew", "mate", "buddy", "coworker", "teenager", "teen", "boy", "girl", "grandson", "granddaughter", "roommate":
		return companionOne
	case "friends", "kids", "children", "infants", "babies", "toddlers", "colleagues", "sons", "daughters", "brothers", "sisters",
		"parents", "grandparents", "cousins", "mates", "buddies", "coworkers", "teenagers", "teens", "boys", "girls", "grandchildren",
		"others", "nieces", "nephews", "siblings", "relatives", "family":
		return companionsMany
	}
	return 0
}
