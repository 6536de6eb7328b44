package rules

import (
	"cmp"
	"fmt"
	"slices"

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

// cheapest takes the lowest price; among equals the earlier flight and the
// better hotel.
func cheapest(flights contract.FlightOffers, hotels contract.HotelOffers) choice {
	c := choice{flight: slices.MinFunc(flights.Offers, func(a, b contract.FlightOffer) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.Departs, b.Departs), cmp.Compare(a.ID, b.ID))
	})}
	if len(hotels.Offers) > 0 {
		h := slices.MinFunc(hotels.Offers, func(a, b contract.HotelOffer) int {
			return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(b.Stars, a.Stars), cmp.Compare(a.ID, b.ID))
		})
		c.hotel = &h
	}
	return c
}

func euros(cents int64) string { return fmt.Sprintf("€%d.%02d", cents/100, cents%100) }
