package trip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
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

// confirmed is the traveller's request that the work of ctx is about, if he
// said that it may book. Nobody else can say so.
func (w *World) confirmed(ctx context.Context) (r contract.PlanRequest, ok bool) {
	work, ok := agent.Current(ctx)
	ok = ok && work.Sender == w.traveller.URI() && json.Unmarshal(work.Input, &r) == nil && r.Confirmed
	return r, ok
}

// offerOrders offers the booking functions to confirmed work only, and asking
// the traveller to other work only: an answer changes the trip, and what was
// confirmed was another one.
func (w *World) offerOrders(ctx context.Context, function string) bool {
	if !isOrder(function) && function != askBack {
		return true
	}
	_, ok := w.confirmed(ctx)
	return ok == isOrder(function)
}

// orders are what is being ordered, by conversation and contract; what
// was ordered is in the planner's log.
type orders struct {
	mu   sync.Mutex
	made map[string]string
}

// order lets an order pass if the traveller confirmed it, it is what he
// accepted, and nothing else of its kind was ordered for the trip.
func (w *World) order(ctx context.Context, a agent.Act, next func(context.Context, agent.Act) error) error {
	if a.Performative != envelope.Request || !isOrder(a.Contract) {
		return next(ctx, a)
	}
	r, ok := w.confirmed(ctx)
	if !ok {
		return agent.Refuse(envelope.CodeAuth, "not-confirmed")
	}
	if r.Accepted != nil && !accepts(*r.Accepted, a) {
		return agent.Refuse(envelope.CodeAuth, "not-what-was-accepted")
	}
	work, _ := agent.Current(ctx)
	alone, err := w.alone(ctx, work, a)
	if err != nil {
		return err
	}
	if !alone {
		return agent.Refuse(envelope.CodePermanent, "ordered-already")
	}
	return next(ctx, a)
}

// accepts reports whether an order is for the offer that was accepted.
func accepts(o contract.Offered, a agent.Act) bool {
	var order struct {
		Offer string `json:"offer"`
		Total int64  `json:"total_cents"`
	}
	if json.Unmarshal(a.Content, &order) != nil {
		return false
	}
	if a.Contract == contract.BookFlight.Name().String() {
		return order.Offer == o.Flight && order.Total == o.FlightCents
	}
	return order.Offer == o.Hotel && order.Total == o.HotelCents
}

// alone reports whether no other order of the kind was placed for the trip,
// in this conversation or an earlier one, that is or may be booked.
func (w *World) alone(ctx context.Context, work agent.Work, a agent.Act) (bool, error) {
	w.orders.mu.Lock()
	defer w.orders.mu.Unlock()
	xs, err := w.planner.Store().Correlated(ctx, plannerURI, work.Correlation)
	if err != nil {
		return false, fmt.Errorf("reading what was ordered: %w", err)
	}
	for _, x := range xs {
		if x.State.Capability != "urn:cap:"+a.Contract || x.State.Role != protocol.Initiator {
			continue
		}
		switch x.State.Outcome() {
		case protocol.Refused, protocol.Failed, protocol.Cancelled, protocol.Expired:
			continue
		}
		same, err := w.again(ctx, x, work, a)
		if err != nil || !same {
			return false, err
		}
	}
	// Two orders of one reply come at the same time: the log has neither yet.
	name := work.Conversation + " " + a.Contract
	if before, ok := w.orders.made[name]; ok && before != string(a.Content) {
		return false, nil
	}
	if w.orders.made == nil {
		w.orders.made = map[string]string{}
	}
	w.orders.made[name] = string(a.Content)
	return true, nil
}

// again reports whether an order is the one that was placed before: the same
// thing, for the same request of the traveller. It carries the same key then.
func (w *World) again(ctx context.Context, placed store.Exchange, work agent.Work, a agent.Act) (bool, error) {
	opening, err := w.message(ctx, placed.Key, store.Sent, placed.State.Opening)
	if err != nil || string(opening.Content()) != string(a.Content) {
		return false, err
	}
	if placed.Parent.Conversation == work.Conversation {
		return true, nil
	}
	parent, err := w.planner.Store().Exchange(ctx, placed.Parent)
	if err != nil {
		return false, fmt.Errorf("reading what was ordered: %w", err)
	}
	asked, err := w.message(ctx, placed.Parent, store.Received, parent.State.Opening)
	if err != nil {
		return false, err
	}
	return string(asked.Content()) == string(work.Input), nil
}

// checkPlan holds a plan to its status and to what was really booked.
func (w *World) checkPlan(ctx context.Context, p contract.Plan) error {
	flights, hotels, err := w.booked(ctx)
	if err != nil {
		return err
	}
	switch {
	case p.Status == "needs-input" && p.Question == "":
		return errors.New("status needs-input goes with a question")
	case p.Status != "needs-input" && (p.Question != "" || p.Offer != nil):
		return fmt.Errorf("status %s goes without a question or an offer", p.Status)
	case p.Status != "booked" && p.Itinerary != nil:
		return fmt.Errorf("status %s goes without an itinerary", p.Status)
	case p.Status == "booked" && p.Itinerary == nil:
		return errors.New("status booked goes with an itinerary")
	case p.Status == "booked":
		return checkItinerary(*p.Itinerary, flights, hotels)
	}
	// Whatever else it is, it must not hide what was booked.
	said := string(p.Question) + " " + string(p.Notes)
	for _, f := range flights {
		if !strings.Contains(said, f.Reference) {
			return fmt.Errorf("a flight is booked, reference %s: say so", f.Reference)
		}
	}
	for _, h := range hotels {
		if !strings.Contains(said, h.Reference) {
			return fmt.Errorf("a hotel is booked, reference %s: say so", h.Reference)
		}
	}
	return nil
}

// checkItinerary holds an itinerary to the bookings.
func checkItinerary(i contract.Itinerary, flights []contract.FlightBooking, hotels []contract.HotelBooking) error {
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

// booked are the bookings that were confirmed to the work that ctx belongs to,
// each once: the same order again was answered with the same booking.
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
			if !slices.Contains(flights, flight) {
				flights = append(flights, flight)
			}
		case contract.BookHotel.Name().String():
			err = w.read(ctx, x.Key, store.Received, x.Final, &hotel)
			if !slices.Contains(hotels, hotel) {
				hotels = append(hotels, hotel)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return flights, hotels, nil
}
