package places_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

func ExampleResolve() {
	for _, text := range []string{"lisboa", "HEL", "Helsinky", "Heathrow", "San Jose", "Atlantis"} {
		m := places.Resolve(text)
		fmt.Println(text, m.Airport.Code, m.Candidates)
	}
	// Output:
	// lisboa LIS []
	// HEL HEL []
	// Helsinky HEL []
	// Heathrow LHR []
	// San Jose  [San Jose (SJC) San José (SJO)]
	// Atlantis  []
}

func ExampleDistance() {
	helsinki, _ := places.ByCode("HEL")
	lisbon, _ := places.ByCode("LIS")
	fmt.Printf("%.0f km\n", places.Distance(helsinki, lisbon))
	// Output: 3364 km
}

func TestEveryAirportIsWhole(t *testing.T) {
	all := places.All()
	if len(all) < 300 {
		t.Fatalf("%d airports, want at least 300", len(all))
	}
	code, seen := regexp.MustCompile(`^[A-Z]{3}$`), map[string]bool{}
	for _, a := range all {
		if !code.MatchString(a.Code) || seen[a.Code] {
			t.Errorf("%v: code is not three capitals, or is there twice", a)
		}
		seen[a.Code] = true
		if _, err := time.LoadLocation(a.Zone); err != nil || a.Zone == "" {
			t.Errorf("%v: %v", a, err)
		}
		if a.City == "" || a.Country == "" || math.Abs(a.Latitude) > 90 || math.Abs(a.Longitude) > 180 || a.Latitude == 0 {
			t.Errorf("%+v lacks something", a)
		}
		// Clocks follow the sun to within a few hours: a wrong sign or zone shows here.
		_, offset := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC).In(a.Location()).Zone()
		if off := math.Abs(math.Remainder(float64(offset)/3600-a.Longitude/15, 24)); off > 3.2 {
			t.Errorf("%v: zone %s is %.1f hours off its longitude", a, a.Zone, off)
		}
		if got, ok := places.ByCode(strings.ToLower(a.Code)); !ok || got != a {
			t.Errorf("ByCode(%q) = %v", a.Code, got)
		}
		if m := places.Lookup(a.Code); m.Kind != places.Code || m.Airport != a {
			t.Errorf("Lookup(%q) = %v", a.Code, m)
		}
		if len(places.ByCity(a.City)) == 0 || len(places.InCountry(a.Country)) == 0 {
			t.Errorf("%v is not found by its city or country", a)
		}
	}
}

func TestACityOfSeveralAirportsStandsForItsMainOne(t *testing.T) {
	for city, want := range map[string]string{"London": "LHR", "paris": "CDG", "NEW YORK": "JFK", "nyc": "JFK", "Milano": "MXP",
		"Tokyo": "HND", "Rome": "FCO", "Berlin": "BER", "Bangkok": "BKK", "Washington, D.C.": "IAD", "Saigon": "SGN",
		"st petersburg": "LED", "Saint-Petersburg": "LED", "Xian": "XIY", "St. John’s": "YYT", "Muenchen": "MUC", "Mu\u0308nchen": "MUC",
		"Köln": "CGN", "Goteborg": "GOT", "LISBOA": "LIS", "Roma": "FCO", "Kobenhavn": "CPH", "København": "CPH", "Wien": "VIE", "Praha": "PRG",
		"Warszawa": "WAW", "Goa": "GOI", "Åbo": "TKU"} {
		m := places.Resolve(city)
		if m.Kind != places.City || m.Airport.Code != want {
			t.Errorf("Resolve(%q) = %v, want the city of %s", city, m, want)
		}
		if all := places.ByCity(city); len(all) == 0 || all[0].Code != want {
			t.Errorf("ByCity(%q) = %v, want %s first", city, all, want)
		}
	}
	if n := len(places.ByCity("London")); n != 5 {
		t.Errorf("London has %d airports, want 5", n)
	}
}

func TestACodeIsNeverGuessed(t *testing.T) {
	for _, text := range []string{"HEX", "XEL", "HE", "HELL", "", "Ols", "Lxx", "?", "Helsinkkyy", "Narnia", strings.Repeat("x", 1000)} {
		if m := places.Resolve(text); m.Kind != places.None {
			t.Errorf("Resolve(%q) = %v, want nothing", text, m)
		}
	}
	if m := places.Resolve("GOA"); m.Airport.Code != "GOA" {
		t.Errorf("Resolve(GOA) = %v, want the code", m)
	}
}

func TestOneWrongLetterIsForgivenIfOnlyOnePlaceIsMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(places.All()).Draw(t, "airport")
		letters := []rune(places.Fold(a.City))
		if len(letters) < 5 {
			t.Skip("too short")
		}
		i := rapid.IntRange(1, len(letters)-2).Draw(t, "at")
		r := rapid.RuneFrom([]rune("qxz")).Draw(t, "letter")
		typo := map[int]string{
			0: string(letters[:i]) + string(letters[i+1:]),
			1: string(letters[:i]) + string(r) + string(letters[i:]),
			2: string(letters[:i]) + string(r) + string(letters[i+1:]),
			3: string(letters[:i]) + string(letters[i+1]) + string(letters[i]) + string(letters[i+2:]),
		}[rapid.IntRange(0, 3).Draw(t, "kind")]
		m := places.Resolve(typo)
		found := m.Airport.SameCity(a)
		for _, c := range m.Candidates {
			found = found || c.SameCity(a)
		}
		if exact := places.Lookup(typo).Kind != places.None; !found && !exact {
			t.Fatalf("Resolve(%q) = %v, want %v", typo, m, a)
		}
	})
}

func TestDistanceIsAMetricOnTheSphere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.SampledFrom(places.All())
		a, b, c := pick.Draw(t, "a"), pick.Draw(t, "b"), pick.Draw(t, "c")
		ab := places.Distance(a, b)
		if ab != places.Distance(b, a) || places.Distance(a, a) != 0 || ab > 20016 || ab > places.Distance(a, c)+places.Distance(c, b)+1e-6 {
			t.Fatalf("distance %v to %v is %f", a, b, ab)
		}
	})
}

func TestACountryIsKnownByItsOtherNames(t *testing.T) {
	for name, want := range map[string]string{"UK": "LHR", "usa": "JFK", "Holland": "AMS", "Portugal": "LIS", "Türkiye": "IST"} {
		if all := places.InCountry(name); len(all) == 0 || all[0].Code != want {
			t.Errorf("InCountry(%q) = %v, want %s first", name, all, want)
		}
	}
	if all := places.InCountry("Narnia"); len(all) != 0 {
		t.Errorf("InCountry(Narnia) = %v", all)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"", "Lisbon", "San Jose", "\xff\x00", "Mu\u0308nchen", "St. John's", "ﬃ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := places.Resolve(text)
		if folded := places.Fold(text); places.Fold(folded) != folded {
			t.Fatalf("%q folds to %q, which folds to %q", text, folded, places.Fold(folded))
		}
		if known := m.Airport.Code != ""; known != (m.Kind != places.None && m.Kind != places.Ambiguous) || (m.Kind == places.Ambiguous) != (len(m.Candidates) > 1) {
			t.Fatalf("Resolve(%q) = %+v", text, m)
		}
	})
}
