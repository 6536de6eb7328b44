// Package places knows the airports that the trip planner can plan between.
//
// The table in airports.csv was compiled for this example from public, uncopyrightable facts of the kind that the
// public-domain OurAirports collection gathers: IATA code, city served, country, position in decimal degrees and
// IANA time zone. A city's first line in the table is its main airport: the one that the city's name stands for.
//
// Everything here is pure and safe for concurrent use.
package places

import (
	"math"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a machine without a zone database still knows every airport's local time
)

// Airport is one commercial airport.
type Airport struct {
	Code      string  // IATA code, three capital letters
	City      string  // the city served, in its usual English spelling
	Country   string  // the country's usual English name
	Latitude  float64 // degrees, north is positive
	Longitude float64 // degrees, east is positive
	Zone      string  // IANA time zone, for example "Europe/Helsinki"
}

// String returns the city and the code, as in "Helsinki (HEL)".
func (a Airport) String() string { return a.City + " (" + a.Code + ")" }

// Location returns the airport's time zone. Every airport of the table has one; for an airport made by hand with an
// unknown zone it is UTC.
func (a Airport) Location() *time.Location {
	if l, err := time.LoadLocation(a.Zone); err == nil {
		return l
	}
	return time.UTC
}

// SameCity reports whether both airports serve one city.
func (a Airport) SameCity(b Airport) bool { return a.City == b.City && a.Country == b.Country }

// All returns every airport, in the order of the table: a city's main airport before its others.
func All() []Airport { return slices.Clone(table().airports) }

// ByCode returns the airport with an IATA code, in any letter case.
func ByCode(code string) (Airport, bool) {
	a, ok := table().codes[strings.ToUpper(code)]
	return a, ok
}

// ByCity returns the airports of every city with that name, main airports first within their city. Letter case,
// accents and punctuation do not matter, and common other names are known: München, NYC, Lisboa. An unknown name
// gives none.
func ByCity(name string) []Airport {
	t := table()
	var all []Airport
	for _, head := range t.names[Fold(name)].heads {
		for _, a := range t.airports {
			if a.SameCity(head) {
				all = append(all, a)
			}
		}
	}
	return all
}

// InCountry returns the main airport of each city in a country, given by its English name or a common other one
// ("UK", "Holland", "USA"). An unknown country gives none.
func InCountry(name string) []Airport { return slices.Clone(table().countries[Fold(name)]) }

// earthRadius is the mean radius R1 of the GRS 80 ellipsoid, in kilometres.
const earthRadius = 6371.0088

// Distance returns the great-circle distance between two airports in kilometres (haversine formula).
func Distance(a, b Airport) float64 {
	const degree = math.Pi / 180
	lat := math.Sin((b.Latitude - a.Latitude) * degree / 2)
	lon := math.Sin((b.Longitude - a.Longitude) * degree / 2)
	h := lat*lat + math.Cos(a.Latitude*degree)*math.Cos(b.Latitude*degree)*lon*lon
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}
