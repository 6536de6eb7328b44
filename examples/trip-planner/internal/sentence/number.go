package sentence

import (
	"slices"
	"strconv"
)

// integer is a whole number at some token.
type integer struct {
	value  int
	tokens int // how many tokens it takes; 0 means there is none
	digits bool
}

// hugeNumber stands for every number too long to matter.
const hugeNumber = 1_000_000_000

func units() []string {
	return []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
		"twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
}

func tens() []string {
	return []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
}

// integer reads digits, or words up to "nine thousand nine hundred and ninety-nine", at token i.
func (p *parser) integer(i int) integer {
	if t := p.at(i); t.kind == numeral {
		return integer{digitsValue(t.text), 1, true}
	}
	total, n := 0, 0
	if small := p.belowHundred(i); small.tokens > 0 {
		total, n = small.value, small.tokens
	} else if w := p.w(i); (w == "a" || w == "one") && slices.Contains([]string{"hundred", "thousand"}, p.w(i+1)) {
		total, n = 1, 1
	} else {
		return integer{}
	}
	hundreds := false
	for _, scale := range []struct {
		name  string
		value int
	}{{"hundred", 100}, {"thousand", 1000}, {"hundred", 100}} {
		if p.w(i+n) != scale.name || (scale.value == 100 && hundreds) {
			continue
		}
		last := total % 1000
		if scale.value == 100 {
			total, hundreds = total-last+last*100, true
		} else {
			total, hundreds = total*1000, false
		}
		n++
		skip := 0
		if p.w(i+n) == "and" {
			skip = 1
		}
		if more := p.belowHundred(i + n + skip); more.tokens > 0 && total < hugeNumber/1000 && p.w(i+n+skip+more.tokens) != "of" {
			total += more.value
			n += skip + more.tokens
		}
	}
	return integer{total, n, false}
}

func (p *parser) belowHundred(i int) integer {
	w := p.w(i)
	if w == "" {
		return integer{}
	}
	if v := slices.Index(units(), w); v >= 0 {
		return integer{v, 1, false}
	}
	ten := slices.Index(tens(), w)
	if ten < 2 {
		return integer{}
	}
	next := i + 1
	if p.m(next) == "-" {
		next++
	}
	if v := slices.Index(units(), p.w(next)); v >= 1 && v <= 9 {
		return integer{ten*10 + v, next + 1 - i, false}
	}
	return integer{ten * 10, 1, false}
}

func digitsValue(text string) int {
	if len(text) > 9 {
		return hugeNumber
	}
	v, _ := strconv.Atoi(text) // at most nine ASCII digits
	return v
}

// negative reports whether a minus sign belongs to the number at token i.
func (p *parser) negative(i int) bool {
	if p.w(i-1) == "minus" {
		return true
	}
	return p.m(i-1) == "-" && !p.at(i).gap && p.at(i-1).gap && !p.dateBefore(i-1)
}

// ordinalWord returns the number of "first" to "thirty-first" at token i and how many tokens it takes.
func (p *parser) ordinalWord(i int) (value, tokens int) {
	names := []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
		"eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
		"nineteenth", "twentieth"}
	w := p.w(i)
	if w == "" {
		return 0, 0
	}
	if v := slices.Index(names, w); v > 0 {
		return v, 1
	}
	if w == "thirtieth" {
		return 30, 1
	}
	next := i + 1
	if p.m(next) == "-" {
		next++
	}
	if v := slices.Index(names, p.w(next)); v >= 1 && v <= 9 && (w == "twenty" || w == "thirty") {
		return slices.Index(tens(), w)*10 + v, next + 1 - i
	}
	return 0, 0
}
