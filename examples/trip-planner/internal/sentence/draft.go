package sentence

import (
	"slices"
	"time"
)

// draft is what a sentence said, part by part, before anything is decided.
type draft struct {
	places  []mention
	strange []string // capitalised words that are no known place and have no role

	days   []day
	months []time.Month // "in March", without a day
	vague  string       // "next week": a time that is no day

	stays   []stay
	oneWay  bool
	dayTrip bool
	weekend bool
	noHotel bool
	wayBack bool     // a way back was spoken of
	wishes  []string // what cannot be arranged

	counts []count
	plural string // the word that speaks of several people

	limits  []limit
	inEuros bool // an answer to a question about currency: the amount was in euros
	noLimit bool

	corrected bool // "I meant", "rather": what is said replaces what was

	left      []amount // numbers that no rule understood
	questions []Question
}

// count is a number of travellers.
type count struct {
	n    int
	text string
}

// stay is a length of stay.
type stay struct {
	n    int
	days bool // said in days
	text string
}

func (d *draft) addStay(s stay) {
	for _, other := range d.stays {
		if other.n == s.n && other.days == s.days {
			return
		}
	}
	d.stays = append(d.stays, s)
}

func (d *draft) ask(about About, format string, a ...any) {
	d.questions = append(d.questions, ask(about, format, a...))
}

// empty reports whether nothing of a trip was said.
func (d *draft) empty() bool {
	return len(d.places)+len(d.days)+len(d.months)+len(d.stays)+len(d.counts)+len(d.limits)+len(d.left)+len(d.questions) == 0 &&
		d.vague == "" && d.plural == "" && !d.oneWay && !d.dayTrip && !d.weekend && !d.noLimit && !d.inEuros && !d.noHotel
}

// amend replaces the part that was asked about, and any other that the answer mentions, by what the answer says.
func (d *draft) amend(about About, a *draft) {
	asked := map[About]bool{}
	for _, q := range a.questions {
		asked[q.About] = true
	}
	if len(a.places) > 0 || asked[Destination] || asked[Origin] {
		d.amendPlaces(about, a)
	}
	if outs := a.daysOf(false); len(outs) > 0 || len(a.months) > 0 || a.vague != "" || asked[When] {
		d.days = append(d.daysOf(true), outs...)
		if len(a.months) > 0 || !onlyDays(outs) {
			d.months = a.months
		}
		d.vague = a.vague
		d.left = slices.DeleteFunc(d.left, amount.year)
		d.drop(When)
	}
	if backs := a.daysOf(true); len(backs) > 0 || len(a.stays) > 0 || a.oneWay || a.dayTrip || a.weekend || a.noHotel || asked[Nights] {
		d.days = append(d.daysOf(false), backs...)
		d.stays, d.oneWay, d.dayTrip, d.weekend, d.noHotel = a.stays, a.oneWay, a.dayTrip, a.weekend, a.noHotel
		d.drop(Nights)
	}
	if len(a.counts) > 0 || a.plural != "" || asked[Party] {
		d.counts, d.plural = a.counts, a.plural
		d.drop(Party)
	}
	switch {
	case a.inEuros:
		for i := range d.limits {
			d.limits[i].currency = ""
		}
		d.drop(Currency)
	case len(a.limits) > 0 || a.noLimit || asked[Budget] || asked[Currency]:
		d.limits, d.noLimit, d.left = a.limits, a.noLimit, nil
		d.drop(Budget)
		d.drop(Currency)
	}
	d.wayBack = d.wayBack || a.wayBack
	for _, w := range append(a.wishes, a.strange...) {
		if about == "" || !slices.Contains(a.strange, w) {
			d.wishes = append(d.wishes, w)
		}
	}
	d.questions = append(d.questions, a.questions...)
}

// onlyDays reports whether all days lack their month: "in March", asked about, "the 12th".
func onlyDays(all []day) bool {
	return !slices.ContainsFunc(all, func(x day) bool { return x.spec.form != dayOnly })
}

// daysOf returns the days of return, or the days of departure.
func (d *draft) daysOf(back bool) []day {
	var some []day
	for _, x := range d.days {
		if x.back == back {
			some = append(some, x)
		}
	}
	return some
}

// drop takes the questions about one part away.
func (d *draft) drop(about About) {
	kept := d.questions[:0]
	for _, q := range d.questions {
		if q.About != about {
			kept = append(kept, q)
		}
	}
	d.questions = kept
}
