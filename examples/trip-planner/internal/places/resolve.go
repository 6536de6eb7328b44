package places

import "slices"

// Kind says how a text names a place.
type Kind int

// The kinds of match.
const (
	None      Kind = iota // the text names no place that is known
	Code                  // an IATA code
	City                  // a city, by its own or another name
	Named                 // one airport, by its own name: Heathrow
	Typo                  // one letter away from exactly one place
	Ambiguous             // several places: see Candidates
)

// Match is what a text stands for.
type Match struct {
	Kind       Kind
	Airport    Airport   // the place, for every kind but None and Ambiguous
	Name       string    // the name or code that matched, as the table spells it
	Candidates []Airport // for Ambiguous: the places meant, at least two
}

// Lookup returns the place that a text names exactly. Letter case, accents and punctuation do not matter, except
// that a text of three capitals is taken as a code first and any other as a name first (Goa is in India, GOA is
// Genoa). The name of a city with several airports stands for its main airport, always the same.
func Lookup(text string) Match {
	t := table()
	key := Fold(text)
	airport, isCode := t.codes[text]
	if isCode {
		return Match{Kind: Code, Airport: airport, Name: airport.Code}
	}
	if e, ok := t.names[key]; ok {
		return e.match(false)
	}
	if a, ok := ByCode(key); ok {
		return Match{Kind: Code, Airport: a, Name: a.Code}
	}
	return Match{}
}

// Resolve returns the place that a text names, or the one that it misspells: a name of at least four letters with
// one letter missing, added or changed, or two neighbours swapped, if only one place is that near. Codes are never
// guessed. It takes time linear in the text and in the number of names.
func Resolve(text string) Match {
	if m := Lookup(text); m.Kind != None {
		return m
	}
	key := []rune(Fold(text))
	if len(key) < minTypo || len(key) > maxTypo {
		return Match{}
	}
	t := table()
	var near []Airport
	var last entry
	for n := len(key) - 1; n <= len(key)+1; n++ {
		if n < minTypo {
			continue
		}
		for _, name := range t.byLength[n] {
			if !oneLetterApart(key, name) {
				continue
			}
			last = t.names[string(name)]
			for _, a := range last.heads {
				if !slices.ContainsFunc(near, a.SameCity) {
					near = append(near, a)
				}
			}
		}
	}
	switch len(near) {
	case 0:
		return Match{}
	case 1:
		return last.match(true)
	}
	return Match{Kind: Ambiguous, Candidates: near}
}

// minTypo and maxTypo bound the names, in letters, that may be misspelt.
const minTypo, maxTypo = 4, 40

func (e entry) match(typo bool) Match {
	m := Match{Kind: City, Airport: e.heads[0], Name: e.name}
	switch {
	case len(e.heads) > 1:
		return Match{Kind: Ambiguous, Name: e.name, Candidates: slices.Clone(e.heads)}
	case typo:
		m.Kind = Typo
	case !e.city:
		m.Kind = Named
	}
	return m
}

// oneLetterApart reports whether one insertion, deletion, substitution or swap of neighbours turns a into b.
func oneLetterApart(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return len(b)-len(a) == 1 && slices.Equal(a[i:], b[i+1:])
	}
	if i == len(a) {
		return false
	}
	if slices.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}
