package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/sentence"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// planning plays the model's side of one plan: what was called is answered, until the plan is made.
type planning struct {
	asked   contract.PlanRequest
	flights contract.FlightOffers
	hotels  []contract.HotelQuery // what was asked of the hotels
	booked  []contract.HotelOrder
}

func (p *planning) run(t *testing.T) contract.Plan {
	t.Helper()
	quote := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return "<data " + nonce + " from=\"x\" integrity=peer>\n" + string(text) + "\n</data " + nonce + ">"
	}
	r := rehearsal.Request{Messages: []rehearsal.Message{{Role: rehearsal.User, Text: quote(p.asked)}}}
	for name, schema := range map[string]string{"flights": contract.SearchFlight.Name().Input(), "hotels": contract.SearchHotel.Name().Input(),
		"fly": contract.BookFlight.Name().Input(), "stay": contract.BookHotel.Name().Input()} {
		r.Functions = append(r.Functions, rehearsal.Function{Name: name, Parameters: []byte(`{"$id":"urn:schema:` + schema + `"}`)})
	}
	for round := range 6 {
		reply, ok := plan(r)
		if !ok {
			t.Fatal("no rule fits")
		}
		if reply.Calls[0].Name == "inform" {
			return reply.Calls[0].Arguments.(contract.Plan)
		}
		made := rehearsal.Message{Role: rehearsal.Assistant}
		var told []rehearsal.Message
		for n, c := range reply.Calls {
			c.ID = fmt.Sprintf("%d-%d", round, n)
			made.Calls = append(made.Calls, c)
			result, err := json.Marshal(p.answer(c))
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, rehearsal.Message{Role: rehearsal.Tool, Name: c.Name, CallID: c.ID, Text: quote(outcome{Outcome: "ok", Result: result})})
		}
		r.Messages = append(append(r.Messages, made), told...)
	}
	t.Fatal("no plan after six rounds")
	return contract.Plan{}
}

func (p *planning) answer(c rehearsal.Call) any {
	switch args := c.Arguments.(type) {
	case contract.FlightQuery:
		return p.flights
	case contract.HotelQuery:
		p.hotels = append(p.hotels, args)
		return contract.HotelOffers{Offers: []contract.HotelOffer{{ID: "inn", Name: "Inn", Stars: 3, Rooms: 1, Total: 100_00}}}
	case contract.FlightOrder:
		return contract.FlightBooking{Status: "booked", Reference: "AAAAAA", Flight: p.flights.Offers[0]}
	case contract.HotelOrder:
		p.booked = append(p.booked, args)
		return contract.HotelBooking{Status: "booked", Reference: "BBBBBB"}
	}
	return nil
}

func flight(id, departs, arrives string, total int64) contract.FlightOffer {
	return contract.FlightOffer{ID: id, Number: id, From: "HEL", To: "HND", Departs: departs, Arrives: arrives, Total: total}
}

func wish(earlier ...contract.Answered) contract.PlanRequest {
	return contract.PlanRequest{Sentence: "Helsinki to Tokyo on 12 March for 4 nights", Today: "2026-02-10", Earlier: earlier}
}

func TestTheHotelBeginsOnTheDayTheFlightArrives(t *testing.T) {
	day := flight("DAY", "2026-03-12T06:00:00+02:00", "2026-03-12T23:00:00+09:00", 500_00)
	night := flight("NIGHT", "2026-03-12T05:00:00+02:00", "2026-03-13T09:00:00+09:00", 400_00)
	dear := flight("DEAR", "2026-03-12T05:00:00+02:00", "2026-03-13T09:00:00+09:00", 500_00)
	for name, tt := range map[string]struct {
		flights        []contract.FlightOffer
		checkIn, offer string
		searches       int
	}{
		"overnight":             {[]contract.FlightOffer{day, night}, "2026-03-13", "from 13 March 2026, the day the flight arrives, to 17 March 2026", 2},
		"the same day":          {[]contract.FlightOffer{day}, "2026-03-12", "flight DAY", 1},
		"the same day if equal": {[]contract.FlightOffer{dear, day}, "2026-03-12", "flight DAY", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := planning{asked: wish(), flights: contract.FlightOffers{Offers: tt.flights}}
			offered := p.run(t)
			if !strings.Contains(string(offered.Question), tt.offer) || !strings.HasPrefix(string(offered.Question), contract.Offer) || len(p.hotels) != tt.searches {
				t.Fatalf("after %v asked %q, want %q after %d searches", p.hotels, offered.Question, tt.offer, tt.searches)
			}
			p.asked = wish(contract.Answered{Question: offered.Question, Answer: "yes please"})
			if got := p.run(t); got.Status != "booked" || len(p.booked) != 1 || p.booked[0].CheckIn != tt.checkIn {
				t.Fatalf("%s, booked %+v, want check-in on %s", got.Status, p.booked, tt.checkIn)
			}
		})
	}
}

func TestNothingIsBookedThatWasNotAgreedTo(t *testing.T) {
	const offer, limit, place = contract.Offer + " flight DAY?", "How much at most? The cheapest is more than €100", "How long? How many nights?"
	for _, tt := range []struct{ question, answer, status string }{
		{offer, "yes", "booked"},
		{offer, "do not book it", "failed"},
		{offer, "please don't", "failed"},
		{offer, "book nothing", "failed"},
		{offer, "ok no", "failed"},
		{offer, "please wait", "failed"},
		{offer, "sure, but no hotel", "needs-input"},
		{offer, "do it tomorrow", "needs-input"},
		{offer, "hm", "needs-input"},
		{offer, "yes, for 5 nights", "needs-input"},
		{limit, "no", "failed"},
		{limit, "nothing", "failed"},
		{limit, "forget it", "failed"},
		{limit, "no limit", "needs-input"},
		{limit, "yes", "needs-input"},
		{place, "cancel", "failed"},
		{place, "never mind", "failed"},
		{place, "no", "needs-input"},
		{"When? No flight on 12 March 2026: nothing is free. " + another, "no", "failed"},
		{"The flight is booked (AAAAAA), but the hotel is not. What shall I do about the hotel?", "ok", "needs-input"},
		{"The flight is booked (AAAAAA), but the hotel is not. What shall I do about the hotel?", "nothing", "failed"},
	} {
		p := planning{asked: wish(contract.Answered{Question: agent.Text(tt.question), Answer: agent.Text(tt.answer)}),
			flights: contract.FlightOffers{Offers: []contract.FlightOffer{flight("DAY", "2026-03-12T06:00:00+02:00", "2026-03-12T23:00:00+09:00", 500_00)}}}
		got := p.run(t)
		if got.Status != tt.status || (len(p.booked) > 0) != (tt.status == "booked") {
			t.Errorf("%q after %q: %s, %d booked; want %s", tt.answer, tt.question, got.Status, len(p.booked), tt.status)
		}
		if tt.status == "failed" && !strings.HasPrefix(string(got.Notes), "Nothing") {
			t.Errorf("%q after %q: notes %q, want what was not booked", tt.answer, tt.question, got.Notes)
		}
	}
}

func TestAChangeAfterAnOfferIsKeptThroughLaterAnswers(t *testing.T) {
	offer := agent.Text(contract.Offer + " flight DAY?")
	today := calendar.Date{Year: 2026, Month: 2, Day: 10}
	r, decided := understand(wish(contract.Answered{Question: offer, Answer: "no, for 5 nights"}, contract.Answered{Question: offer, Answer: "2"},
		contract.Answered{Question: offer, Answer: "yes"}), today)
	if decided != sentence.Yes || !r.Complete() || r.Trip.Nights != 5 {
		t.Fatalf("decided %v about %v", decided, r.Trip)
	}
}
