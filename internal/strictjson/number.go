package strictjson

import (
	"math"
	"strconv"
	"strings"
)

const (
	maxNumberBytes = 32
	maxExponent    = 308
	maxInteger     = 1<<53 - 1 // above it, neighbouring integers share one float64
	minNumber      = 1e-308    // below it, the canonical text would need a larger exponent
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a number and returns its canonical text.
func (p *parser) number() (string, *Error) {
	start := p.at
	p.take('-')
	if !p.take('0') && !p.digits() {
		return "", p.unexpected(RuleSyntax, "a digit")
	}
	if p.take('.') && !p.digits() {
		return "", p.unexpected(RuleSyntax, "a digit")
	}
	mantissa := p.source[start:p.at]
	exponent := 0
	if p.take('e') || p.take('E') {
		from := p.at
		_ = p.take('+') || p.take('-')
		if !p.digits() {
			return "", p.unexpected(RuleSyntax, "a digit")
		}
		var err error
		if exponent, err = strconv.Atoi(p.source[from:p.at]); err != nil {
			exponent = maxExponent + 1
		}
	}
	text := p.source[start:p.at]
	if isPlainInteger(text) {
		return text, nil
	}
	refuse := func(want string) *Error {
		p.at = start
		return p.fail(RuleNumber, want, quote(text))
	}
	if len(text) > maxNumberBytes {
		return "", refuse("a number of at most 32 bytes")
	}
	if exponent > maxExponent || exponent < -maxExponent {
		return "", refuse("an exponent from -308 to 308")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > maxInteger {
		return "", refuse("a number within ±(2^53-1)")
	}
	if math.Abs(f) < minNumber && strings.ContainsAny(mantissa, "123456789") {
		return "", refuse("zero or a number of at least 1e-308")
	}
	canonical := formatNumber(f)
	p.varied = p.varied || canonical != text
	return canonical, nil
}

// isPlainInteger accepts a number that is far within the bounds and canonical as it stands.
func isPlainInteger(text string) bool {
	if len(text) > 15 || text == "-0" {
		return false
	}
	for i := 1; i < len(text); i++ {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != "-"
}

func (p *parser) digits() bool {
	start := p.at
	for isDigit(p.peek()) {
		p.advance(1)
	}
	return p.at > start
}

// formatNumber writes a number as ECMAScript does (RFC 8785 section 3.2.2.3). Numbers of 1e21 and above, the other ones
// with an exponent, do not reach it.
func formatNumber(f float64) string {
	switch magnitude := math.Abs(f); {
	case f == 0:
		return "0" // also for -0
	case magnitude >= 1e-6:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e-0", "e-", 1)
}
