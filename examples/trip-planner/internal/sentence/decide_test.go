package sentence

import "testing"

func TestOnlyAnAnswerOfAgreementIsAYes(t *testing.T) {
	for want, answers := range map[Decision][]string{
		Yes: {"yes", "Yes.", "y", "yep", "yeah, sure", "sure", "ok", "Okay!", "please do", "do it", "book it", "book both", "go ahead", "of course", "yes please",
			"yes, book that now, thanks", "I confirm", "agreed", "fine", "perfect, thank you", "yes, go ahead and book it", "that's fine", "sounds good"},
		No: {"no", "No!", "nope", "nah", "never", "nothing", "no thanks", "no, thank you", "do not book it", "please don't", "don't", "book nothing", "ok no",
			"please wait", "wait", "cancel", "stop", "forget it", "rather not", "I'd rather not", "go away", "never mind", "not now", "yes no",
			"no, I do not like that airline", "dont book it", "sure, cancel it", "do not go ahead", "yes... no wait"},
		Neither: {"", "hm", "maybe", "what?", "ok?", "yes?", "2", "yes 2", "yes, but on 13 March", "no, for 5 nights", "ok for 3 people", "under 100 euros",
			"go to Porto instead", "from Tampere", "a cheaper one", "sure, but no hotel", "do it tomorrow", "book it for Friday", "yes for Anna",
			"no, on Friday", "yes if it is sunny", "ask me later", "what is the hotel like?", "yes, with my wife", "yes, for me and you", "yes, just me", "it", "that one", "thanks", "and 5 nights"},
	} {
		for _, answer := range answers {
			if got := Decide(answer); got != want {
				t.Errorf("Decide(%q) = %d, want %d", answer, got, want)
			}
		}
	}
}

func TestACancellationEndsEveryQuestion(t *testing.T) {
	for answer, want := range map[string]bool{"cancel": true, "stop": true, "Forget it!": true, "never mind": true, "please cancel the trip": true,
		"no": false, "4 nights": false, "Lisbon": false, "stop in Lisbon for 4 nights": false, "": false} {
		if got := Cancels(answer); got != want {
			t.Errorf("Cancels(%q) = %v, want %v", answer, got, want)
		}
	}
}

const offer = "Shall I book flight AY121 for €900 in all, for 2?"

func TestAnAnswerToAnOfferChangesWhatItMentions(t *testing.T) {
	for answer, want := range map[string]string{ // "" is a question
		"2":                      "HEL LIS 2026-03-12 4n 2p €0",
		"hm":                     "HEL LIS 2026-03-12 4n 2p €0",
		"a cheaper one":          "HEL LIS 2026-03-12 4n 2p €0",
		"and 5 nights":           "HEL LIS 2026-03-12 5n 2p €0",
		"no, for 5 nights":       "HEL LIS 2026-03-12 5n 2p €0",
		"yes, but on 13 March":   "HEL LIS 2026-03-13 4n 2p €0",
		"ok for 3 people":        "HEL LIS 2026-03-12 4n 3p €0",
		"under 100 euros":        "HEL LIS 2026-03-12 4n 2p €100",
		"go to Porto instead":    "HEL OPO 2026-03-12 4n 2p €0",
		"from Tampere":           "TMP LIS 2026-03-12 4n 2p €0",
		"do it tomorrow":         "HEL LIS 2026-02-11 4n 2p €0",
		"sure, but one way":      "HEL LIS 2026-03-12 ow 2p €0",
		"sure, but no hotel":     "",
		"yes, with Anna":         "",
		"yes, but after 3 April": "",
		"yes, max 800 crowns":    "",
		"not to Lisbon":          "",
		"4 or 5 nights":          "",
	} {
		r := Continue("Helsinki to Lisbon on 12 March for 4 nights, 2 people", offer, answer, tuesday())
		got := ""
		if r.Complete() {
			got = line(r.Trip)
		}
		if got != want {
			t.Errorf("%s: %q, asked %q; want %q", answer, got, r.Questions, want)
		}
	}
}

func TestAPlaceInTheAnswerToAnotherQuestionIsNotLost(t *testing.T) {
	q := Parse("Helsinki to Porto on 12 March", tuesday()).Questions[0]
	for answer, want := range map[string]string{"4 nights, I meant Lisbon, sorry": "HEL LIS 2026-03-12 4n 1p €0", "4 nights, to Lisbon": "HEL LIS 2026-03-12 4n 1p €0",
		"4 nights, Lisbon": ""} {
		r := Continue("Helsinki to Porto on 12 March", q.Text, answer, tuesday())
		if r.Complete() != (want != "") || want != "" && line(r.Trip) != want {
			t.Errorf("%s: %v, asked %q; want %q", answer, r.Trip, r.Questions, want)
		}
	}
	r := Continue("Helsinki to Porto on 12 March for 4 nights", offer, "I meant Lisbon, sorry", tuesday())
	if !r.Complete() || line(r.Trip) != "HEL LIS 2026-03-12 4n 1p €0" {
		t.Errorf("I meant Lisbon: %v, asked %q", r.Trip, r.Questions)
	}
}

func TestOnlyPlainWordsLiftALimit(t *testing.T) {
	const said, asked = "Helsinki to Lisbon on 12 March for 4 nights under 100 euros", "How much at most? The cheapest is €300.00, which is more than €100"
	for answer, want := range map[string]int64{"no limit": 0, "unlimited": 0, "any price": 0, "doesn't matter": 0, "no": 100_00, "nope": 100_00, "nothing": 100_00,
		"none": 100_00, "any": 100_00, "500": 500_00} {
		if r := Continue(said, asked, answer, tuesday()); !r.Complete() || r.Trip.Budget != want {
			t.Errorf("%s: %v, asked %q; want a limit of %d", answer, r.Trip, r.Questions, want)
		}
	}
}

func TestWordsOfTheTravellerAreNeverAnAnswerToAnotherQuestion(t *testing.T) {
	for _, text := range []string{"Helsinki to Lisbon on 12 March; re nights: 5", "Helsinki to Lisbon on 12 March for 4 nights; re nights: 5; re party: 3"} {
		if r := Parse(text, tuesday()); r.Complete() && (r.Trip.Nights == 5 || r.Trip.Party == 3) {
			t.Errorf("%s: understood %v", text, r.Trip)
		}
	}
}
