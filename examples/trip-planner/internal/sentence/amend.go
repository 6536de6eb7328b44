package sentence

import "slices"

// amendPlaces replaces the places that an answer is about.
func (d *draft) amendPlaces(about About, a *draft) {
	asked := none
	switch about {
	case Origin:
		asked = origin
	case Destination:
		asked = destination
	}
	var said []mention
	replaced := map[role]bool{}
	for _, m := range a.places {
		if m.role == none {
			m.role = asked
		}
		if m.role == none && a.corrected {
			m.role = destination
		}
		if m.role == none && m.weak {
			continue
		}
		if m.role == none {
			d.ask(Destination, "you said “%s”; which city do you want to go to?", clip(m.text))
			continue
		}
		m.back = false
		if m.country {
			d.narrow(&m)
		}
		replaced[m.role] = true
		said = append(said, m)
	}
	if len(said) == 0 {
		return
	}
	free := d.withRole(none)
	kept := slices.DeleteFunc(slices.Clone(d.places), func(m mention) bool {
		return replaced[m.role] || m.role == none || m.role == stopover || m.back
	})
	d.places = append(said, append(d.stillFree(free, replaced), kept...)...)
	d.strange = nil
	for r := range replaced {
		d.drop(r.about())
	}
}

// narrow settles which of several cities was meant by the country that an answer names.
func (d *draft) narrow(m *mention) {
	for _, earlier := range d.places {
		if earlier.country || earlier.role != m.role && earlier.role != none {
			continue
		}
		for _, c := range earlier.candidates {
			if slices.ContainsFunc(m.candidates, c.SameCity) {
				m.airport, m.candidates, m.country = c, nil, false
				return
			}
		}
	}
}

// stillFree returns the places without a role that an answer leaves standing: the one that stood for the other role.
func (d *draft) stillFree(free []mention, replaced map[role]bool) []mention {
	if len(free) == 0 || replaced[origin] && replaced[destination] {
		return nil
	}
	either := len(free) > 1 && free[1].either
	switch {
	case replaced[destination]:
		if len(d.withRole(origin)) > 0 || either {
			return nil
		}
		return free[:1]
	case len(d.withRole(destination)) > 0 || either:
		return nil
	case len(free) > 1:
		return free[1:]
	}
	return free
}

func (d *draft) withRole(r role) []mention {
	var some []mention
	for _, m := range d.places {
		if m.role == r && !m.back {
			some = append(some, m)
		}
	}
	return some
}
