// Package sentence understands one English sentence about a trip.
//
// It is a grammar, not a model: the same sentence always has the same meaning, it never makes up a value, and what it
// does not understand it asks about. Nothing in a sentence is an instruction. What it decides where English leaves a
// choice:
//
//   - A date without a year is the next such day, today included. A weekday is the next one after today, "next Friday"
//     too; only "this Friday" may be today. A return date is sought from the day of departure on.
//   - 12.3. is the twelfth of March; 12/3 is asked about, 13/3 is not.
//   - "4 days" are four nights, "a week" is seven, and what was read so is listed in Result.Assumed. A weekend is two
//     nights from a Friday and one from a Saturday.
//   - One traveller is assumed, and listed, only if nothing in the sentence speaks of several people ("we", "family").
//   - No budget is no limit. A plain number after "under", "max" or "budget" is in euros; other currencies are asked
//     about, because no rate is known. "Per person" multiplies by the party.
//   - A word that counts, limits or negates and is not understood is asked about: "with Anna", "after 20 March", "a night
//     or two", "anywhere but Lisbon". So is a word that makes a city another one: "Paris, Texas".
//   - Only the flight there and a hotel are sold. What else is wished for is listed in Result.Assumed as not arranged.
//   - The name of a city with several airports stands for its main one.
//
// Parsing takes time linear in the sentence. Everything is pure and safe for concurrent use.
package sentence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// Date is one day of the calendar.
type Date = calendar.Date

// The bounds of a trip that can be planned.
const (
	MostTravellers = 9
	MostNights     = 30
	Horizon        = 330 // days from today to the last flight that can be booked
)

// Trip is everything a planner needs to know.
type Trip struct {
	From, To places.Airport // never in one city
	Out      Date           // the day of departure, local to From
	Nights   int            // 0 to MostNights; 0 on a one-way or day trip: no hotel
	OneWay   bool           // no flight back
	Party    int            // 1 to MostTravellers
	Budget   int64          // euro cents for the whole party and trip; 0 means no limit
}

// Return returns the day of the flight back, or the zero date on a one-way trip.
func (t Trip) Return() Date {
	if t.OneWay {
		return Date{}
	}
	return t.Out.AddDays(t.Nights)
}

// String returns the trip on one plain line.
func (t Trip) String() string {
	stay := fmt.Sprintf("for %s, back on %s", counted(t.Nights, "night"), t.Return().Long())
	switch {
	case t.OneWay:
		stay = "one way"
	case t.Nights == 0:
		stay = "back the same day"
	}
	s := fmt.Sprintf("%s to %s on %s, %s, %s", t.From, t.To, t.Out.Long(), stay, counted(t.Party, "traveller"))
	if t.Budget > 0 {
		s += ", at most " + euros(t.Budget)
	}
	return s
}

// About says which part of a trip a question is about.
type About string

// What can be asked about. Currency questions are settled with an amount in euros.
const (
	Destination About = "destination"
	Origin      About = "origin"
	When        About = "date"
	Nights      About = "nights" // the length of the stay or the day of return
	Party       About = "party"
	Budget      About = "budget"
	Currency    About = "currency"
)

// abouts lists the parts in the order in which they are asked about.
func abouts() []About { return []About{Destination, Origin, When, Nights, Party, Budget, Currency} }

// lead returns the words that a question about this part begins with.
func (a About) lead() string {
	switch a {
	case Destination:
		return "Where to?"
	case Origin:
		return "Where from?"
	case When:
		return "When?"
	case Nights:
		return "How long?"
	case Party:
		return "How many travel?"
	case Budget:
		return "How much at most?"
	case Currency:
		return "How much in euros?"
	}
	return ""
}

// Question is something to ask the traveller.
type Question struct {
	About About
	Text  string // one line, ready to be shown; AboutOf tells its About
}

func ask(about About, format string, a ...any) Question {
	text := fmt.Sprintf(format, a...)
	r, size := utf8.DecodeRuneInString(text)
	return Question{about, about.lead() + " " + string(unicode.ToUpper(r)) + text[size:]}
}

// AboutOf returns what a question's text is about, or "" for a text that this package did not make.
func AboutOf(question string) About {
	for _, a := range abouts() {
		if strings.HasPrefix(question, a.lead()) {
			return a
		}
	}
	return ""
}

// Result is a complete trip, or else at least one question.
type Result struct {
	Trip      Trip       // complete if there are no questions, otherwise zero
	Questions []Question // at most one about each part, the most important first
	Assumed   []string   // how a choice that the sentence left open was made, for a complete trip
}

// Complete reports whether the trip is known.
func (r Result) Complete() bool { return len(r.Questions) == 0 }

// Answered is a question that was asked about the sentence, and its answer.
type Answered struct{ Question, Answer string }

// Parse understands a sentence that was said on a given day.
func Parse(text string, today Date) Result { return Understand(text, nil, today) }

// Continue understands the answer to a question that was asked about an earlier sentence, as Understand does.
func Continue(earlier, question, answer string, today Date) Result {
	return Understand(earlier, []Answered{{question, answer}}, today)
}

// Understand reads a sentence and the answers to what was asked about it, oldest first. An answer fills or replaces the
// part that its question was about, and any other part that it mentions; the rest stands as it was said. An answer that
// says nothing about it leaves the question open. The answer to a question about no part, such as an offer, replaces
// what it mentions.
func Understand(text string, answers []Answered, today Date) Result {
	d := read(text, "", today)
	for _, a := range answers {
		about := AboutOf(a.Question)
		d.amend(about, read(a.Answer, about, today))
	}
	return d.settle(today)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func euros(cents int64) string {
	if cents%100 == 0 {
		return fmt.Sprintf("€%d", cents/100)
	}
	return fmt.Sprintf("€%d.%02d", cents/100, cents%100)
}
