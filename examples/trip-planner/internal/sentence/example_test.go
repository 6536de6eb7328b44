package sentence_test

import (
	"fmt"
	"time"

	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/sentence"
)

func ExampleParse() {
	today := calendar.Date{Year: 2026, Month: time.February, Day: 10}
	r := sentence.Parse("Helsinki to Lisbon from 12 March for 4 nights, two of us, under €900", today)
	fmt.Println(r.Trip)
	r = sentence.Parse("Helsinki to Atlantis on 12 March for 4 nights", today)
	fmt.Println(r.Questions[0].Text)
	// Output:
	// Helsinki (HEL) to Lisbon (LIS) on 12 March 2026, for 4 nights, back on 16 March 2026, 2 travellers, at most €900
	// Where to? I know no airport in “Atlantis”; which city do you mean?
}

func ExampleContinue() {
	today := calendar.Date{Year: 2026, Month: time.February, Day: 10}
	r := sentence.Parse("Helsinki to Lisbon on 12 March", today)
	question := r.Questions[0].Text
	fmt.Println(question, sentence.AboutOf(question))
	r = sentence.Continue("Helsinki to Lisbon on 12 March", question, "4 nights", today)
	fmt.Println(r.Trip)
	// Output:
	// How long? How many nights do you stay, or which day do you come back? You can also say “one way”. nights
	// Helsinki (HEL) to Lisbon (LIS) on 12 March 2026, for 4 nights, back on 16 March 2026, 1 traveller
}
