package fares

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// Flight is one offer: a direct flight for the whole party.
type Flight struct {
	ID      string // carrier, number and day, as in "AY121-20260312"; unique among the offers of one search
	Carrier string // IATA code of the airline
	Number  string // carrier and number, as in "AY121"
	From    string // IATA code of the airport
	To      string // IATA code of the airport
	Departs string // local time with its zone offset, RFC 3339
	Arrives string // local time with its zone offset, RFC 3339
	Minutes int    // from gate to gate
	Price   int64  // euro cents for one traveller
	Total   int64  // euro cents for the party
}

// NearestFlight is the distance in kilometres below which nobody flies.
const NearestFlight = 80

const (
	taxi   = 30 * time.Minute // both ends together
	cruise = 830.0            // km/h
)

// Flights returns three to five offers for a day, by time of departure. There are none within a city, below
// NearestFlight, for an empty party or on an impossible date. A price follows distance, weekday and season, not how
// far away the day is.
func Flights(from, to places.Airport, day Date, party int) []Flight {
	km := places.Distance(from, to)
	if from.SameCity(to) || km < NearestFlight || party < 1 || !day.Valid() {
		return nil
	}
	carriers := carriersBetween(from, to)
	hours := []int{6, 9, 12, 15, 18, 21}
	d := throw("flights", from.Code, to.Code, day.String())
	offers := make([]Flight, 0, 5)
	for n := d.between(3, 5); len(offers) < n; {
		slot := d.next(len(hours))
		hour := hours[slot]
		hours = slices.Delete(hours, slot, slot+1)
		offers = append(offers, flight(from, to, day, party, km, carriers, hour))
	}
	slices.SortFunc(offers, func(a, b Flight) int { return cmp.Compare(a.Departs, b.Departs) })
	return offers
}

// flight is the offer that leaves in one hour of the day. Carrier, number and minute belong to the timetable, so they
// are the same every day.
func flight(from, to places.Airport, day Date, party int, km float64, carriers []string, hour int) Flight {
	timetable := throw("timetable", from.Code, to.Code, digits(hour))
	carrier := carriers[timetable.next(len(carriers))]
	number := fmt.Sprintf("%s%d", carrier, 100+hour/3*100+timetable.next(100)) // each hour has numbers of its own
	block := (taxi + time.Duration(km/cruise*float64(time.Hour))).Round(5 * time.Minute)
	leaves := time.Date(day.Year, day.Month, day.Day, hour, timetable.next(12)*5, 0, 0, from.Location())
	mood := 0.85 + float64(throw("fare", number, day.String()).next(41))/100
	price := roundCents(fare(km) * weekday(day) * season(day) * mood)
	return Flight{
		ID: number + "-" + strings.ReplaceAll(day.String(), "-", ""), Carrier: carrier, Number: number,
		From: from.Code, To: to.Code,
		Departs: leaves.Format(time.RFC3339), Arrives: leaves.Add(block).In(to.Location()).Format(time.RFC3339),
		Minutes: int(block.Minutes()), Price: price, Total: price * int64(party),
	}
}

// fare is the usual price in cents: a fixed part, then less for each further kilometre.
func fare(km float64) float64 {
	return 3500 + 5*min(km, 1500) + 3.4*max(0, min(km, 6000)-1500) + 3*max(0, km-6000)
}

func weekday(day Date) float64 {
	switch day.Weekday() {
	case time.Friday, time.Sunday:
		return 1.2
	case time.Tuesday, time.Wednesday:
		return 0.9
	}
	return 1
}

func season(day Date) float64 {
	switch day.Month {
	case time.July, time.August, time.December:
		return 1.25
	case time.June, time.September:
		return 1.1
	case time.January, time.February, time.November:
		return 0.9
	}
	return 1
}

// carriersBetween returns airlines of the two countries and some that fly everywhere.
func carriersBetween(from, to places.Airport) []string {
	home := map[string]string{
		"Finland": "AY", "Sweden": "SK", "Norway": "DY", "Denmark": "SK", "Iceland": "FI", "Estonia": "BT", "Latvia": "BT",
		"United Kingdom": "BA", "Ireland": "EI", "Netherlands": "KL", "Belgium": "SN", "Luxembourg": "LG", "France": "AF",
		"Germany": "LH", "Switzerland": "LX", "Austria": "OS", "Poland": "LO", "Portugal": "TP", "Spain": "IB",
		"Italy": "AZ", "Malta": "KM", "Greece": "A3", "Croatia": "OU", "Serbia": "JU", "Bulgaria": "FB", "Romania": "RO",
		"Turkey": "TK", "Israel": "LY", "Jordan": "RJ", "Qatar": "QR", "United Arab Emirates": "EK",
		"Saudi Arabia": "SV", "India": "AI", "Thailand": "TG", "Vietnam": "VN", "Malaysia": "MH", "Singapore": "SQ",
		"Indonesia": "GA", "Philippines": "PR", "Hong Kong": "CX", "Taiwan": "CI", "China": "MU", "Japan": "NH",
		"South Korea": "KE", "Egypt": "MS", "Morocco": "AT", "Ethiopia": "ET", "Kenya": "KQ", "South Africa": "SA",
		"United States": "UA", "Canada": "AC", "Mexico": "AM", "Panama": "CM", "Colombia": "AV", "Brazil": "LA",
		"Argentina": "AR", "Chile": "LA", "Australia": "QF", "New Zealand": "NZ", "Fiji": "FJ",
	}
	var all []string
	for _, country := range []string{from.Country, to.Country} {
		if c, ok := home[country]; ok && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		all = []string{"LH", "AF"}
	}
	return all
}
