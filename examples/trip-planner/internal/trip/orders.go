package trip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// What the planner's model may do with other people's money is not left to its
// prompt: it is offered the booking functions only when the traveller has
// confirmed, it may order one flight and one hotel, and a plan that says
// "booked" must name the bookings that were made.

// isOrder reports whether a function or contract of that name books.
func isOrder(name string) bool { return strings.Contains(name, "book") }

// confirmed reports whether the traveller of the work said that it may book.
func confirmed(ctx context.Context) bool {
	work, ok := agent.Current(ctx)
	var r contract.PlanRequest
	return ok && json.Unmarshal(work.Input, &r) == nil && r.Confirmed
}

// offerOrders offers the booking functions to confirmed work only.
func offerOrders(ctx context.Context, function string) bool {
	return !isOrder(function) || confirmed(ctx)
}

// orders are what was ordered so far, by conversation and contract.
type orders struct {
	mu   sync.Mutex
	made map[string]string
}

// act lets an order pass if the traveller confirmed it and nothing else of its
// kind was ordered in the conversation.
func (o *orders) act(ctx context.Context, a agent.Act, next func(context.Context, agent.Act) error) error {
	if a.Performative != envelope.Request || !isOrder(a.Contract) {
		return next(ctx, a)
	}
	if !confirmed(ctx) {
		return agent.Refuse(envelope.CodeAuth, "not-confirmed")
	}
	work, _ := agent.Current(ctx)
	if !o.first(work.Conversation+" "+a.Contract, string(a.Content)) {
		return agent.Refuse(envelope.CodePermanent, "ordered-already")
	}
	return next(ctx, a)
}

// first reports whether nothing, or the very same, was ordered under the name.
func (o *orders) first(name, content string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.made[name]; ok {
		return before == content
	}
	if o.made == nil {
		o.made = map[string]string{}
	}
	o.made[name] = content
	return true
}

// checkPlan holds a plan to its status and to what was really booked.
func (w *World) checkPlan(ctx context.Context, p contract.Plan) error {
	switch {
	case p.Status == "needs-input" && p.Question == "":
		return errors.New("status needs-input goes with a question")
	case p.Status != "needs-input" && p.Question != "":
		return fmt.Errorf("status %s goes without a question", p.Status)
	case p.Status != "booked" && p.Itinerary != nil:
		return fmt.Errorf("status %s goes without an itinerary", p.Status)
	case p.Status == "booked" && p.Itinerary == nil:
		return errors.New("status booked goes with an itinerary")
	case p.Itinerary == nil:
		return nil
	}
	flights, hotels, err := w.booked(ctx)
	if err != nil {
		return err
	}
	i := p.Itinerary
	total := i.Flight.Flight.Total
	if i.Hotel != nil {
		total += i.Hotel.Hotel.Total
	}
	switch {
	case len(flights) != 1 || !reflect.DeepEqual(i.Flight, flights[0]):
		return errors.New("the itinerary's flight is not the booking that the flights agent confirmed")
	case i.Hotel == nil && len(hotels) > 0, i.Hotel != nil && (len(hotels) != 1 || !reflect.DeepEqual(*i.Hotel, hotels[0])):
		return errors.New("the itinerary's hotel is not the booking that the hotels agent confirmed")
	case i.Total != total:
		return fmt.Errorf("the total is not the sum of flight and hotel, %d", total)
	}
	return nil
}

// booked are the bookings that were confirmed to the work that ctx belongs to.
func (w *World) booked(ctx context.Context) (flights []contract.FlightBooking, hotels []contract.HotelBooking, err error) {
	work, ok := agent.Current(ctx)
	if !ok {
		return nil, nil, errors.New("not called inside a handler")
	}
	s := w.planner.Store()
	parent := store.Key{Owner: plannerURI, Conversation: work.Conversation, Peer: work.Sender}
	children, err := s.Children(ctx, parent)
	if err != nil {
		return nil, nil, fmt.Errorf("reading what was ordered: %w", err)
	}
	for _, x := range children {
		name := strings.TrimPrefix(x.State.Capability, "urn:cap:")
		if x.State.Outcome() != protocol.OK || !isOrder(name) {
			continue
		}
		var flight contract.FlightBooking
		var hotel contract.HotelBooking
		switch name {
		case contract.BookFlight.Name().String():
			err = w.read(ctx, x.Key, store.Received, x.Final, &flight)
			flights = append(flights, flight)
		case contract.BookHotel.Name().String():
			err = w.read(ctx, x.Key, store.Received, x.Final, &hotel)
			hotels = append(hotels, hotel)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return flights, hotels, nil
}
