package sentence

import (
	"slices"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// role is what a place is to the trip.
type role int

const (
	none role = iota
	origin
	destination
	stopover
	passing // set by "in": a destination, if it is a place at all
)

func (r role) about() About {
	if r == origin {
		return Origin
	}
	return Destination
}

// mention is a place that the sentence named, or a word where a place had to be.
type mention struct {
	role       role
	airport    places.Airport
	candidates []places.Airport // instead of an airport: the word may mean several
	country    bool             // candidates are a country's cities
	unknown    bool             // no place is called so
	exact      bool             // a code or an airport's name, not a city's
	typo       bool
	weak       bool // perhaps no place at all: counts only if nothing better is there
	back       bool // said of the return
	either     bool // joined by "and" or "or" to the mention before
	text       string
	end        int // token after it
}

// place understands the name or code of a place at token i, by the words before it.
func (p *parser) place(i int) int {
	if p.at(i).kind != word {
		return 0
	}
	if n := p.qualifier(i); n > 0 {
		return n
	}
	m, n := p.lookup(i)
	if n == 1 && m.Kind == places.Code && !p.at(i).allCapitals() && p.partOfName(i) {
		return 0 // "San Fransisco" is not SAN
	}
	if n > 0 {
		use, weak := p.trust(i, n, m)
		if !use {
			n = 0
		} else {
			if p.excluded(i, i+n) {
				return n
			}
			p.forename(i, i+n)
			x := mention{airport: m.Airport, candidates: m.Candidates, weak: weak, text: p.raw(i, i+n), end: i + n}
			x.exact = m.Kind == places.Code || m.Kind == places.Named
			p.mention(i, x)
			return n
		}
	}
	if all, n := p.country(i); n > 0 && (p.placed() || p.at(i).capital() && !p.shout) {
		p.mention(i, mention{candidates: all, country: true, text: p.raw(i, i+n), end: i + n})
		return n
	}
	return 0
}

// partOfName reports whether the word at token i begins a longer name that is misspelt or unknown.
func (p *parser) partOfName(i int) bool {
	if _, n := p.misspelt(i); n > 1 {
		return true
	}
	next := p.at(i + 1)
	return next.capital() && next.gap && !p.shout && !common(next.norm) && !p.known(i+1) && p.month(i+1) == 0
}

// placed reports whether words before said that a place comes now.
func (p *parser) placed() bool { return p.role != none }

// lookup returns the longest name at token i that is a place's.
func (p *parser) lookup(i int) (places.Match, int) {
	const longest = 7
	for n := min(longest, len(p.tokens)-i); n > 0; n-- {
		if !p.joinedName(i, n) {
			continue
		}
		if m := places.Lookup(p.raw(i, i+n)); m.Kind != places.None {
			if n > 1 && m.Kind == places.Code {
				continue
			}
			return m, n
		}
	}
	return places.Match{}, 0
}

// joinedName reports whether n tokens could be one name: words joined by space, a hyphen, a dot or an apostrophe.
func (p *parser) joinedName(i, n int) bool {
	if p.at(i).kind != word || p.at(i+n-1).kind != word {
		return false
	}
	for j := i + 1; j < i+n-1; j++ {
		if t := p.at(j); t.kind == numeral || t.kind == mark && t.norm != "-" && t.norm != "." && t.norm != "'" {
			return false
		}
	}
	return true
}

// known reports whether a place's name begins at token i.
func (p *parser) known(i int) bool {
	m, n := p.lookup(i)
	return n > 0 && !(m.Kind == places.Code && !p.at(i).allCapitals())
}

// trust decides whether a match is meant as a place; weak says that it may be an ordinary word.
func (p *parser) trust(i, n int, m places.Match) (use, weak bool) {
	t := p.at(i)
	if n > 1 || t.norm == "" {
		return true, false
	}
	direct := p.placed() && p.roleAt == i && p.role != passing
	link := p.linked(i)
	if m.Kind == places.Code {
		everyday := wordCode(t.norm) || common(t.norm)
		switch {
		case t.allCapitals() && !p.shout:
			return true, everyday && !direct && !link
		case direct || link:
			return true, everyday
		}
		return p.shout && !everyday, false
	}
	if !homograph(places.Fold(t.text)) {
		return true, false
	}
	switch {
	case !t.capital() || p.shout:
		return direct || link && !common(t.norm), true
	case p.begins(i) && !direct && !link:
		return p.w(i+1) == "from" || !common(t.norm) && tripNoun(p.w(i+1)), false
	}
	return true, false
}

// begins reports whether token i begins a sentence, where a capital says nothing.
func (p *parser) begins(i int) bool {
	m := p.m(i - 1)
	return i == 0 || m == "." || m == "!" || m == "?" || m == ":"
}

// linked reports whether an arrow, a dash or "to" ties token i to another place.
func (p *parser) linked(i int) bool {
	if n := p.arrow(i + 1); n > 0 || p.w(i+1) == "to" {
		m, k := p.lookup(i + 1 + max(n, 1))
		return k > 0 && (m.Kind != places.Code || !common(p.w(i+1+max(n, 1))))
	}
	return p.lastPlace > 0 && p.lastPlace < i && p.arrow(p.lastPlace) == i-p.lastPlace
}

// arrow returns how many tokens a dash or arrow between two places takes.
func (p *parser) arrow(i int) int {
	n := 0
	for n < 4 && slices.Contains([]string{"-", ">", "="}, p.m(i+n)) {
		n++
	}
	if n == 0 && p.m(i) == "/" {
		return 1
	}
	return n
}

// mention records a place with its role.
func (p *parser) mention(i int, m mention) {
	all := p.draft.places
	m.role, m.back = p.role, p.back
	if m.role == passing {
		m.role = destination
	}
	if len(all) > 0 && m.end > i {
		last := &all[len(all)-1]
		if m.role == destination && last.role == none && p.lastPlace == i-1 && p.w(i-1) == "to" {
			last.role = origin // "Helsinki to Lisbon"
		}
		if between, ok := p.sinceLast(i); ok {
			switch between {
			case "", "(", ",":
				if refine(last, m) {
					p.lastPlace, p.role = m.end, none
					return
				}
				if between == "," && last.role == destination && p.role == none {
					m.role = destination
				}
			case "arrow":
				if p.role != none {
					break
				}
				if last.role == none {
					last.role = origin
				}
				if last.role == origin {
					m.role = destination
				}
			case "and", "or":
				if p.between && last.role == origin {
					m.role, p.between = destination, false
				} else if p.role == none {
					m.role, m.either = last.role, true
				}
			}
		}
	}
	p.draft.places = append(all, m)
	p.role, p.lastPlace = none, m.end
}

// refine takes a second name of the same city, such as a code in brackets, as part of the first.
func refine(last *mention, m mention) bool {
	if last.unknown || m.unknown || m.candidates != nil {
		return false
	}
	if last.candidates != nil {
		if !slices.ContainsFunc(last.candidates, m.airport.SameCity) {
			return false
		}
		last.airport, last.candidates, last.country, last.exact = m.airport, nil, false, m.exact
		return true
	}
	if !last.airport.SameCity(m.airport) || m.role != none {
		return false
	}
	if m.exact && !last.exact {
		last.airport, last.exact = m.airport, true
	}
	return last.airport == m.airport || !m.exact
}

// sinceLast says what stands between the last place and token i, if it is a short joint.
func (p *parser) sinceLast(i int) (string, bool) {
	if p.lastPlace <= 0 || p.lastPlace > i || i-p.lastPlace > 4 {
		return "", false
	}
	j := p.lastPlace
	switch {
	case j == i:
		return "", true
	case p.arrow(j) == i-j && p.m(j) != "/":
		return "arrow", true
	case p.m(j) == "/" && i-j == 1 && p.draft.places[len(p.draft.places)-1].role != destination:
		return "arrow", true
	case (p.m(j) == "(" || p.m(j) == ",") && i-j == 1:
		return p.m(j), true
	}
	for ; j < i; j++ {
		switch p.at(j).norm {
		case "or", "/":
			return "or", p.onlyJoints(j, i)
		case "and", "&", "+", "then", "plus":
			return "and", p.onlyJoints(j, i)
		case ",":
		default:
			return "", false
		}
	}
	return "", false
}

func (p *parser) onlyJoints(i, j int) bool {
	for ; i < j; i++ {
		if !slices.Contains([]string{"and", "or", "&", "+", "then", "/", ",", "plus", "also", "maybe", "either", "to", "perhaps"}, p.at(i).norm) {
			return false
		}
	}
	return true
}

// qualifier understands a country after a city: "Paris, France". It settles which city of that name is meant.
func (p *parser) qualifier(i int) int {
	if p.lastPlace <= 0 || i-p.lastPlace > 1 || len(p.draft.places) == 0 {
		return 0
	}
	if i-p.lastPlace == 1 && !slices.Contains([]string{",", "in", "("}, p.at(i-1).norm) {
		return 0
	}
	last := &p.draft.places[len(p.draft.places)-1]
	if last.country || last.unknown || last.end != p.lastPlace {
		return 0
	}
	if n := p.inRegion(i, last); n > 0 {
		return n
	}
	all, n := p.country(i)
	if n == 0 {
		return p.surname(i, last)
	}
	if last.candidates == nil {
		if !slices.ContainsFunc(all, last.airport.SameCity) {
			if p.placed() && p.w(i-1) != "in" {
				return 0
			}
			return p.doubtPlace(last, i+n, i)
		}
		p.lastPlace, p.role = i+n, none
		return n
	}
	for _, c := range last.candidates {
		if slices.ContainsFunc(all, c.SameCity) {
			last.airport, last.candidates = c, nil
			p.lastPlace, p.role = i+n, none
			return n
		}
	}
	return 0
}

// country returns the cities of the country named at token i. "us" is a country only in capitals.
func (p *parser) country(i int) ([]places.Airport, int) {
	for n := min(4, len(p.tokens)-i); n > 0; n-- {
		if !p.joinedName(i, n) || n == 1 && p.w(i) == "us" && (!p.at(i).allCapitals() || p.shout) {
			continue
		}
		if all := places.InCountry(p.raw(i, i+n)); len(all) > 0 {
			return all, n
		}
	}
	return nil, 0
}
