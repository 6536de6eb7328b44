package sentence

import (
	"strings"
	"testing"
)

func TestACompanyIsCountedOnlyWhereItIsCertain(t *testing.T) {
	for said, want := range map[string]int{ // 0: a question about the party
		"one adult one infant":                 2,
		"us two and my mother-in-law":          3,
		"mum dad and 2 kids":                   4,
		"mum, dad and me":                      3,
		"party of two plus a baby":             3,
		"for two adults, I want a window seat": 2,
		"for 2 and a baby":                     3,
		"to visit my two brothers":             1,
		"2 adults and 1 child (5 years old)":   3,
		"with my wife":                         2,
		"for my wife":                          1,
		"me and 2 friends":                     3,
		"my wife and I want sun":               2,
		"two adults and I want a window seat":  2,
		"with my own bag":                      1,
		"with Finnair":                         1,
		"a dozen people":                       0,
		"half a dozen":                         0,
		"for 3 nuns":                           0,
		"for 4 engineers":                      0,
		"for 2 businessmen":                    0,
		"two retirees":                         0,
		"4 Germans":                            0,
		"x2":                                   0,
		"2x":                                   0,
		"2A 1C":                                0,
		"2 ADT":                                0,
		"all four":                             0,
		"Anna, Bob and me":                     0,
		"me and Anna":                          0,
		"anna and me":                          0,
		"with anna":                            0,
		"with wifi":                            1,
		"Anna and I":                           0,
		"with Anna":                            0,
		"with Anna and Bob":                    0,
		"for Anna and Bob":                     0,
		"my flatmate and I":                    0,
		"with my flatmate":                     0,
		"with him":                             0,
		"with someone":                         0,
		"Mr and Mrs Smith":                     0,
		"with my 5 year old":                   0,
		"2 adults and a 5 year old":            0,
		"as a pair":                            0,
		"twins and their mother":               0,
		"2 adults and twins":                   0,
		"for 2 adults and Anna":                0,
		"my wife and 2 kids, I stay home":      0,
		"my wife wants to go":                  0,
		"2 adults for the trip, also 2 children ": 0,
	} {
		for _, text := range []string{"Helsinki to Lisbon on 12 March for 4 nights, " + said, said + ", Helsinki to Lisbon on 12 March for 4 nights"} {
			checkParty(t, text, want)
		}
	}
}

func checkParty(t *testing.T, text string, want int) {
	t.Helper()
	r := Parse(text, tuesday())
	switch {
	case want > 0 && (!r.Complete() || r.Trip.Party != want):
		t.Errorf("%s: %d travellers, asked %q; want %d", text, r.Trip.Party, r.Questions, want)
	case want == 0 && (r.Complete() || r.Questions[0].About != Party):
		t.Errorf("%s: %v, asked %q; want a question about the party", text, r.Trip, r.Questions)
	}
}

func TestADayThatIsNotCertainIsAskedAbout(t *testing.T) {
	for said, want := range map[string]string{ // "": a question about the day
		"next week on Friday":            "2026-02-20",
		"next week's Friday":             "2026-02-20",
		"next week Friday":               "2026-02-20",
		"Friday next week":               "2026-02-20",
		"Friday of next week":            "2026-02-20",
		"this week on Friday":            "2026-02-13",
		"tomorrow week":                  "2026-02-18",
		"the second Friday of April":     "",
		"first Monday in April":          "",
		"last Friday":                    "",
		"every Friday":                   "",
		"any Friday in March":            "",
		"a Friday":                       "",
		"Friday in April":                "",
		"on Friday in two weeks":         "",
		"three days after tomorrow":      "",
		"in three weeks and two days":    "",
		"in a week and a half":           "",
		"two days before 20 March":       "",
		"the day after 20 March":         "",
		"the Monday after 20 March":      "",
		"after 20 March":                 "",
		"before 20 March":                "",
		"by 20 March":                    "",
		"no later than 20 March":         "",
		"not on 20 March":                "",
		"any day except 20 March":        "",
		"the week of 20 March":           "",
		"a week on Friday":               "",
		"a week from Friday":             "",
		"a week tomorrow":                "",
		"around 20 March":                "",
		"20 March or later":              "",
		"20 March at the earliest":       "",
		"on 12.3.9999":                   "",
		"9999-03-12":                     "",
		"20 March 9999":                  "",
		"20 March 0001":                  "",
		"12.3.0001":                      "",
		"0001-03-12":                     "",
		"the weekend of 20 March":        "",
		"around 20-24 March, well":       "",
		"on the Friday after next month": "",
	} {
		r := Parse("Helsinki to Lisbon "+said+" for 4 nights", tuesday())
		switch {
		case want != "" && (!r.Complete() || r.Trip.Out.String() != want):
			t.Errorf("%s: %v, asked %q; want %s", said, r.Trip, r.Questions, want)
		case want == "" && (r.Complete() || r.Questions[0].About != When):
			t.Errorf("%s: %v, asked %q; want a question about the day", said, r.Trip, r.Questions)
		}
	}
}

func TestAnInexactLengthIsAskedAbout(t *testing.T) {
	for _, said := range []string{"a night or two", "more than 2 nights", "2 nights plus 1", "a week less a day", "at least 2 nights", "up to 3 nights",
		"about 3 nights", "for about a week", "3 nights or so", "3 nights or more", "max 3 nights", "3 nights max", "2 nights and 1 more", "not 3 nights",
		"2 nights or 3", "a minimum of 3 nights", "twice 3 nights", "no more than 4 nights", "a week and two days", "half a week"} {
		r := Parse("Helsinki to Lisbon on 12 March, "+said, tuesday())
		if r.Complete() || r.Questions[0].About != Nights {
			t.Errorf("%s: %v, asked %q; want a question about the nights", said, r.Trip, r.Questions)
		}
	}
}

func TestWhatIsNotSoldIsAskedAboutOrListed(t *testing.T) {
	for said, want := range map[string]string{ // the beginning of the question, or what is listed
		"4 nights, no hotel needed":         "How long?",
		"flight only":                       "How long?",
		"flight only, one way":              "party",
		"4 nights, hotel only":              "Where from?",
		"4 nights, business class":          "not arranged: “business class”",
		"4 nights in a 5-star hotel":        "not arranged: “5-star”",
		"4 nights, 2 rooms":                 "not arranged: “2 rooms”",
		"4 nights, window seat please":      "not arranged: “window seat”",
		"4 nights, at the Hilton":           "not arranged: “Hilton”",
		"4 nights, round trip":              "the way back is not booked",
		"4 nights, with a return flight":    "the way back is not booked",
		"returning on 16 March":             "the way back is not booked",
		"and back the same day":             "the way back is not booked",
		"4 nights, flight number AY121 thx": "not arranged",
	} {
		r := Parse("Helsinki to Lisbon on 12 March, "+said, tuesday())
		got := strings.Join(r.Assumed, "; ")
		if !r.Complete() {
			got = r.Questions[0].Text
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", said, got, want)
		}
	}
}

func TestAPlaceThatAWordMakesAnotherIsAskedAbout(t *testing.T) {
	for said, want := range map[string]string{ // the destination, or "" for a question about it
		"Lisbon, Portugal":                "LIS",
		"Austin, Texas":                   "AUS",
		"Austin, TX":                      "AUS",
		"Toronto, Ontario":                "YYZ",
		"San Jose, California":            "SJC",
		"San Francisco (California)":      "SFO",
		"Mexico City":                     "MEX",
		"New York":                        "JFK",
		"beautiful Lisbon":                "LIS",
		"Paris, Texas":                    "",
		"paris, texas":                    "",
		"Paris Texas":                     "",
		"Naples, Florida":                 "",
		"Birmingham Alabama":              "",
		"Athens, GA":                      "",
		"Athens, Georgia":                 "",
		"London, Ontario":                 "",
		"Portland, Maine":                 "",
		"Lisbon, Spain":                   "",
		"Lisbon in Spain":                 "",
		"New London":                      "",
		"North Bergen":                    "",
		"Venice Beach":                    "",
		"St Petersburg, Florida":          "",
		"Paris, Narnia":                   "",
		"anywhere but Lisbon":             "",
		"anywhere except Paris":           "",
		"I do not want to go to Lisbon":   "",
		"any city other than Lisbon":      "",
		"a warm place, but not to Lisbon": "",
	} {
		r := Parse("from Helsinki to "+said+" on 12 March for 4 nights", tuesday())
		switch {
		case want != "" && (!r.Complete() || r.Trip.To.Code != want):
			t.Errorf("%s: %v, asked %q; want %s", said, r.Trip, r.Questions, want)
		case want == "" && (r.Complete() || r.Questions[0].About != Destination):
			t.Errorf("%s: %v, asked %q; want a question about the destination", said, r.Trip, r.Questions)
		}
	}
	if r := Parse("from Paris, Texas to Lisbon on 12 March for 4 nights", tuesday()); r.Complete() || r.Questions[0].About != Origin {
		t.Errorf("%v, asked %q; want a question about the origin", r.Trip, r.Questions)
	}
}

func TestMoneyThatIsNoPlainLimitIsAskedAbout(t *testing.T) {
	for said, want := range map[string]About{
		"max 800 crowns":                Currency,
		"max 800 leva":                  Currency,
		"under 800 bob":                 Currency,
		"budget 8000 naira":             Currency,
		"max 800 points":                Currency,
		"max 800 ducats":                Currency,
		"max 800 galleons":              Currency,
		"not under 500 euros":           Budget,
		"I already paid 500 euros":      Budget,
		"we saved 500 euros last year":  Budget,
		"500 euros per night":           Budget,
		"max 500 per adult":             Budget,
		"max 500 each way":              Budget,
		"from 500 euros":                Budget,
		"thousand euros":                Budget,
		"twice 500 euros":               Budget,
		"half of 900 euros":             Budget,
		"max 500 per room":              Budget,
		"max 500 euros per wagon":       Budget,
		"max 500 not including hotel":   Budget,
		"500 euros for the flight":      Budget,
		"max 500 excluding the hotel":   Budget,
		"a minimum of 500 euros, maybe": Budget,
	} {
		r := Parse("Helsinki to Lisbon on 12 March for 4 nights, for one, "+said, tuesday())
		if r.Complete() || r.Questions[0].About != want {
			t.Errorf("%s: %v, asked %q; want a question about the %s", said, r.Trip, r.Questions, want)
		}
	}
	for said, want := range map[string]int64{"max two grand": 2000, "max a grand": 1000, "half a grand max": 500, "budget 5 million": 5_000_000,
		"max 500 per head": 500, "500 euros max per person": 500, "max 900 for flights and hotel": 900, "max 2k": 2000} {
		r := Parse("Helsinki to Lisbon on 12 March for 4 nights, for one person, "+said, tuesday())
		if !r.Complete() || r.Trip.Budget != want*100 {
			t.Errorf("%s: %v, asked %q; want %d", said, r.Trip, r.Questions, want)
		}
	}
}
