package places

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed airports.csv
var airportsCSV string

// namesCSV has the other names of cities and the names of single airports. A name with several codes is ambiguous.
//
//go:embed names.csv
var namesCSV string

// entry is what one folded name stands for: a main airport for each city (or island, or airport) so called.
type entry struct {
	name  string
	heads []Airport
	city  bool // the name of a city, not of one of its airports
}

type index struct {
	airports  []Airport
	codes     map[string]Airport
	names     map[string]entry
	byLength  map[int][][]rune // folded names by their number of runes, in the order of the files
	countries map[string][]Airport
}

// table builds the index once. The embedded files are part of the program: an error in them is the programmer's.
var table = sync.OnceValue(func() *index {
	t := &index{codes: map[string]Airport{}, names: map[string]entry{}, byLength: map[int][][]rune{},
		countries: map[string][]Airport{}}
	for _, r := range rows(airportsCSV) {
		a := Airport{Code: r[0], City: r[1], Country: r[2], Latitude: degrees(r[3]), Longitude: degrees(r[4]), Zone: r[5]}
		t.airports = append(t.airports, a)
		t.codes[a.Code] = a
		t.addCity(a)
	}
	for _, r := range rows(namesCSV) {
		for _, code := range strings.Fields(r[2]) {
			a, ok := t.codes[code]
			if !ok {
				panic("places: " + r[0] + " names an unknown airport " + code)
			}
			t.name(r[0], a, r[1] == "city")
		}
	}
	for other, country := range otherCountryNames() {
		t.countries[other] = t.countries[Fold(country)]
	}
	return t
})

func (t *index) addCity(a Airport) {
	for _, head := range t.names[Fold(a.City)].heads {
		if head.SameCity(a) {
			return // another airport of a city already there
		}
	}
	t.name(a.City, a, true)
	t.countries[Fold(a.Country)] = append(t.countries[Fold(a.Country)], a)
}

func (t *index) name(name string, a Airport, city bool) {
	key := Fold(name)
	e, known := t.names[key]
	if !known {
		e = entry{name: name, city: city}
		letters := []rune(key)
		t.byLength[len(letters)] = append(t.byLength[len(letters)], letters)
	}
	for _, head := range e.heads {
		if head == a {
			return
		}
	}
	e.heads = append(e.heads, a)
	t.names[key] = e
}

func rows(text string) [][]string {
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("places: embedded table: %v", err))
	}
	return all[1:]
}

func degrees(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("places: embedded table: %v", err))
	}
	return f
}

func otherCountryNames() map[string]string {
	return map[string]string{
		"uk": "United Kingdom", "great britain": "United Kingdom", "britain": "United Kingdom",
		"england": "United Kingdom", "scotland": "United Kingdom", "wales": "United Kingdom",
		"northern ireland": "United Kingdom", "usa": "United States", "us": "United States",
		"america": "United States", "united states of america": "United States", "holland": "Netherlands",
		"the netherlands": "Netherlands", "czech republic": "Czechia", "turkiye": "Turkey",
		"uae": "United Arab Emirates", "emirates": "United Arab Emirates", "korea": "South Korea",
		"suomi": "Finland", "bosnia": "Bosnia and Herzegovina", "macedonia": "North Macedonia",
		"burma": "Myanmar", "cote d ivoire": "Ivory Coast", "viet nam": "Vietnam", "eire": "Ireland",
		"russian federation": "Russia", "espana": "Spain", "italia": "Italy", "deutschland": "Germany",
	}
}
