package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/sentence"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// plan plays the planner: understand, search, choose, ask or book.
func plan(r rehearsal.Request) (rehearsal.Reply, bool) {
	if _, ok := offered(r, contract.SearchFlight.Name().Input()); !ok {
		return rehearsal.Reply{}, false
	}
	var asked contract.PlanRequest
	for _, m := range r.Messages {
		if m.Role == rehearsal.User && data(m.Text) != nil {
			if err := json.Unmarshal(data(m.Text), &asked); err != nil {
				return rehearsal.Reply{}, false
			}
			break
		}
	}
	today, err := calendar.ParseDate(asked.Today)
	if err != nil {
		return rehearsal.Reply{}, false
	}
	p := planner{request: r, asked: asked}
	understood, answer := understand(asked, today)
	if !understood.Complete() {
		return ask(understood.Questions[0].Text)
	}
	p.trip, p.assumed = understood.Trip, understood.Assumed
	return p.next(answer)
}

// planner is one turn of the planning.
type planner struct {
	request rehearsal.Request
	asked   contract.PlanRequest
	trip    sentence.Trip
	assumed []string
}

// confirm is how the question begins that offers a booking.
const confirm = "Shall I book"

// answer is what the traveller said to an offer.
type answer int

const (
	silent answer = iota
	yes
	no
)

// understand reads the sentence and the answers after it. An answer to an
// offer decides about the offer; if it also changes the trip, the change
// counts and a new offer follows.
func understand(asked contract.PlanRequest, today calendar.Date) (sentence.Result, answer) {
	said := sentence.Parse(string(asked.Sentence), today)
	decided := silent
	for _, e := range asked.Earlier {
		decided = silent
		if strings.HasPrefix(string(e.Question), confirm) {
			if decided = decide(string(e.Answer)); decided != silent {
				continue
			}
		}
		said = sentence.Continue(said.Sentence, string(e.Question), string(e.Answer), today)
	}
	return said, decided
}

func decide(text string) answer {
	list := words(text)
	if len(list) == 0 {
		return silent
	}
	switch {
	case slices.Contains([]string{"no", "nope", "stop", "cancel", "not", "don"}, list[0]):
		return no
	case slices.Contains([]string{"yes", "y", "yeah", "ok", "okay", "sure", "please", "book", "do", "go"}, list[0]) && len(list) <= 5:
		return yes
	}
	return silent
}

// next is the planner's next step, by what it knows so far.
func (p *planner) next(said answer) (rehearsal.Reply, bool) {
	flight, searched := result(p.request, contract.SearchFlight.Name().Input())
	if !searched {
		return p.search()
	}
	hotel, searched := result(p.request, contract.SearchHotel.Name().Input())
	if p.wantsHotel() && !searched {
		return p.search()
	}
	if q := p.missing(flight, hotel); q != "" {
		return ask(q)
	}
	var flights contract.FlightOffers
	var hotels contract.HotelOffers
	if json.Unmarshal(flight.Result, &flights) != nil || p.wantsHotel() && json.Unmarshal(hotel.Result, &hotels) != nil {
		return rehearsal.Reply{}, false
	}
	choice := cheapest(flights, hotels)
	if p.trip.Budget > 0 && choice.total() > p.trip.Budget {
		return ask(sentence.Ask(sentence.Budget, "the cheapest %s is %s, which is more than %s", p.what(), euros(choice.total()), euros(p.trip.Budget)).Text)
	}
	booked, called := p.booked()
	switch {
	case called:
		return p.finish(booked)
	case said == no:
		return say(contract.Plan{Status: "failed", Notes: "Nothing was booked, as you wished."})
	case p.asked.Confirmed || said == yes:
		return p.book(choice)
	}
	return ask(p.offer(choice))
}

func ask(question string) (rehearsal.Reply, bool) {
	return say(contract.Plan{Status: "needs-input", Question: agent.Text(question)})
}

func (p *planner) wantsHotel() bool { return p.trip.Nights > 0 }

func (p *planner) what() string {
	if p.wantsHotel() {
		return "flight and hotel together"
	}
	return "flight"
}

func (p *planner) flightQuery() contract.FlightQuery {
	return contract.FlightQuery{From: p.trip.From.Code, To: p.trip.To.Code, Date: p.trip.Out.String(), Travellers: p.trip.Party}
}

func (p *planner) hotelQuery() contract.HotelQuery {
	return contract.HotelQuery{Near: p.trip.To.Code, CheckIn: p.trip.Out.String(), CheckOut: p.trip.Out.AddDays(p.trip.Nights).String(), Guests: p.trip.Party}
}

// search asks both suppliers in one reply.
func (p *planner) search() (rehearsal.Reply, bool) {
	var reply rehearsal.Reply
	if c, ok := call(p.request, contract.SearchFlight.Name().Input(), p.flightQuery()); ok {
		reply.Calls = append(reply.Calls, c)
	}
	if c, ok := call(p.request, contract.SearchHotel.Name().Input(), p.hotelQuery()); ok && p.wantsHotel() {
		reply.Calls = append(reply.Calls, c)
	}
	return reply, len(reply.Calls) > 0
}

// missing is the question to ask when a supplier has nothing, "" if both do.
func (p *planner) missing(flight, hotel outcome) string {
	day, to := p.trip.Out.Long(), p.trip.To
	switch {
	case !flight.ok():
		return sentence.Ask(sentence.When, "no flight from %s to %s on %s: %s. Another day?", p.trip.From, to, day, why(flight)).Text
	case p.wantsHotel() && !hotel.ok():
		return sentence.Ask(sentence.When, "no hotel in %s for %d nights from %s: %s. Another day?", to.City, p.trip.Nights, day, why(hotel)).Text
	}
	return ""
}

// why words an outcome that is not ok.
func why(o outcome) string {
	switch {
	case o.Reason == "no-availability":
		return "nothing is free"
	case o.Outcome == "unknown" || o.Outcome == "expired":
		return "there was no answer in time"
	case o.Reason != "":
		return o.Reason
	}
	return o.Outcome
}

// book orders in one reply what is not ordered yet, at the offered price.
func (p *planner) book(c choice) (rehearsal.Reply, bool) {
	var reply rehearsal.Reply
	order := func(schema string, args any) {
		if _, done := result(p.request, schema); done {
			return
		}
		if c, ok := call(p.request, schema, args); ok {
			reply.Calls = append(reply.Calls, c)
		}
	}
	order(contract.BookFlight.Name().Input(), contract.FlightOrder{FlightQuery: p.flightQuery(), Offer: c.flight.ID, Total: c.flight.Total})
	if c.hotel != nil {
		order(contract.BookHotel.Name().Input(), contract.HotelOrder{HotelQuery: p.hotelQuery(), Offer: c.hotel.ID, Total: c.hotel.Total})
	}
	return reply, len(reply.Calls) > 0
}

// bookings are what the two orders came to.
type bookings struct{ flight, hotel outcome }

func (p *planner) booked() (b bookings, called bool) {
	b.flight, called = result(p.request, contract.BookFlight.Name().Input())
	var hotel bool
	b.hotel, hotel = result(p.request, contract.BookHotel.Name().Input())
	return b, called && (hotel || !p.wantsHotel())
}

// finish tells what is booked, and what is not.
func (p *planner) finish(b bookings) (rehearsal.Reply, bool) {
	var it contract.Itinerary
	flown := b.flight.ok() && json.Unmarshal(b.flight.Result, &it.Flight) == nil
	var room contract.HotelBooking
	slept := b.hotel.ok() && json.Unmarshal(b.hotel.Result, &room) == nil
	switch {
	case flown && slept:
		it.Hotel, it.Total = &room, it.Flight.Flight.Total+room.Hotel.Total
	case flown && !p.wantsHotel():
		it.Total = it.Flight.Flight.Total
	case flown:
		return ask(fmt.Sprintf("The flight is booked (%s), but the hotel %s. What shall I do about the hotel?", it.Flight.Reference, unbooked(b.hotel)))
	case slept:
		return ask(fmt.Sprintf("The hotel is booked (%s), but the flight %s. What shall I do about the flight?", room.Reference, unbooked(b.flight)))
	case p.wantsHotel():
		return ask(fmt.Sprintf("The flight %s, and the hotel %s. Shall I look for something else?", unbooked(b.flight), unbooked(b.hotel)))
	default:
		return ask(fmt.Sprintf("The flight %s. Shall I look for something else?", unbooked(b.flight)))
	}
	return say(contract.Plan{Status: "booked", Itinerary: &it, Notes: agent.Text(strings.Join(p.assumed, "; "))})
}

// unbooked says of an order that brought no booking what is known about it.
// Without an answer nobody knows, and that is said.
func unbooked(o outcome) string {
	if o.Outcome == "unknown" {
		return "may be booked or not, since there was no answer in time"
	}
	return "is not booked: " + why(o)
}

// offer is the question that asks for the traveller's yes.
func (p *planner) offer(c choice) string {
	s := fmt.Sprintf("%s flight %s (%s to %s, departs %s)", confirm, c.flight.Number, c.flight.From, c.flight.To, c.flight.Departs)
	if c.hotel != nil {
		s += fmt.Sprintf(" and %d night(s) at %q", p.trip.Nights, string(c.hotel.Name))
	}
	s += fmt.Sprintf(" for %s in all, for %d?", euros(c.total()), p.trip.Party)
	if len(p.assumed) > 0 {
		s += " (" + strings.Join(p.assumed, "; ") + ")"
	}
	return s
}
