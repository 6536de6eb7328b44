package envelope

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// forms are the grammars of texts as regular expressions, which those that every
// message has are read without.
var forms = map[string]struct {
	is   func(string) bool
	form *regexp.Regexp
}{
	"part":        {isPart, regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)},
	"version":     {isVersion, regexp.MustCompile(`^1\.(0|[1-9][0-9]{0,4})$`)},
	"protocol":    {isProtocol, regexp.MustCompile(`^[a-z0-9-]{1,64}/v[1-9][0-9]{0,5}$`)},
	"contract":    {isContract, regexp.MustCompile(`^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)+/v[1-9][0-9]{0,5}(\.(0|[1-9][0-9]{0,5}))?$`)},
	"traceparent": {isTraceparent, regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)},
	"time":        {isTime, regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$`)},
	"uuid":        {isUUID, regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)},
	"digest":      {isHexDigest, regexp.MustCompile(`^[0-9a-f]{64}$`)},
}

func TestTextsAreHeldToTheirGrammars(t *testing.T) {
	for name, g := range forms {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := rapid.OneOf(
					rapid.StringMatching(g.form.String()),
					rapid.Custom(func(t *rapid.T) string { // one that is nearly right
						s := []byte(rapid.StringMatching(g.form.String()).Draw(t, "right"))
						at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
						s[at] = rapid.SampledFrom([]byte("0a9zAZ-./v:TZ \n\x00\xff")).Draw(t, "byte")
						return string(s[:rapid.IntRange(at, len(s)).Draw(t, "length")])
					}),
					rapid.StringOfN(rapid.SampledFrom([]rune("01a9z-./vV:TZ")), 0, 70, -1),
				).Draw(t, "text")
				want := g.form.MatchString(s)
				if name == "contract" {
					want = want && len(s) <= maxName
				}
				if name == "traceparent" && want {
					want = s[3:35] != noTrace && s[36:52] != noTrace[:16]
				}
				if got := g.is(s); got != want {
					t.Fatalf("%q: %v, want %v", s, got, want)
				}
			})
		})
	}
}
