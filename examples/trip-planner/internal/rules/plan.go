package rules

import (
	"encoding/json"
	"fmt"
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
	r, open := heard(r, &asked)
	p := planner{request: r, asked: asked, open: open}
	understood, answer := understand(asked, today)
	if answer == sentence.No {
		return say(contract.Plan{Status: "failed", Notes: agent.Text(unwanted(asked))})
	}
	if !understood.Complete() {
		return p.ask(understood.Questions[0].Text)
	}
	p.trip, p.checkIn, p.assumed = understood.Trip, understood.Trip.Out, understood.Assumed
	return p.next(answer)
}

// planner is one turn of the planning.
type planner struct {
	request rehearsal.Request
	asked   contract.PlanRequest
	trip    sentence.Trip
	checkIn calendar.Date // the day the stay begins
	assumed []string
	// open: the traveller can be asked in this turn.
	open bool
}

// another is how the questions end that a plain no answers.
const another = "Another day?"

// understand reads the sentence and the answers after it. An answer to an
// offer decides about the offer; if it changes the trip instead, the change
// counts and a new offer follows. The decision is the last answer's: No if it
// calls the trip off.
func understand(asked contract.PlanRequest, today calendar.Date) (sentence.Result, sentence.Decision) {
	var answers []sentence.Answered
	decided := sentence.Neither
	for _, e := range asked.Earlier {
		question, answer := string(e.Question), string(e.Answer)
		decided = sentence.Decide(answer)
		offer := strings.HasPrefix(question, contract.Offer)
		if !offer && (decided == sentence.Yes || !refusable(question) && !sentence.Cancels(answer)) {
			decided = sentence.Neither
		}
		if decided == sentence.Neither {
			answers = append(answers, sentence.Answered{Question: question, Answer: answer})
		}
	}
	return sentence.Understand(string(asked.Sentence), answers, today), decided
}

// unwanted is what is said when the trip is called off: after an order only
// that nothing more was booked.
func unwanted(asked contract.PlanRequest) string {
	for _, e := range asked.Earlier {
		if q := string(e.Question); sentence.AboutOf(q) == "" && !strings.HasPrefix(q, contract.Offer) {
			return "Nothing more was booked, as you wished."
		}
	}
	return "Nothing was booked, as you wished."
}

// refusable reports whether "no" answers a question that is no offer.
func refusable(question string) bool {
	switch sentence.AboutOf(question) {
	case sentence.Budget, sentence.Currency, "":
		return true
	}
	return strings.HasSuffix(question, another)
}

// next is the planner's next step, by what it knows so far.
func (p *planner) next(said sentence.Decision) (rehearsal.Reply, bool) {
	flight, searched := result(p.request, contract.SearchFlight.Name().Input())
	if !searched {
		return p.search()
	}
	var flights contract.FlightOffers
	if !flight.ok() {
		return p.ask(p.noFlight(flight))
	}
	if json.Unmarshal(flight.Result, &flights) != nil || len(flights.Offers) == 0 {
		return rehearsal.Reply{}, false
	}
	best := choice{flight: cheapestFlight(flights)}
	if p.wantsHotel() {
		p.checkIn = arrival(best.flight, p.trip.Out)
		hotel, searched := p.hotels()
		if !searched {
			return p.search()
		}
		var hotels contract.HotelOffers
		if !hotel.ok() {
			return p.ask(p.noHotel(hotel))
		}
		if json.Unmarshal(hotel.Result, &hotels) != nil || len(hotels.Offers) == 0 {
			return rehearsal.Reply{}, false
		}
		best.hotel = cheapestHotel(hotels)
	}
	if p.trip.Budget > 0 && best.total() > p.trip.Budget {
		return p.ask(sentence.Ask(sentence.Budget, "the cheapest %s is %s, which is more than %s", p.what(), euros(best.total()), euros(p.trip.Budget)).Text)
	}
	booked, called := p.booked()
	switch {
	case called:
		return p.finish(booked)
	case p.asked.Confirmed || said == sentence.Yes:
		return p.book(best)
	}
	return say(contract.Plan{Status: "needs-input", Question: agent.Text(p.offer(best)), Offer: best.offered()})
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
	return contract.HotelQuery{Near: p.trip.To.Code, CheckIn: p.checkIn.String(), CheckOut: p.checkIn.AddDays(p.trip.Nights).String(), Guests: p.trip.Party}
}

// search asks the suppliers for what is not known yet: both in one reply at
// first, when the stay is taken to begin on the day of departure.
func (p *planner) search() (rehearsal.Reply, bool) {
	var reply rehearsal.Reply
	if _, known := result(p.request, contract.SearchFlight.Name().Input()); !known {
		if c, ok := call(p.request, contract.SearchFlight.Name().Input(), p.flightQuery()); ok {
			reply.Calls = append(reply.Calls, c)
		}
	}
	if _, known := p.hotels(); p.wantsHotel() && !known {
		if c, ok := call(p.request, contract.SearchHotel.Name().Input(), p.hotelQuery()); ok {
			reply.Calls = append(reply.Calls, c)
		}
	}
	return reply, len(reply.Calls) > 0
}

// hotels is what the search for the stay from the day of check-in came to. One
// for another day, before the flight was known, does not count.
func (p *planner) hotels() (o outcome, searched bool) {
	var q contract.HotelQuery
	c, ok := answered(p.request, contract.SearchHotel.Name().Input())
	if !ok || c.Decode(&q) != nil || q != p.hotelQuery() {
		return outcome{}, false
	}
	return result(p.request, contract.SearchHotel.Name().Input())
}

// noFlight and noHotel are the questions to ask when a supplier has nothing.
func (p *planner) noFlight(o outcome) string {
	return sentence.Ask(sentence.When, "no flight from %s to %s on %s: %s. "+another, p.trip.From, p.trip.To, p.trip.Out.Long(), why(o)).Text
}

func (p *planner) noHotel(o outcome) string {
	return sentence.Ask(sentence.When, "no hotel in %s for %d nights from %s: %s. "+another, p.trip.To.City, p.trip.Nights, p.checkIn.Long(), why(o)).Text
}

// why words an outcome that is not ok.
func why(o outcome) string {
	switch {
	case o.Reason == "no-availability":
		return "nothing is free"
	case o.Outcome == "unknown" || o.Outcome == "expired":
		return "there was no answer in time"
	case o.Reason == "ordered-already":
		return "one is ordered already for this trip"
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
	s := fmt.Sprintf("%s flight %s (%s to %s, departs %s)", contract.Offer, c.flight.Number, c.flight.From, c.flight.To, c.flight.Departs)
	if c.hotel != nil {
		s += fmt.Sprintf(" and %d night(s) at %q", p.trip.Nights, string(c.hotel.Name))
		if p.checkIn != p.trip.Out {
			s += fmt.Sprintf(" from %s, the day the flight arrives, to %s,", p.checkIn.Long(), p.checkIn.AddDays(p.trip.Nights).Long())
		}
	}
	s += fmt.Sprintf(" for %s in all, for %d?", euros(c.total()), p.trip.Party)
	if len(p.assumed) > 0 {
		s += " (" + strings.Join(p.assumed, "; ") + ")"
	}
	return s
}
