package sentence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// ends returns where the trip begins and where it goes.
func (s *settler) ends() (from, to places.Airport) {
	starts, goals := s.roles()
	for _, m := range s.places {
		if m.role == stopover && !m.weak {
			s.ask(Destination, "I plan direct trips and cannot go via “%s”; which one place do you want to go to?", clip(m.text))
		}
	}
	to, toOK := s.pick(destination, goals)
	from, fromOK := s.pick(origin, starts)
	if toOK && fromOK && from.SameCity(to) {
		s.ask(Destination, "the trip would begin and end in %s; which other city do you want to go to?", to.City)
	}
	return from, to
}

// roles says which mentions are of the origin and which of the destination. A place without a role takes the one that
// is still open.
func (s *settler) roles() (starts, goals []mention) {
	var free, home, away []mention
	for _, m := range s.places {
		switch {
		case m.back && m.role == origin:
			away = append(away, m)
		case m.back && m.role == destination:
			home = append(home, m)
		case m.role == origin:
			starts = append(starts, m)
		case m.role == destination:
			goals = append(goals, m)
		case m.role == none:
			free = append(free, m)
		}
	}
	if len(starts)+len(goals)+len(free) == 0 {
		if len(away) > 0 && len(home) > 0 { // "return from Oslo to Rome": a round trip
			return away, home
		}
		return home, away // "back to Helsinki": that is where the trip began
	}
	starts, goals = strongest(starts), strongest(goals)
	if len(starts)+len(goals) > 0 || len(free) < 2 {
		free = slices.DeleteFunc(free, func(m mention) bool { return m.weak })
	}
	starts, goals = s.fill(starts, goals, free)
	if len(starts) == 0 {
		starts = home
	}
	if len(goals) == 0 {
		goals = away
	}
	return withoutReturn(starts, goals, home, away)
}

// fill gives the places without a role to whichever end is open.
func (s *settler) fill(starts, goals, free []mention) ([]mention, []mention) {
	free = slices.DeleteFunc(free, func(m mention) bool {
		return slices.ContainsFunc(starts, m.same) || slices.ContainsFunc(goals, m.same)
	})
	switch {
	case len(free) == 0:
	case len(starts) > 0 && len(goals) > 0:
		goals = append(goals, free...)
	case len(goals) > 0:
		starts = free[:1]
		goals = append(goals, free[1:]...)
	case len(starts) > 0 || len(free) == 1 || free[1].either:
		goals = free
	default:
		starts, goals = free[:1], free[1:]
	}
	return starts, goals
}

// withoutReturn takes the second leg of "Helsinki to Lisbon to Helsinki" away, and keeps a return to somewhere else,
// which then is asked about.
func withoutReturn(starts, goals, home, away []mention) (_, _ []mention) {
	if len(starts) == 0 || len(goals) == 0 {
		return starts, goals
	}
	start, goal := starts[0], goals[0]
	isGoal := func(m mention) bool { return m.same(goal) && !start.same(goal) }
	isStart := func(m mention) bool { return m.same(start) && !start.same(goal) }
	goals = slices.Concat(goals[:1], slices.DeleteFunc(slices.Concat(goals[1:], away), isStart))
	starts = slices.Concat(starts[:1], slices.DeleteFunc(slices.Concat(starts[1:], home), isGoal))
	return starts, goals
}

// strongest drops mentions that may be ordinary words if there are others.
func strongest(all []mention) []mention {
	if !slices.ContainsFunc(all, func(m mention) bool { return !m.weak }) {
		return all
	}
	return slices.DeleteFunc(all, func(m mention) bool { return m.weak })
}

// same reports whether two mentions are of one city for certain.
func (m mention) same(o mention) bool {
	if m.unknown || o.unknown || m.candidates != nil || o.candidates != nil {
		return (m.unknown || m.candidates != nil) && places.Fold(m.text) == places.Fold(o.text)
	}
	return m.airport.SameCity(o.airport)
}

// pick decides on the one place that the mentions are of, or asks.
func (s *settler) pick(r role, all []mention) (places.Airport, bool) {
	about, none := r.about(), places.Airport{}
	if len(all) == 0 {
		s.askOpen(r)
		return none, false
	}
	var best *mention
	var open []mention
	for i := range all {
		m := &all[i]
		switch {
		case m.unknown || m.candidates != nil:
			open = append(open, *m)
		case best == nil:
			best = m
		case !best.airport.SameCity(m.airport):
			s.ask(about, "I plan one %s at a time; is it %s or %s?", about, best.airport.City, m.airport.City)
			return none, false
		case m.exact && best.exact && m.airport != best.airport:
			s.ask(about, "is it %s or %s?", best.airport, m.airport)
			return none, false
		case m.exact:
			best = m
		}
	}
	for _, m := range open {
		if best != nil && slices.ContainsFunc(m.candidates, best.airport.SameCity) {
			continue // "Lisbon in Portugal"
		}
		s.ask(about, "%s", doubt(m))
		return none, false
	}
	s.note(about, best)
	return best.airport, true
}

// note lists what was decided about a place.
func (s *settler) note(about About, m *mention) {
	if m.typo {
		s.assume(fmt.Sprintf("%s: %s for “%s”", about, m.airport, m.text))
	}
	others := slices.DeleteFunc(places.ByCity(m.airport.City), func(a places.Airport) bool { return !a.SameCity(m.airport) })
	if !m.exact && len(others) > 1 {
		s.assume(fmt.Sprintf("%s: %s, the main airport of %s", about, m.airport.Code, m.airport.City))
	}
}

// askOpen asks for a place that was not named, with the word that may have been meant.
func (s *settler) askOpen(r role) {
	about := r.about()
	if len(s.strange) > 0 {
		word := s.strange[0]
		if m := places.Resolve(word); m.Kind == places.Typo {
			s.ask(about, "I do not know “%s”; do you mean %s?", clip(word), m.Airport)
			return
		}
		s.ask(about, "I know no airport in “%s”; which city is it?", clip(word))
		return
	}
	if r == origin {
		s.ask(about, "which city does the trip begin in?")
		return
	}
	s.ask(about, "which city do you want to go to?")
}

// doubt says what is unclear about a mention.
func doubt(m mention) string {
	if m.unknown {
		return fmt.Sprintf("I know no airport in “%s”; which city do you mean?", clip(m.text))
	}
	const most = 6
	var names []string
	for _, a := range m.candidates[:min(most, len(m.candidates))] {
		if m.country {
			names = append(names, a.City)
		} else {
			names = append(names, a.String()+", "+a.Country)
		}
	}
	if m.country {
		return fmt.Sprintf("“%s” is a country; which city, for example %s?", clip(m.text), strings.Join(names, ", "))
	}
	return fmt.Sprintf("“%s” may be %s; which one?", clip(m.text), strings.Join(names, "; or "))
}
