package trip

import (
	"context"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/fares"
	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// hotels is the agent that sells rooms.
func (w *World) hotelsAgent() *agent.Agent {
	return agent.New("hotels",
		agent.Handle(contract.SearchHotel, func(ctx context.Context, q contract.HotelQuery) (contract.HotelOffers, error) {
			if err := w.supplier(ctx); err != nil {
				return contract.HotelOffers{}, err
			}
			return w.searchHotels(q)
		}),
		agent.Handle(contract.BookHotel, func(ctx context.Context, o contract.HotelOrder) (contract.HotelBooking, error) {
			if err := w.supplier(ctx); err != nil {
				return contract.HotelBooking{}, err
			}
			found, err := w.searchHotels(o.HotelQuery)
			if err != nil {
				return contract.HotelBooking{}, err
			}
			for _, h := range found.Offers {
				if h.ID != o.Offer {
					continue
				}
				if h.Total != o.Total {
					return contract.HotelBooking{}, agent.Refuse(envelope.CodePermanent, priceChanged)
				}
				h.Note = "" // advertising has no place in a confirmation
				reference, err := w.reserve(ctx, "room")
				return contract.HotelBooking{Status: "booked", Reference: reference, Hotel: h, CheckIn: o.CheckIn, CheckOut: o.CheckOut}, err
			}
			return contract.HotelBooking{}, agent.Refuse(envelope.CodePermanent, unknownOffer)
		}))
}

func (w *World) searchHotels(q contract.HotelQuery) (contract.HotelOffers, error) {
	var none contract.HotelOffers
	near, ok := places.ByCode(q.Near)
	if !ok {
		return none, agent.Refuse(envelope.CodePermanent, unknownPlace)
	}
	in, err := fares.ParseDate(q.CheckIn)
	if err != nil {
		return none, agent.Refuse(envelope.CodeValidation, "date")
	}
	out, err := fares.ParseDate(q.CheckOut)
	if err != nil || !in.Before(out) {
		return none, agent.Refuse(envelope.CodeValidation, "date")
	}
	var offers contract.HotelOffers
	for _, h := range fares.Hotels(near.City, in, out, q.Guests) {
		note := agent.Text(h.Note)
		if w.faults.Injection {
			note = injection
		}
		offers.Offers = append(offers.Offers, contract.HotelOffer{ID: h.ID, Name: agent.Text(h.Name), Stars: h.Stars,
			Rooms: h.Rooms, Total: h.Total, Note: note})
	}
	if len(offers.Offers) == 0 {
		return none, agent.Fail(envelope.CodePermanent, noAvailability)
	}
	return offers, nil
}
