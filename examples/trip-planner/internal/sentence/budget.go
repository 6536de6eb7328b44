package sentence

import (
	"slices"
	"strconv"
	"strings"
)

// amount is a number that may be money: grouped, with cents, or in thousands.
type amount struct {
	value  int // whole part
	cents  int64
	whole  bool // no fraction
	bad    bool // digits grouped as no number is
	tokens int
	text   string
}

// limit is the most that the trip may cost.
type limit struct {
	cents     int64
	currency  string // as it was written, if it is not the euro
	perPerson bool
	ranged    bool // the upper end of a range
	nightly   bool // for one night or day
	bad       bool // not written as a number is
	text      string
}

// budget understands "under 900", "€1,200", "1 200 euros", "budget: 1.5k", "no limit".
func (p *parser) budget(i int) int {
	if n := p.phrase(i, "no budget limit", "no budget", "no limit", "unlimited budget", "money is no object",
		"any budget", "without a budget", "no price limit", "budget unlimited", "budget no limit", "budget none"); n > 0 {
		p.draft.noLimit = true
		return n
	}
	if n := p.phrase(i, "more than", "over", "above", "at least", "min", "minimum"); n > 0 {
		j := p.skip(i+n, budgetFillers())
		if l, m := p.money(j); m > 0 && p.currencied(j, j+m) {
			p.draft.ask(Budget, "“%s %s” is the least it may cost; what is the most?", p.raw(i, i+n), l.text)
			return j - i + m
		}
	}
	if n := p.phrase(i, limitWords()...); n > 0 {
		j := p.skip(i+n, budgetFillers())
		l, m := p.money(j)
		certain := p.currencied(j, j+m) || p.phrase(i, "budget", "spend", "price", "cost") > 0 || j > i+n && p.w(i+n) == "budget"
		if m > 0 && (certain || l.cents >= 20_00 || l.cents == 0 || p.negative(j)) {
			p.limit(j, l)
			return j - i + m
		}
		return 0
	}
	l, m := p.money(i)
	if m == 0 {
		return 0
	}
	if p.currencied(i, i+m) {
		p.limit(i, l)
		return m
	}
	n := p.phrase(i+m, "max", "maximum", "tops", "budget", "or less", "at most", "limit", "in total", "total", "altogether",
		"all in", "at the most")
	if n == 0 || l.cents < 20_00 {
		return 0
	}
	if _, more := p.money(p.skip(i+m+n, budgetFillers())); more > 0 {
		return 0 // "2 max 900": the word belongs to the number after it
	}
	p.limit(i, l)
	return m + n
}

func limitWords() []string {
	return []string{"no more than", "not more than", "not over", "not above", "less than", "cheaper than", "at most", "up to",
		"not exceeding", "not exceed", "under", "below", "max", "maximum", "maximal", "budget", "within", "limit", "cap",
		"capped at", "costing", "cost", "costs", "spend", "spending", "pay", "price", "afford", "for under", "< =", "<", "≤",
		"upto"}
}

func budgetFillers() []string {
	return []string{"of", "is", "'s", "at", "most", "max", "maximum", "around", "about", "approximately", "roughly", "circa",
		"ca", "the", "a", "total", "be", "should", "not", "exceed", "under", "below", "only", "just", "limited", "limit",
		"limits", "set", "up", "to", "than", "less", "more", "no", "my", "our", "for", "flights", "hotel", "and", "all",
		"budget", "cost", "price", "spend", "~", ":", "=", "-", ".", "<", "≤", "("}
}

// skip passes over a few of the given words and marks; a minus sign stays with its number.
func (p *parser) skip(i int, fillers []string) int {
	for range 6 {
		t := p.at(i)
		if t.kind != word && t.kind != mark || !slices.Contains(fillers, t.norm) {
			break
		}
		if p.phrase(i, "a hundred", "a thousand", "a night") > 0 {
			break
		}
		i++
	}
	return i
}

// money reads an amount with what belongs to it: currency before or after, a range, "per person". It takes nothing
// where the number counts something else.
func (p *parser) money(i int) (limit, int) {
	j, foreign, euroSeen := i, "", false
	take := func() {
		name, isEuro, n := p.currency(j)
		j += n
		if isEuro {
			euroSeen = true
		} else if n > 0 {
			foreign = name
		}
	}
	take()
	if p.m(j) == "-" && j > i && !p.at(j+1).gap {
		j++
	}
	a := p.amount(j)
	if a.tokens == 0 {
		return limit{}, 0
	}
	j += a.tokens
	take()
	ranged := false
	if k := p.rangeTo(i, j); k > 0 {
		_, _, pre := p.currency(k)
		if b := p.amount(k + pre); b.tokens > 0 {
			if _, _, post := p.currency(k + pre + b.tokens); pre+post > 0 || foreign != "" || euroSeen {
				a, ranged, j = b, true, k
				take()
				j += b.tokens
				take()
			}
		}
	}
	if foreign == "" && !euroSeen {
		if p.unit(j) || p.month(j) > 0 || p.ordinalSuffix(j) {
			return limit{}, 0
		}
	}
	l := limit{cents: a.cents, currency: foreign, ranged: ranged, bad: a.bad, text: p.raw(i, j)}
	if t := p.at(j); t.kind == word && !t.gap {
		l.bad, l.text = true, p.raw(i, j+1) // "1e9"
	}
	if n := p.phrase(j, "per person", "a person", "each", "per head", "a head", "pp", "p . p .", "/ person", "/ pp",
		"per traveller", "per traveler", "per adult", "per pax", "apiece"); n > 0 {
		l.perPerson = true
		j += n
	}
	if n := p.phrase(j, "per night", "a night", "/ night", "nightly", "each night", "per day", "a day", "/ day", "daily"); n > 0 {
		l.nightly, l.text = true, p.raw(i, j+n)
		j += n
	}
	return l, j - i
}

// rangeTo returns where the second number of "500-900" or "between 500 and 900" begins.
func (p *parser) rangeTo(from, i int) int {
	if p.m(i) == "-" || p.w(i) == "to" || p.w(i) == "and" && p.w(from-1) == "between" {
		return i + 1
	}
	return 0
}

// currencied reports whether a currency stands among tokens i to j-1.
func (p *parser) currencied(i, j int) bool {
	for ; i < j; i++ {
		if _, _, n := p.currency(i); n > 0 {
			return true
		}
	}
	return false
}

// limit records the most that the trip may cost, or asks about an amount that cannot be it.
func (p *parser) limit(i int, l limit) {
	switch {
	case l.bad:
		p.draft.ask(Budget, "I cannot read “%s” as an amount; how many euros is it?", clip(l.text))
		return
	case l.nightly:
		p.draft.ask(Budget, "“%s” is for one night or day; what is the most for the whole trip?", clip(l.text))
		return
	}
	if p.negative(i) || p.m(i+1) == "-" && !p.at(i+2).gap && p.at(i).kind != numeral {
		p.draft.ask(Budget, "a budget of -%s cannot be; what is the most it may cost?", l.text)
		return
	}
	if l.cents <= 0 {
		p.draft.ask(Budget, "a budget of %s buys nothing; what is the most it may cost?", l.text)
		return
	}
	if l.cents > 100_000_000_00 {
		p.draft.ask(Budget, "the budget %q is too large to be meant; what is the most it may cost?", clip(l.text))
		return
	}
	p.draft.limits = append(p.draft.limits, l)
}

// amount reads "900", "1,200", "1.200,50", "1 200", "1.5k", "nine hundred".
func (p *parser) amount(i int) amount {
	if p.at(i).kind != numeral {
		n := p.integer(i)
		return amount{value: n.value, cents: int64(n.value) * 100, whole: true, tokens: n.tokens, text: p.raw(i, i+n.tokens)}
	}
	digits, fraction, group := p.at(i).text, "", ""
	first := len(digits) <= 3 && digits != "0"
	j := i + 1
	for p.at(j).kind != end && len(digits) <= 12 {
		if p.at(j).kind == numeral && p.at(j).gap && len(p.at(j).text) == 3 && first && (group == "" || group == " ") {
			digits, group = digits+p.at(j).text, " "
			j++
			continue
		}
		if !p.glued(j, ",.'’") || p.at(j+1).kind != numeral {
			break
		}
		sep, next := p.m(j), p.at(j+1).text
		if len(next) == 3 && first && (group == "" || group == sep) {
			digits, group = digits+next, sep
		} else {
			fraction = next
			j += 2
			break
		}
		j += 2
	}
	a := amount{value: digitsValue(digits), whole: fraction == "", bad: len(fraction) > 2}
	f, _ := strconv.Atoi((fraction + "00")[:2]) // digits only
	a.cents = int64(a.value)*100 + int64(f)
	if w := p.w(j); w == "k" || w == "thousand" || w == "grand" || w == "hundred" {
		factor := 1000
		if w == "hundred" {
			factor = 100
		}
		a.cents, a.value, a.bad = a.cents*int64(factor), min(a.value, hugeNumber/1000)*factor, len(fraction) > 2
		j++
	}
	a.tokens, a.text = j-i, p.raw(i, j)
	return a
}

// currency reads a currency at token i: the euro, or another by the name it was given.
func (p *parser) currency(i int) (name string, isEuro bool, tokens int) {
	j := i
	if p.w(j) == "in" {
		j++
	}
	t := p.at(j)
	if euro(t.norm) && (t.norm != "e" || !t.gap && !(p.at(j+1).kind == numeral && !p.at(j+1).gap)) {
		return t.text, true, j + 1 - i
	}
	for range 2 { // "US dollars", "Swiss francs", "A$"
		switch p.w(j) {
		case "us", "american", "canadian", "australian", "swiss", "swedish", "norwegian", "danish", "british", "japanese",
			"hong", "kong", "singapore", "new", "zealand", "polish", "czech", "indian", "chinese", "c", "a", "u":
			if p.foreign(j+1) || p.foreign(j+2) {
				j++
			}
		}
	}
	if p.foreign(j) {
		return strings.TrimPrefix(p.raw(i, j+1), "in "), false, j + 1 - i
	}
	return "", false, 0
}

func euro(norm string) bool {
	switch norm {
	case "€", "eur", "euro", "euros", "eurs", "e":
		return true
	}
	return false
}

func (p *parser) foreign(i int) bool {
	switch t := p.at(i); t.norm {
	case "$", "£", "¥", "₹", "₽", "₩", "₺", "₪", "฿", "₴", "₫", "usd", "dollar", "dollars", "bucks", "gbp", "pound", "pounds",
		"quid", "sterling", "sek", "nok", "dkk", "isk", "kr", "kronor", "kroner", "krona", "krone", "yen", "jpy", "chf", "franc",
		"francs", "pln", "zloty", "zł", "cad", "aud", "nzd", "inr", "rupee", "rupees", "rub", "rouble", "roubles", "ruble",
		"rubles", "cny", "rmb", "yuan", "renminbi", "lira", "liras", "btc", "bitcoin", "bitcoins", "krw", "huf", "forint",
		"forints", "czk", "koruna", "ron", "lei", "peso", "pesos", "mxn", "brl", "reais", "zar", "aed", "dirham", "dirhams",
		"ils", "shekel", "shekels", "thb", "baht", "hkd", "sgd", "markka", "marks", "cents", "cent", "eth", "dinar", "dinars",
		"riyal", "riyals", "rial", "hryvnia", "uah":
		return true
	case "won", "real", "rand", "try":
		return p.at(i-1).kind == numeral
	}
	return false
}

// clip shortens what is quoted back in a question.
func clip(s string) string {
	const most = 40
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
