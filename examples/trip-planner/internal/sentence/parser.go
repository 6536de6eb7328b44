package sentence

import "strings"

// parser reads one sentence, or one answer, into a draft. At each token the first rule that fits takes as many tokens
// as it understands.
type parser struct {
	text   string
	tokens []token
	today  Date
	about  About // for an answer: what was asked
	shout  bool
	draft  *draft

	role      role // what the next place is, by the words before it
	roleAt    int  // the token right after those words
	between   bool // "between X and Y"
	back      bool // words of coming back were said: the next date or place belongs to the return
	lastDay   int  // the token after the last date
	lastPlace int  // the token after the last place
	lastParty int  // the token after the last travellers
}

func read(text string, about About, today Date) *draft {
	p := &parser{text: text, tokens: lex(text), today: today, about: about, draft: &draft{}, lastDay: -1}
	p.shout = shouted(p.tokens)
	switch about {
	case Origin:
		p.role = origin
	case Destination:
		p.role = destination
	}
	rules := []func(int) int{
		p.clock, p.caution, p.budget, p.dates, p.stay, p.party, p.journey, p.place, p.marker, p.stray,
	}
	for i := 0; i < len(p.tokens); {
		n := 0
		for _, rule := range rules {
			if n = rule(i); n > 0 {
				break
			}
		}
		i += max(n, 1)
	}
	p.answer()
	return p.draft
}

// at returns a token; beyond either end it is the zero token.
func (p *parser) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{}
	}
	return p.tokens[i]
}

// w returns the norm of a word and "" for anything else.
func (p *parser) w(i int) string {
	if t := p.at(i); t.kind == word {
		return t.norm
	}
	return ""
}

// m returns the norm of a mark and "" for anything else.
func (p *parser) m(i int) string {
	if t := p.at(i); t.kind == mark {
		return t.norm
	}
	return ""
}

// raw returns the text of tokens i to j-1 as it was written.
func (p *parser) raw(i, j int) string {
	if i >= j || i < 0 || j > len(p.tokens) {
		return ""
	}
	return p.text[p.tokens[i].start:p.tokens[j-1].end]
}

// glued reports whether a mark stands at i with no space on either side.
func (p *parser) glued(i int, marks string) bool {
	m := p.m(i)
	return m != "" && strings.Contains(marks, m) && !p.at(i).gap && p.at(i+1).kind != end && !p.at(i+1).gap
}

// phrase returns how many tokens a phrase of words takes at i, 0 if it is not there.
func (p *parser) phrase(i int, phrases ...string) int {
	first := p.at(i).norm
	if first == "" {
		return 0
	}
	for _, ph := range phrases {
		if !strings.HasPrefix(ph, first) {
			continue
		}
		n, ok := 0, true
		for w := range strings.FieldsSeq(ph) {
			if p.at(i+n).norm != w {
				ok = false
				break
			}
			n++
		}
		if ok {
			return n
		}
	}
	return 0
}

// clock passes over a time of day, which is no wish that can be arranged: "at 10:30", "6 pm".
func (p *parser) clock(i int) int {
	n := p.timeOfDay(i)
	if n > 0 {
		p.draft.wishes = append(p.draft.wishes, p.raw(i, i+n))
	}
	return n
}

func (p *parser) timeOfDay(i int) int {
	if p.at(i).kind != numeral {
		return 0
	}
	n := 1
	if p.glued(i+1, ":.") && len(p.at(i+2).text) == 2 && p.at(i+2).kind == numeral {
		n = 3
	}
	switch p.w(i + n) {
	case "am", "pm", "o'clock":
		return n + 1
	case "a", "p":
		if p.phrase(i+n+1, ". m") > 0 {
			return n + 3
		}
	}
	if n == 3 && p.m(i+1) == ":" {
		return n
	}
	return 0
}

// dateBefore reports whether a date ends right before token i.
func (p *parser) dateBefore(i int) bool { return p.lastDay == i }

// answer reads what makes sense only as the answer to a question: a bare number, "no".
func (p *parser) answer() {
	d := p.draft
	for i := range p.tokens {
		if p.phrase(i, "meant", "mean", "instead", "rather", "actually", "correction") > 0 {
			d.corrected = true
		}
	}
	if len(d.left) == 1 {
		n := d.left[0]
		switch {
		case p.about == Nights && len(d.stays) == 0 && n.whole:
			d.addStay(stay{n: n.value, text: n.text})
		case p.about == Party && len(d.counts) == 0 && n.whole:
			d.counts = append(d.counts, count{n.value, n.text})
			d.drop(Party) // "2, with Anna"
		case p.about == When && len(d.days) == 0 && n.whole && n.value >= 1 && n.value <= 31:
			d.days = append(d.days, day{spec: spec{form: dayOnly, day: n.value}, text: n.text})
		case (p.about == Budget || p.about == Currency) && len(d.limits) == 0:
			d.limits = append(d.limits, limit{cents: n.cents, text: n.text})
		default:
			return
		}
		d.left = nil
	}
	if len(p.tokens) == 0 || (p.about != Budget && p.about != Currency) {
		return
	}
	if p.about == Currency && len(d.limits) == 0 && p.onlyEuros() {
		d.inEuros = true
	}
	if len(d.limits) > 0 {
		return
	}
	for i := range p.tokens {
		if p.phrase(i, "unlimited", "any price", "any amount", "doesn't matter", "does not matter", "whatever it costs", "limitless") > 0 {
			d.noLimit = true
		}
	}
}

// onlyEuros reports whether an answer names euros without an amount.
func (p *parser) onlyEuros() bool {
	for i := range p.tokens {
		if euro(p.at(i).norm) {
			return true
		}
	}
	return false
}
