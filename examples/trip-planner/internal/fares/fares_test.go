package fares_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/examples/trip-planner/internal/fares"
	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

func airport(code string) places.Airport {
	a, _ := places.ByCode(code)
	return a
}

func day(iso string) fares.Date {
	d, err := fares.ParseDate(iso)
	if err != nil {
		panic(err)
	}
	return d
}

func ExampleFlights() {
	f := fares.Flights(airport("HEL"), airport("LIS"), day("2026-03-12"), 2)[0]
	fmt.Println(f.ID, f.Departs, f.Arrives, f.Minutes, f.Total == 2*f.Price)
	// Output: AY325-20260312 2026-03-12T06:15:00+02:00 2026-03-12T08:50:00Z 275 true
}

func ExampleHotels() {
	h := fares.Hotels("Lisbon", day("2026-03-12"), day("2026-03-16"), 3)[0]
	fmt.Println(h.ID, h.Stars, h.Rooms, h.Total == 2*4*h.Night)
	// Output: lisbon-station-rooms 2 2 true
}

func ExampleSoldOut() {
	fmt.Println(fares.SoldOut("Lisbon", time.March), fares.SoldOut("Copenhagen", time.June))
	// Output: false true
}

func drawDay(t *rapid.T) fares.Date {
	return day("2026-01-01").AddDays(rapid.IntRange(0, 1000).Draw(t, "day"))
}

func TestFlightOffersFollowFromTheQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.SampledFrom(places.All())
		from, to, on, party := pick.Draw(t, "from"), pick.Draw(t, "to"), drawDay(t), rapid.IntRange(1, 9).Draw(t, "party")
		offers := fares.Flights(from, to, on, party)
		if !reflect.DeepEqual(offers, fares.Flights(from, to, on, party)) {
			t.Fatal("two answers to one question")
		}
		km := places.Distance(from, to)
		if near := from.SameCity(to) || km < fares.NearestFlight; near || len(offers) < 3 || len(offers) > 5 {
			if near && len(offers) == 0 {
				return
			}
			t.Fatalf("%d offers over %.0f km", len(offers), km)
		}
		ids := map[string]bool{}
		for _, f := range offers {
			leaves, err1 := time.Parse(time.RFC3339, f.Departs)
			arrives, err2 := time.Parse(time.RFC3339, f.Arrives)
			if err1 != nil || err2 != nil || arrives.Sub(leaves) != time.Duration(f.Minutes)*time.Minute {
				t.Fatalf("%+v: %v %v", f, err1, err2)
			}
			if want := 30 + km/830*60; float64(f.Minutes) < want-3 || float64(f.Minutes) > want+3 {
				t.Fatalf("%d minutes for %.0f km, want %.0f", f.Minutes, km, want)
			}
			_, offset := leaves.Zone()
			if _, want := leaves.In(from.Location()).Zone(); offset != want || !strings.HasPrefix(f.Departs, on.String()) {
				t.Fatalf("%+v does not leave at a local time of %s on %s", f, from.Zone, on)
			}
			if f.Price < 2000 || f.Price > 300000 || f.Total != f.Price*int64(party) || ids[f.ID] || f.From != from.Code || f.To != to.Code {
				t.Fatalf("%+v", f)
			}
			ids[f.ID] = true
		}
	})
}

func TestAFarFlightCostsMoreThanANearOne(t *testing.T) {
	mean := func(to string) int64 {
		var sum int64
		for d := range 60 {
			offers := fares.Flights(airport("HEL"), airport(to), day("2026-03-01").AddDays(d), 1)
			for _, f := range offers {
				sum += f.Price / int64(len(offers))
			}
		}
		return sum
	}
	if near, mid, far := mean("TLL"), mean("LIS"), mean("SYD"); near >= mid || mid >= far {
		t.Fatalf("Tallinn %d, Lisbon %d, Sydney %d", near, mid, far)
	}
}

func TestNobodyFliesWhereThereIsNoTrip(t *testing.T) {
	for name, n := range map[string]int{
		"within a city":    len(fares.Flights(airport("LHR"), airport("LGW"), day("2026-03-12"), 1)),
		"a few kilometres": len(fares.Flights(airport("BRU"), airport("CRL"), day("2026-03-12"), 1)),
		"nobody":           len(fares.Flights(airport("HEL"), airport("LIS"), day("2026-03-12"), 0)),
		"no date":          len(fares.Flights(airport("HEL"), airport("LIS"), fares.Date{}, 1)),
		"no night":         len(fares.Hotels("Lisbon", day("2026-03-12"), day("2026-03-12"), 1)),
		"backwards":        len(fares.Hotels("Lisbon", day("2026-03-12"), day("2026-03-11"), 1)),
		"no guest":         len(fares.Hotels("Lisbon", day("2026-03-12"), day("2026-03-13"), 0)),
		"a full month":     len(fares.Hotels("Copenhagen", day("2026-05-30"), day("2026-06-02"), 1)),
	} {
		if n != 0 {
			t.Errorf("%s: %d offers", name, n)
		}
	}
	if len(fares.Hotels("Copenhagen", day("2026-05-30"), day("2026-06-01"), 1)) == 0 {
		t.Error("the day of leaving is no night: May has rooms")
	}
}

func TestHotelOffersFollowFromTheQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		city, in, party := rapid.SampledFrom(places.All()).Draw(t, "airport").City, drawDay(t), rapid.IntRange(1, 9).Draw(t, "party")
		nights := rapid.IntRange(1, 30).Draw(t, "nights")
		offers := fares.Hotels(city, in, in.AddDays(nights), party)
		if !reflect.DeepEqual(offers, fares.Hotels(city, in, in.AddDays(nights), party)) {
			t.Fatal("two answers to one question")
		}
		full := fares.SoldOut(city, in.Month) || fares.SoldOut(city, in.AddDays(nights-1).Month)
		if full != (len(offers) == 0) || len(offers) > 5 {
			t.Fatalf("%d offers, sold out: %v", len(offers), full)
		}
		ids := map[string]bool{}
		for _, h := range offers {
			if h.Stars < 2 || h.Stars > 5 || h.Rooms != (party+1)/2 || h.Total != h.Night*int64(h.Rooms*nights) || h.Night < 2000 ||
				h.Name == "" || h.Note == "" || ids[h.ID] || strings.ContainsAny(h.ID, " %") {
				t.Fatalf("%+v", h)
			}
			ids[h.ID] = true
		}
	})
}

func TestAboutOneMonthInFortyIsSoldOut(t *testing.T) {
	full, all := 0, 0
	for _, a := range places.All() {
		for m := time.January; m <= time.December; m++ {
			all++
			if fares.SoldOut(a.City, m) {
				full++
			}
		}
	}
	if share := float64(full) / float64(all); share < 1.0/60 || share > 1.0/30 {
		t.Fatalf("%d of %d city months are sold out", full, all)
	}
}
