package sentence

import (
	"slices"
	"strings"
)

// settler decides what a draft means.
type settler struct {
	*draft
	today Date
	Result
}

// settle turns a draft into a trip, or into questions.
func (d *draft) settle(today Date) Result {
	s := &settler{draft: d, today: today}
	from, to := s.ends()
	out, known := s.departure()
	nights := s.nights(out, known)
	party := s.party()
	budget := s.budget(party)
	return s.finish(Trip{From: from, To: to, Out: out, Nights: nights, OneWay: d.oneWay, Party: party, Budget: budget})
}

func (s *settler) finish(t Trip) Result {
	var asked []Question
	for _, about := range abouts() {
		if q, ok := first(s.questions, about); ok {
			asked = append(asked, q)
		}
	}
	if len(asked) > 0 {
		return Result{Questions: asked}
	}
	s.unarranged(t)
	return Result{Trip: t, Assumed: s.Assumed}
}

// unarranged lists what was said and is not sold.
func (s *settler) unarranged(t Trip) {
	var all []string
	for _, w := range append(s.wishes, s.strange...) {
		if w = "“" + clip(w) + "”"; !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	const most = 8
	if len(all) > most {
		all = append(all[:most], "…")
	}
	if len(all) > 0 {
		s.assume("not arranged: " + strings.Join(all, ", "))
	}
	if !t.OneWay && (s.wayBack || s.dayTrip || len(s.daysOf(true)) > 0) {
		s.assume("the way back is not booked")
	}
}

func first(all []Question, about About) (Question, bool) {
	i := slices.IndexFunc(all, func(q Question) bool { return q.About == about })
	if i < 0 {
		return Question{}, false
	}
	return all[i], true
}

func (s *settler) assume(text string) { s.Assumed = append(s.Assumed, text) }

// party returns the number of travellers.
func (s *settler) party() int {
	var all []count
	for _, c := range s.counts {
		if !slices.ContainsFunc(all, func(o count) bool { return o.n == c.n }) {
			all = append(all, c)
		}
	}
	switch {
	case len(all) > 1:
		s.ask(Party, "“%s” and “%s” do not agree; which is right?", clip(all[0].text), clip(all[1].text))
	case len(all) == 1 && all[0].n > MostTravellers:
		s.ask(Party, "I plan for up to %d travellers; you said “%s”.", MostTravellers, clip(all[0].text))
	case len(all) == 1:
		return all[0].n
	case s.plural != "":
		s.ask(Party, "You said “%s”; how many people is that?", clip(s.plural))
	default:
		s.assume("party: 1 traveller, since no other was named")
	}
	return 1
}

// budget returns the most that the trip may cost in cents, 0 for no limit.
func (s *settler) budget(party int) int64 {
	s.unexplained()
	var all []limit
	for _, l := range s.limits {
		if l.currency != "" {
			s.ask(Currency, "I reckon in euros and know no rate for “%s”; how many euros is it?", clip(l.text))
			return 0
		}
		if !slices.ContainsFunc(all, func(o limit) bool { return o.cents == l.cents && o.perPerson == l.perPerson }) {
			all = append(all, l)
		}
	}
	switch {
	case len(all) > 1:
		s.ask(Budget, "“%s” and “%s” do not agree; which is the most it may cost?", clip(all[0].text), clip(all[1].text))
		return 0
	case len(all) == 1 && s.noLimit:
		s.ask(Budget, "is there a limit of “%s”, or none?", clip(all[0].text))
		return 0
	case len(all) == 0:
		return 0
	}
	l := all[0]
	if l.ranged {
		s.assume("budget: at most " + euros(l.cents) + ", the upper end of the range")
	}
	if l.perPerson {
		return l.cents * int64(party)
	}
	return l.cents
}

// unexplained asks about a number that nothing explains, if it is large enough to be a price or a year.
func (s *settler) unexplained() {
	for _, n := range s.left {
		switch {
		case n.year():
			if len(s.days) > 0 {
				s.ask(When, "what does “%s” belong to? Please write the date with its year.", n.text)
			}
		case n.cents < 100_00:
			s.ask(Party, "what does “%s” count? How many travel in all?", clip(n.seen))
		default:
			s.ask(Budget, "what is “%s”? If it is the most that the trip may cost, say “budget %s”.", clip(n.text), clip(n.text))
		}
	}
}

// year reports whether a number may be a year.
func (a amount) year() bool {
	return a.whole && a.tokens == 1 && len(a.text) == 4 && a.value >= 1900 && a.value <= 2199
}
