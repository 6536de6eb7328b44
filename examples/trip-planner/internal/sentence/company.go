package sentence

import (
	"slices"
	"strings"
)

// company asks about people who travel and cannot be counted for certain: "with Anna", "my flatmate and I", "Mr and Mrs
// Smith", "with my 5 year old", "twins". It leaves what party understands alone.
func (p *parser) company(i int) int {
	if n := p.phrase(i, "no kids", "no children", "no infants", "no babies", "without kids", "without children", "without the kids", "without the children",
		"without my kids", "without our kids", "without any kids", "kid - friendly", "child - friendly", "family - friendly", "family - run", "baby cot",
		"child seat"); n > 0 {
		return n
	}
	if n := p.phrase(i, "one more", "one extra", "one other", "someone else", "somebody else", "two more", "two others"); n > 0 && p.span(i+n) == 0 &&
		p.noun(i+n) == 0 && !p.unit(i+n) {
		return p.doubtParty(i, i+n)
	}
	n := p.phrase(i, "not alone", "not solo", "not travelling alone", "not traveling alone", "double occupancy", "the class", "whole class", "the office", "the staff",
		"the choir", "the band", "the club", "the department", "the squad", "mr and mrs", "mr & mrs", "mr . and mrs", "mr", "mrs", "ms", "miss", "as a pair", "a pair", "pair of", "twins", "triplets", "newlyweds",
		"honeymooners", "a trio", "trio", "a duo", "duo", "quartet", "couples", "the gang", "entourage", "stay home", "stays home", "staying home",
		"stay at home", "stays at home", "not coming", "isn't coming", "not travelling", "not traveling", "not joining", "won't come", "can't come",
		"without me", "not me", "minus me", "all of us", "everyone", "everybody", "each of us", "plus one", "+ 1", "and co", "et al", "and others")
	if n > 0 {
		if p.w(i) == "miss" && !p.at(i+1).capital() || p.w(i) == "pair" && p.w(i+n) == "shoes" {
			return 0
		}
		return p.doubtParty(i, i+n)
	}
	if n := p.yearsOld(i); n > 0 {
		return n
	}
	joint := p.phrase(i, "together with", "along with", "with", "accompanied by", "joined by")
	if joint == 0 && p.afterPeople(i) {
		joint = p.phrase(i, "and", "&", "+", "plus", ",")
	}
	if p.w(i) == "for" {
		if _, n := p.misspelt(i + 1); n == 0 && p.at(i+1).capital() {
			joint = 1
		}
	}
	if joint > 0 {
		return p.strangers(i, i+joint)
	}
	// "my flatmate and I", "Anna and me"
	j := i
	own := slices.Contains([]string{"my", "our", "his", "her", "their", "the", "a"}, p.w(j))
	if own {
		j++
	}
	if p.at(j).kind != word || p.noun(j) > 0 || !own && (common(p.w(j)) || p.known(j) || len(p.w(j)) < 3 || p.month(j) > 0 || p.weekday(j) >= 0) {
		return 0
	}
	for k := j + 1; k < j+6; k += 2 {
		if p.phrase(k, "and", "&", "+", ",") == 0 {
			return 0
		}
		switch p.w(k + 1) {
		case "i", "me", "myself":
			if p.m(k) != "," {
				return p.doubtParty(i, k+2)
			}
			return 0
		}
		if !p.at(k+1).capital() || common(p.w(k+1)) || p.known(k+1) {
			return 0
		}
	}
	return 0
}

// afterPeople reports whether token i, a joint, comes right after people who were counted or after "me".
func (p *parser) afterPeople(i int) bool {
	return p.lastParty > 0 && p.lastParty == i || p.w(i-1) == "me" || p.w(i-1) == "myself" || p.w(i-1) == "us" && !p.shout
}

// strangers asks about a companion at token j whom the words for people do not have.
func (p *parser) strangers(i, j int) int {
	switch p.w(j) {
	case "him", "her", "them", "someone", "somebody", "whoever", "others", "another", "you", "company":
		if (p.w(j) == "her" || p.w(j) == "another" || p.w(j) == "others") && p.noun(j+1) > 0 {
			return 0
		}
		return p.doubtParty(i, j+1)
	}
	comma := p.m(j-1) == ","
	k := j
	own := slices.Contains([]string{"my", "our", "his", "her", "their"}, p.w(k))
	if own {
		k++
	}
	for slices.Contains([]string{"dear", "best", "new", "old", "little", "two", "three", "lovely"}, p.w(k)) && own {
		k++
	}
	t := p.at(k)
	if t.kind != word || p.noun(k) > 0 || p.known(k) || p.span(k) > 0 {
		return 0
	}
	switch {
	case own && !comma && !belongings(t.norm):
	case !own && !comma && p.w(j-1) == "with" && !common(t.norm) && len(t.norm) > 2 && !amenity(t.norm) && !airline(t.norm) && p.month(k) == 0 &&
		p.weekday(k) < 0 && !p.foreign(k) && !euro(t.norm): // "with anna"
	case !own && t.capital() && !p.shout && !common(t.norm) && p.month(k) == 0 && p.weekday(k) < 0 && !airline(t.norm):
		if comma && p.w(k+1) != "and" && p.m(k+1) != "," {
			return 0 // "for two people, Helsinky to Lisbon"
		}
	case !own && t.norm != "" && p.phrase(k, "a", "an", "one", "two", "three", "the", "twin", "twins") > 0 && p.lastParty == i && !comma &&
		p.at(k+1).kind == word && p.noun(k+1) == 0 && !common(p.w(k+1)) && !p.known(k+1):
		k++
	default:
		return 0
	}
	return p.doubtParty(i, k+1)
}

// yearsOld asks about somebody named by age: "a 5 year old". An age that only describes is passed over.
func (p *parser) yearsOld(i int) int {
	number := p.integer(i)
	if number.tokens == 0 {
		return 0
	}
	j := i + number.tokens
	n := p.phrase(j, "- year - olds", "- year - old", "year - olds", "year - old", "year olds", "year old", "years old", "yr old", "yrs old", "yo",
		"months old", "month old", "- month - old", "month - old")
	if n == 0 {
		return 0
	}
	switch p.w(i - 1) {
	case "is", "are", "aged", "age", "he's", "she's":
		return j + n - i
	}
	if p.m(i-1) == "(" || p.noun(j+n) > 0 && p.phrase(i-1, "a", "my", "our") == 0 {
		return j + n - i
	}
	return p.doubtParty(i, j+n)
}

// doubtParty asks how many travel, naming tokens i to j-1.
func (p *parser) doubtParty(i, j int) int {
	p.draft.ask(Party, "you said “%s”; how many travel in all?", clip(p.raw(i, j)))
	p.lastParty = j
	return j - i
}

// belongings reports whether a word names what a traveller takes along or has, and is nobody.
func belongings(w string) bool {
	return slices.Contains([]string{"bag", "bags", "luggage", "suitcase", "suitcases", "card", "miles", "points", "money", "car", "bike", "bikes", "skis",
		"laptop", "own", "budget", "dog", "cat", "dogs", "cats", "pet", "stuff", "passport", "voucher", "stay", "trip", "flight", "flights", "hotel",
		"room", "rooms", "holiday", "booking", "return", "company's", "employer", "usual", "favourite", "favorite", "surfboard", "guitar"}, w)
}

// amenity reports whether a word after "with" names a comfort.
func amenity(w string) bool {
	return strings.HasSuffix(w, "ing") || slices.Contains([]string{"wifi", "balcony", "terrace", "jacuzzi", "sauna", "pleasure", "love", "kitchen",
		"bathtub", "luggage", "aircon", "internet", "lounge", "priority", "legroom", "meals", "lunch", "crib", "cot", "regards", "gratitude", "refund",
		"insurance", "stopover", "sunshine"}, w)
}

// airline reports whether a name is a carrier's or a hotel chain's, which are wishes and not people.
func airline(w string) bool {
	return slices.Contains([]string{"finnair", "sas", "norwegian", "lufthansa", "ryanair", "easyjet", "klm", "tap", "ba", "british", "emirates", "qatar",
		"air", "iberia", "swiss", "united", "delta", "wizz", "vueling", "turkish", "american", "hilton", "marriott", "booking"}, w)
}
