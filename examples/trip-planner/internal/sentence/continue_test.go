package sentence

import "testing"

func TestAnAnswerFillsOrReplacesWhatWasAskedAbout(t *testing.T) {
	for _, c := range []struct {
		sentence string
		answers  []string
		want     string
	}{
		{"trip to Lisbon", []string{"Helsinki", "the 12th of March", "4 nights"}, "HEL LIS 2026-03-12 4n 1p €0"},
		{"trip to Lisbon", []string{"HEL", "12", "4"}, "HEL LIS 2026-02-12 4n 1p €0"},
		{"book", []string{"Rome", "from Oslo please", "12 March", "one way"}, "OSL FCO 2026-03-12 ow 1p €0"},
		{"!!!", []string{"from Helsinki to Lisbon on 12 March for 4 nights"}, "HEL LIS 2026-03-12 4n 1p €0"},
		{"Helsinki to Atlantis 12 March", []string{"Lisbon", "until the 16th"}, "HEL LIS 2026-03-12 4n 1p €0"},
		{"Lisbon and Porto from Oslo 12 March 4 nights", []string{"Porto"}, "OSL OPO 2026-03-12 4n 1p €0"},
		{"Lisbon, 12 March, 4 nights", []string{"from Helsinki"}, "HEL LIS 2026-03-12 4n 1p €0"},
		{"to Lisbon 12 March 4 nights", []string{"narnia", "helsinky"}, "HEL LIS 2026-03-12 4n 1p €0"},
		{"San Jose from Oslo 12 March 4 nights", []string{"the one in Costa Rica"}, "OSL SJO 2026-03-12 4n 1p €0"},
		{"Oslo to Portugal 12 March 4 nights", []string{"porto"}, "OSL OPO 2026-03-12 4n 1p €0"},
		{"Oslo to Nice via Paris 12 March 4 nights", []string{"Nice"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Oslo 12 March 4 nights", []string{"Rome"}, "OSL FCO 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 12/3 for 4 nights", []string{"12 March"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 1 March 2025 for 4 nights", []string{"tomorrow"}, "OSL NCE 2026-02-11 4n 1p €0"},
		{"Oslo to Nice for 4 nights", []string{"in March", "the 12th"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Nice", []string{"12-16 March"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 12 March", []string{"I don't know", "maybe three"}, "OSL NCE 2026-03-12 3n 1p €0"},
		{"Oslo to Nice 12 March", []string{"a week, for two people"}, "OSL NCE 2026-03-12 7n 2p €0"},
		{"Oslo to Nice 12 March until 16 March for 5 nights", []string{"5 nights"}, "OSL NCE 2026-03-12 5n 1p €0"},
		{"Oslo to Nice 12 March until 16 March for 5 nights", []string{"16 March"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"we go Oslo to Nice 12 March 4 nights $900", []string{"two", "EUR 800"}, "OSL NCE 2026-03-12 4n 2p €800"},
		{"we go Oslo to Nice 12 March 4 nights $900", []string{"just us two", "euros"}, "OSL NCE 2026-03-12 4n 2p €900"},
		{"Oslo to Nice 12 March 4 nights with Anna", []string{"2, with Anna"}, "OSL NCE 2026-03-12 4n 2p €0"},
		{"Oslo to Nice after 12 March 4 nights", []string{"14 March"}, "OSL NCE 2026-03-14 4n 1p €0"},
		{"Oslo to Paris, Texas 12 March 4 nights", []string{"Dallas"}, "OSL DFW 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 12 March flight only", []string{"one way"}, "OSL NCE 2026-03-12 ow 1p €0"},
		{"Oslo to Nice 12 March 4 nights hotel only", []string{"Oslo"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 12 March a night or two", []string{"2"}, "OSL NCE 2026-03-12 2n 1p €0"},
		{"Oslo to Nice 12 March 4 nights max 800 crowns", []string{"80"}, "OSL NCE 2026-03-12 4n 1p €80"},
		{"Oslo to Nice 12 March 4 nights for 3 nuns", []string{"three"}, "OSL NCE 2026-03-12 4n 3p €0"},
		{"Oslo to Nice 12 March 4 nights 900", []string{"900"}, "OSL NCE 2026-03-12 4n 1p €900"},
		{"Oslo to Nice 12 March 4 nights 900", []string{"no limit"}, "OSL NCE 2026-03-12 4n 1p €0"},
		{"Oslo to Nice 12 March 4 nights budget 800 max 900", []string{"at most 900"}, "OSL NCE 2026-03-12 4n 1p €900"},
		{"Oslo to Nice 12 March 4 nights for 2-3 people", []string{"3; really"}, "OSL NCE 2026-03-12 4n 3p €0"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			r := Parse(c.sentence, tuesday())
			var answers []Answered
			for _, answer := range c.answers {
				if r.Complete() {
					t.Fatalf("nothing was asked before %q", answer)
				}
				answers = append(answers, Answered{r.Questions[0].Text, answer})
				r = Understand(c.sentence, answers, tuesday())
			}
			if !r.Complete() {
				t.Fatalf("still asks %q", r.Questions)
			}
			if got := line(r.Trip); got != c.want {
				t.Fatalf("understood %s, want %s", got, c.want)
			}
		})
	}
}

func TestAnAnswerThatSaysNothingLeavesTheQuestionOpen(t *testing.T) {
	for _, sentence := range []string{"to Lisbon", "Oslo to Lisbon", "Oslo to Lisbon 12 March", "we go Oslo to Lisbon 12 March 4 nights",
		"Oslo to Lisbon 12 March 4 nights $900", "Oslo to Lisbon 12 March 4 nights budget 0"} {
		before := Parse(sentence, tuesday()).Questions[0]
		for _, answer := range []string{"", "hmm", "why do you ask?", "..."} {
			r := Continue(sentence, before.Text, answer, tuesday())
			if r.Complete() || r.Questions[0] != before {
				t.Errorf("%s: after %q asks %v, want %q again", sentence, answer, r.Questions, before.Text)
			}
		}
	}
}

func TestAnAnswerToNoQuestionIsReadWithTheSentence(t *testing.T) {
	r := Continue("Oslo to Nice 12 March", "Anything else?", "for 3 nights", tuesday())
	if !r.Complete() || line(r.Trip) != "OSL NCE 2026-03-12 3n 1p €0" {
		t.Fatalf("understood %v, asks %q", r.Trip, r.Questions)
	}
}
