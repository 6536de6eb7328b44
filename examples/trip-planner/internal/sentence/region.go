package sentence

import (
	"slices"
	"strings"
)

// regions are the states and provinces whose cities have namesakes, by name and by short form, with the codes of the
// airports there. The order does not matter.
func regions() []string {
	return strings.Split(`alabama al|alaska ak ANC|arizona az PHX|arkansas ar|california ca LAX SAN SFO OAK SJC SMF|colorado co DEN|connecticut ct|`+
		`delaware de|florida fl MIA FLL MCO TPA|georgia ga ATL|hawaii hi HNL OGG|idaho id|illinois il ORD MDW|indiana in IND|iowa ia|kansas ks|`+
		`kentucky ky|louisiana la MSY|maine me|maryland md BWI|massachusetts ma BOS|michigan mi DTW|minnesota mn MSP|mississippi ms|`+
		`missouri mo STL MCI|montana mt|nebraska ne|nevada nv LAS|new_hampshire nh|new_jersey nj|new_mexico nm ABQ|new_york ny JFK LGA|`+
		`north_carolina nc CLT RDU|north_dakota nd|ohio oh CLE CVG|oklahoma ok|oregon or PDX|pennsylvania pa PHL PIT|rhode_island ri|`+
		`south_carolina sc|south_dakota sd|tennessee tn BNA MEM|texas tx IAH DFW AUS|utah ut SLC|vermont vt|virginia va|washington wa SEA|`+
		`west_virginia wv|wisconsin wi|wyoming wy|dc d_._c IAD DCA|ontario on YYZ YTZ YOW|quebec qc YUL YQB|québec qc YUL YQB|`+
		`nova_scotia ns YHZ|newfoundland nl YYT|manitoba mb YWG|alberta ab YYC YEG|british_columbia bc YVR YYJ|saskatchewan sk|`+
		`new_brunswick nb`, "|")
}

// region returns the airports of the state or province named at token i. A short form is one only in capitals.
func (p *parser) region(i int) (codes []string, tokens int) {
	for _, r := range regions() {
		fields := strings.Fields(r)
		if n := p.phrase(i, strings.ReplaceAll(fields[0], "_", " ")); n > 0 {
			return fields[2:], n
		}
		if n := p.phrase(i, strings.ReplaceAll(fields[1], "_", " ")); n > 0 && p.at(i).allCapitals() && !p.shout {
			return fields[2:], n
		}
	}
	return nil, 0
}

// inRegion understands a state or province after a city. What does not hold of the city is asked about.
func (p *parser) inRegion(i int, last *mention) int {
	codes, n := p.region(i)
	if n == 0 {
		return 0
	}
	for _, c := range last.candidates {
		if slices.Contains(codes, c.Code) {
			last.airport, last.candidates = c, nil
			break
		}
	}
	if last.candidates == nil && slices.Contains(codes, last.airport.Code) {
		p.lastPlace, p.role = i+n, none
		return n
	}
	if p.known(i) {
		return 0 // "Helsinki, New York"
	}
	return p.doubtPlace(last, i+n, i)
}

// doubtPlace asks which place is meant by a mention and the words up to token j, which do not go with it. It takes the
// tokens from i on.
func (p *parser) doubtPlace(m *mention, j, i int) int {
	from := max(m.end-p.width(m), 0)
	about := m.role.about()
	p.draft.ask(about, "I am not sure of “%s”; which city with an airport is it?", clip(p.raw(from, j)))
	p.lastPlace, p.role = j, none
	return j - i
}

// width returns how many tokens a mention takes.
func (p *parser) width(m *mention) int {
	n := 1
	for n < 8 && m.end-n-1 >= 0 && p.tokens[m.end-1].end-p.tokens[m.end-n].start < len(m.text) {
		n++
	}
	return n
}

// surname asks about a capitalised word after a city that makes it another place: "Venice Beach", "Paris, Idunno".
func (p *parser) surname(i int, last *mention) int {
	t := p.at(i)
	if p.shout || !t.capital() || p.w(i-1) == "in" && common(t.norm) {
		return 0
	}
	land := i == p.lastPlace && slices.Contains([]string{"beach", "bay", "hills", "heights", "springs", "park", "island", "islands", "falls", "valley",
		"county", "village", "lake", "river", "creek", "junction", "harbour", "harbor", "hill", "point", "grove", "city"}, t.norm)
	if !land && (common(t.norm) || airline(t.norm) || p.known(i) || p.month(i) > 0 || p.weekday(i) >= 0 || p.foreign(i) || euro(t.norm) ||
		len(t.norm) < 2) {
		return 0
	}
	if _, n := p.misspelt(i); n > 0 && !land {
		return 0
	}
	if all, n := p.country(i); n > 0 && len(all) > 0 {
		return 0
	}
	return p.doubtPlace(last, i+p.properName(i), i)
}

// forename asks about a word before the city at tokens i to j-1 that makes it another place: "New London".
func (p *parser) forename(i, j int) bool {
	t := p.at(i - 1)
	if t.kind != word || p.at(i).kind != word || i == p.lastPlace || i == p.lastDay || i == p.lastParty {
		return false
	}
	switch t.norm {
	case "new", "north", "south", "east", "west", "northern", "southern", "eastern", "western", "fort", "port", "mount", "upper", "lower":
	case "old", "little", "great", "lake", "island", "saint", "st":
		if !t.capital() || p.shout {
			return false
		}
	default:
		if p.shout || !t.capital() || common(t.norm) || airline(t.norm) || p.begins(i-1) || p.month(i-1) > 0 || p.weekday(i-1) >= 0 ||
			p.foreign(i-1) || euro(t.norm) || len(t.norm) < 3 || p.noun(i-1) > 0 || p.integer(i-1).tokens > 0 || p.roleAt == i {
			return false
		}
	}
	p.draft.ask(p.role.about(), "I am not sure of “%s”; which city with an airport is it?", clip(p.raw(i-1, j)))
	return true
}

// excluded asks about a city that is named as the one not meant: "anywhere but Lisbon".
func (p *parser) excluded(i, j int) bool {
	k := i - 1
	for slices.Contains([]string{"to", "in", "from", "for", "the", "via", "visit", "go", "going", "fly", "flying", "at", "want", "travel", "me", "book", "be",
		"send", "going", "leave", "leaving", "it's", "is", "of", "like"}, p.w(k)) && k > i-6 {
		k--
	}
	switch p.w(k) {
	case "not", "don't", "never", "except", "excluding", "besides", "without", "avoid", "avoiding", "outside", "near", "nowhere", "won't", "isn't",
		"wouldn't", "didn't", "opposite", "dont":
		if p.w(k) == "near" && k != i-1 {
			return false
		}
	case "but":
		if k != i-1 && p.w(i-1) != "to" && p.w(i-1) != "in" || p.phrase(k-1, "anywhere", "everywhere", "anything", "all", "any", "nowhere", "everything",
			"city", "place", "somewhere") == 0 {
			return false
		}
	case "than":
		if p.phrase(k-1, "other", "rather") == 0 {
			return false
		}
	case "instead":
		if k != i-1 && p.w(i-1) != "of" || p.w(k+1) != "of" {
			return false
		}
	default:
		return false
	}
	p.draft.ask(p.role.about(), "you said “%s”; which city is it, then?", clip(p.raw(k, j)))
	p.role = none
	return true
}
