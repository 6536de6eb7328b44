package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
)

// choice is a flight and, if there are nights, a hotel.
type choice struct {
	flight contract.FlightOffer
	hotel  *contract.HotelOffer
}

func (c choice) total() int64 {
	if c.hotel == nil {
		return c.flight.Total
	}
	return c.flight.Total + c.hotel.Total
}

// cheapestFlight takes the lowest price; among equals a flight that arrives on
// the day it departs, then the earlier one.
func cheapestFlight(flights contract.FlightOffers) contract.FlightOffer {
	return slices.MinFunc(flights.Offers, func(a, b contract.FlightOffer) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(overnight(a), overnight(b)), cmp.Compare(a.Departs, b.Departs), cmp.Compare(a.ID, b.ID))
	})
}

// cheapestHotel takes the lowest price; among equals the better hotel.
func cheapestHotel(hotels contract.HotelOffers) *contract.HotelOffer {
	h := slices.MinFunc(hotels.Offers, func(a, b contract.HotelOffer) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(b.Stars, a.Stars), cmp.Compare(a.ID, b.ID))
	})
	return &h
}

// overnight is 1 for a flight that arrives on another day than it departs, by
// the local calendars, and 0 for any other.
func overnight(f contract.FlightOffer) int {
	if localDay(f.Departs) == localDay(f.Arrives) {
		return 0
	}
	return 1
}

// arrival is the local day on which a flight arrives, or the day of departure
// if its times cannot be read.
func arrival(f contract.FlightOffer, departure calendar.Date) calendar.Date {
	d, err := calendar.ParseDate(localDay(f.Arrives))
	if err != nil {
		return departure
	}
	return d
}

func localDay(moment string) string {
	day, _, _ := strings.Cut(moment, "T")
	return day
}

func euros(cents int64) string { return fmt.Sprintf("€%d.%02d", cents/100, cents%100) }

// offered names the choice for the traveller to accept.
func (c choice) offered() *contract.Offered {
	o := &contract.Offered{Flight: c.flight.ID, FlightCents: c.flight.Total}
	if c.hotel != nil {
		o.Hotel, o.HotelCents = c.hotel.ID, c.hotel.Total
	}
	return o
}
