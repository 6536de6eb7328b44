package places

import (
	"strings"
	"unicode"
)

// Fold returns the form of a text in which names are compared: lower case, without accents, apostrophes dropped, and
// every other run of punctuation or space as one space. It takes time linear in the text.
func Fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.Is(unicode.Mn, r) || strings.ContainsRune("'’‘ʻ`´", r):
			continue // an accent written as a rune of its own, or an apostrophe
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteString(plain(r))
	}
	return b.String()
}

// plain returns a lower-case letter without its accent. It covers the Latin letters of the table's names and their
// neighbours; any other letter stays as it is.
func plain(r rune) string {
	if r < 0x80 {
		return string(r)
	}
	switch r {
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ß':
		return "ss"
	case 'þ':
		return "th"
	}
	for _, group := range [...]string{
		"aàáâãäåāăą", "cçćĉċč", "dðďđ", "eèéêëēĕėęě", "gĝğġģ", "hĥħ", "iìíîïĩīĭįı", "jĵ", "kķ", "lĺļľŀł",
		"nñńņňŋ", "oòóôõöøōŏő", "rŕŗř", "sśŝşšș", "tţťŧț", "uùúûüũūŭůűų", "wŵ", "yýÿŷ", "zźżž",
	} {
		if strings.ContainsRune(group, r) {
			return group[:1]
		}
	}
	return string(r)
}
