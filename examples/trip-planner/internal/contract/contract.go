// Package contract holds what the agents of the trip planner say to each
// other: closed types, with money in euro cents and days and times as text in
// ISO 8601. Free text is agent.Text and nothing depends on it.
package contract

import (
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// The contracts. Searching reads, booking has effects.
var (
	PlanTrip     = protocol.Request[PlanRequest, Plan]("trip.plan/v1")
	SearchFlight = protocol.Query[FlightQuery, FlightOffers]("trip.flight.search/v2")
	BookFlight   = protocol.Request[FlightOrder, FlightBooking]("trip.flight.book/v1")
	SearchHotel  = protocol.Query[HotelQuery, HotelOffers]("trip.hotel.search/v2")
	BookHotel    = protocol.Request[HotelOrder, HotelBooking]("trip.hotel.book/v1")
)

// Offer is how a question begins that an explicit yes turns into bookings.
const Offer = "Shall I book"

// PlanRequest is a trip in plain words.
type PlanRequest struct {
	Sentence agent.Text `json:"sentence" jsonschema:"maxLength=4000"`
	Today    string     `json:"today" jsonschema:"format=date" jsonschema_description:"the traveller's day, for words such as tomorrow"`
	// Earlier are the questions that were asked so far, oldest first.
	Earlier []Answered `json:"earlier,omitempty" jsonschema:"maxItems=20"`
	// Confirmed says that the traveller wants a booking: of what he accepted
	// or, if he was not asked, of the best offer.
	Confirmed bool `json:"confirmed" jsonschema_description:"the traveller confirmed: book"`
	// Accepted is the offer that he said yes to. Nothing else may be booked.
	Accepted *Offered `json:"accepted,omitempty"`
}

// Offered is what a question that begins with Offer offers: flight and hotel
// by the ids of their offers, each with its price.
type Offered struct {
	Flight      string `json:"flight" jsonschema:"minLength=1,maxLength=60"`
	FlightCents int64  `json:"flight_cents" jsonschema:"minimum=1"`
	Hotel       string `json:"hotel,omitempty" jsonschema:"maxLength=100"`
	HotelCents  int64  `json:"hotel_cents,omitempty" jsonschema:"minimum=0"`
}

// Answered is a question of an earlier conversation and its answer.
type Answered struct {
	Question agent.Text `json:"question" jsonschema:"maxLength=2000"`
	Answer   agent.Text `json:"answer" jsonschema:"maxLength=2000"`
}

// Plan is what came of a request. A booked plan has an itinerary, one that
// needs input has a question.
type Plan struct {
	Status   string     `json:"status" jsonschema:"enum=booked,enum=needs-input,enum=failed"`
	Question agent.Text `json:"question,omitempty" jsonschema:"maxLength=2000"`
	// Offer goes with a question that offers a booking.
	Offer     *Offered   `json:"offer,omitempty"`
	Itinerary *Itinerary `json:"itinerary,omitempty"`
	Notes     agent.Text `json:"notes,omitempty" jsonschema:"maxLength=2000"`
}

// Itinerary is what was booked.
type Itinerary struct {
	Flight FlightBooking `json:"flight"`
	Hotel  *HotelBooking `json:"hotel,omitempty"`
	Total  int64         `json:"total_cents" jsonschema:"minimum=0"`
}

// FlightQuery asks for flights of one day.
type FlightQuery struct {
	From       string `json:"from" jsonschema:"pattern=^[A-Z]{3}$" jsonschema_description:"IATA code"`
	To         string `json:"to" jsonschema:"pattern=^[A-Z]{3}$" jsonschema_description:"IATA code"`
	Date       string `json:"date" jsonschema:"format=date"`
	Travellers int    `json:"travellers" jsonschema:"minimum=1,maximum=9"`
}

// FlightOffers are the flights that have seats.
type FlightOffers struct {
	Offers []FlightOffer `json:"offers" jsonschema:"minItems=1,maxItems=20"`
}

// FlightOffer is one flight and its price for the whole party.
type FlightOffer struct {
	ID      string `json:"id" jsonschema:"pattern=^[A-Z0-9]+-[0-9]{8}$"`
	Number  string `json:"number" jsonschema:"pattern=^[A-Z0-9]+$"`
	From    string `json:"from" jsonschema:"pattern=^[A-Z]{3}$"`
	To      string `json:"to" jsonschema:"pattern=^[A-Z]{3}$"`
	Departs string `json:"departs" jsonschema:"format=date-time"`
	Arrives string `json:"arrives" jsonschema:"format=date-time"`
	Total   int64  `json:"total_cents" jsonschema:"minimum=1"`
}

// FlightOrder books an offer at the price that was offered.
type FlightOrder struct {
	FlightQuery
	Offer string `json:"offer" jsonschema:"pattern=^[A-Z0-9]+-[0-9]{8}$"`
	Total int64  `json:"total_cents" jsonschema:"minimum=1"`
}

// FlightBooking is a seat that was booked.
type FlightBooking struct {
	Status    string      `json:"status" jsonschema:"enum=booked"`
	Reference string      `json:"reference" jsonschema:"pattern=^[A-Z2-7]{6}$"`
	Flight    FlightOffer `json:"flight"`
}

// HotelQuery asks for rooms near an airport.
type HotelQuery struct {
	Near     string `json:"near" jsonschema:"pattern=^[A-Z]{3}$" jsonschema_description:"IATA code of the destination"`
	CheckIn  string `json:"check_in" jsonschema:"format=date"`
	CheckOut string `json:"check_out" jsonschema:"format=date"`
	Guests   int    `json:"guests" jsonschema:"minimum=1,maximum=9"`
}

// HotelOffers are the hotels that have rooms.
type HotelOffers struct {
	Offers []HotelOffer `json:"offers" jsonschema:"minItems=1,maxItems=20"`
}

// HotelOffer is one hotel and its price for all rooms and nights. Name and
// note are the house's own words.
type HotelOffer struct {
	ID    string     `json:"id" jsonschema:"pattern=^[a-z0-9-]+$"`
	Name  agent.Text `json:"name" jsonschema:"maxLength=100"`
	Stars int        `json:"stars" jsonschema:"minimum=1,maximum=5"`
	Rooms int        `json:"rooms" jsonschema:"minimum=1,maximum=9"`
	Total int64      `json:"total_cents" jsonschema:"minimum=1"`
	Note  agent.Text `json:"note,omitempty" jsonschema:"maxLength=1000"`
}

// HotelOrder books an offer at the price that was offered.
type HotelOrder struct {
	HotelQuery
	Offer string `json:"offer" jsonschema:"pattern=^[a-z0-9-]+$"`
	Total int64  `json:"total_cents" jsonschema:"minimum=1"`
}

// HotelBooking is a room that was booked.
type HotelBooking struct {
	Status    string     `json:"status" jsonschema:"enum=booked"`
	Reference string     `json:"reference" jsonschema:"pattern=^[A-Z2-7]{6}$"`
	Hotel     HotelOffer `json:"hotel"`
	CheckIn   string     `json:"check_in" jsonschema:"format=date"`
	CheckOut  string     `json:"check_out" jsonschema:"format=date"`
}
