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
	seen   string // the number with the word beside it, for a question
}

// limit is the most that the trip may cost.
type limit struct {
	cents     int64
	currency  string // as it was written, if it is not the euro
	perPerson bool
	ranged    bool // the upper end of a range
	part      bool // for a part of the trip or the party only
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
	if n := p.phrase(i, "not less than", "no less than", "not under", "not below", "not cheaper than", "more than", "over", "above", "at least", "min", "minimum"); n > 0 {
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
		if l.currency == "" && m > 0 && !p.currencied(j, j+m) && p.unknownCurrency(j+m) {
			l.currency, l.text = p.raw(j+m, j+m+1), p.raw(j, j+m+1)
			p.limit(j, l)
			return j - i + m + 1
		}
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
		if from, to := p.elsewhere(i, i+m); from < i || to > i+m {
			p.draft.ask(Budget, "is “%s” a limit? What is the most that the trip may cost?", clip(p.raw(from, to)))
			return to - i
		}
		if n := p.phrase(i+m, "max", "maximum", "tops", "at most", "limit", "budget", "in total", "total"); n > 0 && !l.part {
			if k := p.share(&l, i, i+m+n); k > 0 {
				m += n + k // "500 euros max per person"
			}
		}
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
	n += p.share(&l, i, i+m+n)
	p.limit(i, l)
	return m + n
}

// elsewhere returns how far words reach that say that the money at tokens i to j-1 is no limit: "already paid 500 euros".
func (p *parser) elsewhere(i, j int) (from, to int) {
	if n := p.phrase(i-1, "from", "twice", "double", "triple", "half", "minus", "plus"); n > 0 && p.w(i-1) != "minus" {
		return i - 1, j
	}
	if p.phrase(i-2, "starting at", "half of", "times", "third of", "quarter of", "part of", "share of", "out of") > 1 {
		return i - 2, j
	}
	for k := i - 1; k >= max(0, i-4, p.lastPlace, p.lastDay, p.lastParty) && p.at(k).kind != mark && !p.at(k).allCapitals(); k-- {
		if slices.Contains([]string{"paid", "spent", "saved", "won", "earned", "earn", "owe", "owed", "lost", "got", "refunded", "deposited", "refund", "voucher",
			"deposit", "save", "win", "was", "were", "discount", "not", "never", "isn't", "usually", "normally", "cheaper", "salary"}, p.w(k)) {
			return k, j
		}
	}
	if n := p.phrase(j, "already", "deposit", "voucher", "discount", "off", "refund", "cheaper", "last", "ago", "is too", "minimum", "at least",
		"or more", "note", "each way"); n > 0 {
		if p.w(j) == "last" && p.phrase(j+1, "year", "month", "week", "time") == 0 || p.w(j) == "minimum" && p.m(j+1) != "" && p.m(j+1) != "." {
			return i, j
		}
		return i, j + n
	}
	return i, j
}

// unknownCurrency reports whether the word at token i, after an amount that is a limit, can only be a currency's.
func (p *parser) unknownCurrency(i int) bool {
	t := p.at(i)
	if t.kind != word || t.capital() || common(t.norm) || len(t.norm) < 3 || p.known(i) || p.month(i) > 0 || p.weekday(i) >= 0 || euro(t.norm) ||
		p.noun(i) > 0 || p.span(i) > 0 || p.unit(i) || follows(t.norm) || slices.Contains(limitWords(), t.norm) {
		return false
	}
	_, n := p.misspelt(i)
	return n == 0
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
		if p.phrase(i, "a hundred", "a thousand", "a night", "a grand", "a million") > 0 {
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
	j += p.share(&l, i, j)
	return l, j - i
}

// share reads what an amount is for, from token j on; i is where it began.
func (p *parser) share(l *limit, i, j int) int {
	from := j
	if n := p.phrase(j, "per person", "a person", "per head", "a head", "pp", "p . p .", "/ person", "/ pp", "per traveller", "per traveler",
		"per pax", "apiece", "each"); n > 0 && p.phrase(j, "each way", "each night") == 0 {
		l.perPerson = true
		j += n
	}
	n := p.phrase(j, "per night", "a night", "/ night", "nightly", "each night", "per day", "a day", "/ day", "daily", "each way", "per adult", "per child",
		"per room", "a room", "per week", "a week", "weekly", "monthly", "per month", "/ room", "/ week", "/ adult", "per way", "per couple")
	if n == 0 && (p.w(j) == "per" || p.m(j) == "/") && p.at(j+1).kind == word && !p.at(j+1).capital() {
		n = 2
	}
	if n == 0 {
		n = p.phrase(j, "not including the hotel", "not including hotel", "not including", "excluding the hotel", "excluding hotel", "excluding", "excl",
			"without the hotel", "without hotel", "without a hotel", "for the flight", "for flights", "for the flights", "for flight", "for the hotel",
			"for hotel", "for the room", "on the hotel", "on flights", "on the flight", "on hotel", "plus hotel", "plus the hotel", "plus tax",
			"plus taxes", "+ tax", "before tax", "before taxes", "for accommodation")
		if k := p.peopleJoin(j + n); n > 0 && k > 0 && p.phrase(j+n+k, "hotel", "hotels", "the hotel", "flight", "flights", "the flight", "room",
			"accommodation", "a hotel") > 0 {
			n = 0 // "for flights and hotel"
		}
	}
	if n > 0 {
		j += n
		l.part, l.text = true, p.raw(i, j)
	}
	return j - from
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
	case l.part:
		p.draft.ask(Budget, "“%s” is for a part only; what is the most for the whole trip of all?", clip(l.text))
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
		return p.amountInWords(i)
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
	if w := p.w(j); w == "k" || w == "thousand" || w == "grand" || w == "hundred" || w == "million" || w == "m" && !p.at(j).gap {
		factor := 1000
		switch w {
		case "hundred":
			factor = 100
		case "million", "m":
			factor = 1_000_000
		}
		a.cents, a.value, a.bad = a.cents*int64(factor), min(a.value, hugeNumber/factor)*factor, len(fraction) > 2
		j++
	}
	a.tokens, a.text = j-i, p.raw(i, j)
	return a
}

// amountInWords reads "nine hundred", "two grand", "half a grand".
func (p *parser) amountInWords(i int) amount {
	if n := p.phrase(i, "half a grand", "a grand", "half a million", "a million"); n > 0 && (p.at(i+n).kind != word || follows(p.w(i+n)) || euro(p.w(i+n))) {
		value := map[string]int{"half a grand": 500, "a grand": 1000, "half a million": 500_000, "a million": 1_000_000}
		for ph, v := range value {
			if p.phrase(i, ph) == n {
				return amount{value: v, cents: int64(v) * 100, whole: true, tokens: n, text: p.raw(i, i+n)}
			}
		}
	}
	n := p.integer(i)
	switch p.w(i + n.tokens) {
	case "grand", "k":
		n.value, n.tokens = min(n.value, hugeNumber/1000)*1000, n.tokens+min(n.tokens, 1)
	case "million":
		n.value, n.tokens = min(n.value, hugeNumber/1_000_000)*1_000_000, n.tokens+min(n.tokens, 1)
	}
	return amount{value: n.value, cents: int64(n.value) * 100, whole: true, tokens: n.tokens, text: p.raw(i, i+n.tokens)}
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
		"crown", "crowns", "leva", "lev", "naira", "nairas", "ducat", "ducats", "riyal", "riyals", "rial", "hryvnia", "uah":
		return true
	case "won", "real", "rand", "try", "points", "miles", "credits", "bob", "coins", "shillings", "tokens":
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
