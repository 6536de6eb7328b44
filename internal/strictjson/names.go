package strictjson

import (
	"strings"
	"unicode/utf8"
)

// members is what is known of the names of the object being read.
type members struct {
	first int // where they begin among all names
	// apart: each comes after the one before it and has no capital, so that no two
	// of them can be the same or differ in case only.
	apart bool
	// mixed: they are not in canonical order.
	mixed bool
	// folded has them by their folded form, once there are more than a few.
	folded map[string]string
}

// few is up to how many names are compared one by one.
const few = 32

// name reads a member's name and compares it with those of its object.
func (p *parser) name(m *members) (string, *Error) {
	start := p.at
	if p.peek() != '"' {
		return "", p.unexpected(RuleSyntax, "a member name")
	}
	name, err := p.str(true)
	if err != nil {
		return "", err
	}
	switch name {
	case "__proto__", "constructor", "prototype":
		return "", p.refuse(start, RuleForbiddenKey, "a name that is no object's in JavaScript", name)
	}
	p.work += len(name)
	later := p.names.size == m.first || compareUTF16(p.names.at(p.names.size-1), name) < 0
	m.mixed = m.mixed || !later
	p.varied = p.varied || m.mixed
	if m.apart = m.apart && later && !hasCapital(name); !m.apart {
		switch other, clash := p.clash(name, m); {
		case clash && other == name:
			return "", p.refuse(start, RuleDuplicateKey, "each name once", name)
		case clash:
			return "", p.refuse(start, RuleCaseVariant, "names that differ in more than case", name)
		}
	}
	p.names.push(name)
	return name, nil
}

// refuse reports a name, which begins at start.
func (p *parser) refuse(start int, rule, want, name string) *Error {
	p.at = start
	p.path = append(p.path, step{name: name, index: -1})
	return p.fail(rule, want, quote(name))
}

// clash finds a name of the same object that differs in case at most.
func (p *parser) clash(name string, m *members) (other string, found bool) {
	if p.names.size-m.first < few {
		for i := m.first; i < p.names.size; i++ {
			other := p.names.at(i)
			p.work += min(len(name), len(other)) + 1
			if strings.EqualFold(name, other) {
				return other, true
			}
		}
		return "", false
	}
	if m.folded == nil {
		m.folded = make(map[string]string, 2*few)
		for i := m.first; i < p.names.size; i++ {
			m.folded[fold(p.names.at(i))] = p.names.at(i)
		}
	}
	folded := fold(name)
	other, found = m.folded[folded]
	m.folded[folded] = name
	return other, found
}

// hasCapital reports whether a name may have a character that some other case of
// it lacks: every character beyond ASCII counts.
func hasCapital(name string) bool {
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}
