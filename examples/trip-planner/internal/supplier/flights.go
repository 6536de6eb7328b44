package supplier

import (
	"context"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/fares"
	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// The reasons that the suppliers give.
const (
	noAvailability = "no-availability"
	unknownPlace   = "unknown-place"
	unknownOffer   = "unknown-offer"
	priceChanged   = "price-changed"
)

// flights is the agent that sells seats.
func (s *supplier) flights() *agent.Agent {
	return agent.New(Flights,
		agent.Handle(contract.SearchFlight, func(ctx context.Context, q contract.FlightQuery) (contract.FlightOffers, error) {
			if err := s.work(ctx); err != nil {
				return contract.FlightOffers{}, err
			}
			return searchFlights(q)
		}),
		agent.Handle(contract.BookFlight, func(ctx context.Context, o contract.FlightOrder) (contract.FlightBooking, error) {
			if err := s.work(ctx); err != nil {
				return contract.FlightBooking{}, err
			}
			found, err := searchFlights(o.FlightQuery)
			if err != nil {
				return contract.FlightBooking{}, err
			}
			for _, f := range found.Offers {
				if f.ID != o.Offer {
					continue
				}
				if f.Total != o.Total {
					return contract.FlightBooking{}, agent.Refuse(envelope.CodePermanent, priceChanged)
				}
				reference, err := s.reserve(ctx, "seat")
				return contract.FlightBooking{Status: "booked", Reference: reference, Flight: f}, err
			}
			return contract.FlightBooking{}, agent.Refuse(envelope.CodePermanent, unknownOffer)
		}))
}

func searchFlights(q contract.FlightQuery) (contract.FlightOffers, error) {
	var none contract.FlightOffers
	from, ok := places.ByCode(q.From)
	to, ok2 := places.ByCode(q.To)
	if !ok || !ok2 {
		return none, agent.Refuse(envelope.CodePermanent, unknownPlace)
	}
	day, err := fares.ParseDate(q.Date)
	if err != nil {
		return none, agent.Refuse(envelope.CodeValidation, "date")
	}
	var out contract.FlightOffers
	for _, f := range fares.Flights(from, to, day, q.Travellers) {
		out.Offers = append(out.Offers, contract.FlightOffer{ID: f.ID, Number: f.Number, From: f.From, To: f.To,
			Departs: f.Departs, Arrives: f.Arrives, Total: f.Total})
	}
	if len(out.Offers) == 0 {
		return none, agent.Fail(envelope.CodePermanent, noAvailability)
	}
	return out, nil
}
