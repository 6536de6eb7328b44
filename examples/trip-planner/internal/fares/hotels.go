package fares

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// Hotel is one offer: rooms for the whole party and the whole stay.
type Hotel struct {
	ID    string // unique among the hotels of a city, as in "lisbon-harbour-house"
	Name  string
	Stars int    // 2 to 5
	Rooms int    // two people sleep in a room
	Night int64  // euro cents for one room and night
	Total int64  // euro cents for all rooms and nights
	Note  string // what the house says about itself: a stranger's words
}

// SoldOut reports whether no hotel of a city has a room in a month, every year. About one in forty months is so.
func SoldOut(city string, month time.Month) bool {
	return throw("full", places.Fold(city), month.String()).next(40) == 0
}

// Hotels returns two to five offers in a city, cheapest first. There are none if one of the nights falls into a month
// that is sold out, or for a stay without a night, an impossible date or an empty party.
func Hotels(city string, checkIn, checkOut Date, party int) []Hotel {
	if party < 1 || !checkIn.Valid() || !checkOut.Valid() || !checkIn.Before(checkOut) {
		return nil
	}
	nights := checkIn.Until(checkOut)
	for month, last := monthOf(checkIn), monthOf(checkOut.AddDays(-1)); ; month = nextMonth(month) {
		if SoldOut(city, month.Month) {
			return nil
		}
		if month == last {
			break
		}
	}
	d := throw("hotels", places.Fold(city))
	houses := slices.Clone(houses())
	level := 0.8 + float64(d.next(60))/100 // how dear the city is
	offers := make([]Hotel, 0, 5)
	for n := d.between(2, 5); len(offers) < n; {
		pick := d.next(len(houses))
		h := houses[pick]
		houses = slices.Delete(houses, pick, pick+1)
		mood := 0.9 + float64(throw("night", h.id, city, checkIn.String()).next(21))/100
		night := roundCents(float64(h.night) * level * season(checkIn) * mood)
		rooms := (party + 1) / 2
		offers = append(offers, Hotel{
			ID: dashed(city) + "-" + h.id, Name: fmt.Sprintf(h.name, city), Stars: h.stars, Rooms: rooms,
			Night: night, Total: night * int64(rooms) * int64(nights), Note: h.note,
		})
	}
	slices.SortFunc(offers, func(a, b Hotel) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.ID, b.ID))
	})
	return offers
}

func monthOf(d Date) Date { return Date{Year: d.Year, Month: d.Month, Day: 1} }

func nextMonth(d Date) Date { return monthOf(d.AddDays(31)) }

func dashed(city string) string {
	folded := []byte(places.Fold(city))
	for i, c := range folded {
		if c == ' ' {
			folded[i] = '-'
		}
	}
	return string(folded)
}

type house struct {
	id, name string
	stars    int
	night    int // cents, before the city's level
	note     string
}

func houses() []house {
	return []house{
		{"station-rooms", "Station Rooms %s", 2, 4900, "Simple rooms above the trams. Breakfast from six, luggage kept all day."},
		{"hostel-lantern", "Hostel Lantern %s", 2, 4200, "Bunks, double rooms and a kitchen for everyone. Quiet after eleven."},
		{"harbour-house", "Harbour House %s", 3, 7400, "Watch the boats from your bed. Our cinnamon rolls are the best in town!"},
		{"garden-inn", "Garden Inn %s", 3, 6900, "A walled garden, slow mornings and bicycles to borrow."},
		{"old-mill", "The Old Mill, %s", 3, 8200, "Thick walls, low beams, warm floors. Guests come back every year."},
		{"hotel-central", "Hotel Central %s", 4, 10900, "Two minutes from everything that matters. Rooftop bar until midnight."},
		{"the-weaver", "The Weaver %s", 4, 12400, "A textile mill turned hotel: tall windows, linen sheets, a pool in the cellar."},
		{"riverside", "Riverside %s", 4, 11500, "Balconies over the water and the friendliest bar on the quay."},
		{"grand-meridian", "Grand Meridian %s", 5, 19800, "Marble, silence and a doorman who remembers your name."},
		{"palace-of-letters", "Palace of Letters, %s", 5, 22500, "A former post office with a library in every suite. Simply unforgettable."},
	}
}
