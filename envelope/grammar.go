package envelope

import (
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Forms of texts that few messages have. RE2 reads each in linear time, and each is bounded in length.
var (
	reasonForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	jwsForm       = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
	base64urlForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

const (
	maxWord          = 128     // bytes of an identifier or a key
	maxName          = 256     // bytes of a contract's or schema's name
	maxText          = 1 << 10 // bytes of a text for people
	maxToken         = 4 << 10 // bytes of auth and of each part of a signature
	maxURI           = 256
	maxState         = 512 // bytes of tracestate: what W3C Trace Context section 3.3.1.1 asks every vendor to carry
	maxListed        = 64  // readers, tools, extensions
	maxSigned        = 16  // signatures
	saltBytes        = 16
	capabilityPrefix = "urn:cap:"
)

func isToken(s string) bool { return len(s) <= maxToken && base64urlForm.MatchString(s) }

// isVersion accepts 1 and a minor version.
func isVersion(s string) bool {
	minor, ok := strings.CutPrefix(s, "1.")
	return ok && (minor == "0" || isNumeral(minor, 5))
}

// isNumeral accepts a positive number of at most so many digits.
func isNumeral(s string, digits int) bool {
	return 1 <= len(s) && len(s) <= digits && s[0] != '0' && allDigits(s)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isProtocol accepts a name of at most 64 lower-case letters, digits and hyphens, and a version: name/vN.
func isProtocol(s string) bool {
	name, version, ok := strings.Cut(s, "/v")
	if !ok || len(name) < 1 || len(name) > 64 || !isNumeral(version, 6) {
		return false
	}
	for i := range len(name) {
		if !isLetterOrDigit(name[i]) && name[i] != '-' {
			return false
		}
	}
	return true
}

// isContract accepts at least two parts of a name between dots, and a version: org.path.verb/vM or …/vM.N. A part is of
// lower-case letters, digits and hyphens, with a letter or digit at both ends.
func isContract(s string) bool {
	name, version, ok := strings.Cut(s, "/v")
	if !ok || len(s) > maxName {
		return false
	}
	major, minor, both := strings.Cut(version, ".")
	if !isNumeral(major, 6) || both && minor != "0" && !isNumeral(minor, 6) {
		return false
	}
	parts := 0
	for part := range strings.SplitSeq(name, ".") {
		if len(part) == 0 || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for i := range len(part) {
			if !isLetterOrDigit(part[i]) && part[i] != '-' {
				return false
			}
		}
		parts++
	}
	return parts > 1
}

// isTime accepts RFC 3339 in UTC, with Z and at most nine digits of a second's fraction.
func isTime(s string) bool {
	const form = "dddd-dd-ddTdd:dd:dd"
	if len(s) <= len(form) || s[len(s)-1] != 'Z' {
		return false
	}
	for i := range len(form) {
		if form[i] == 'd' && !allDigits(s[i:i+1]) || form[i] != 'd' && s[i] != form[i] {
			return false
		}
	}
	fraction := s[len(form) : len(s)-1]
	return fraction == "" || fraction[0] == '.' && 2 <= len(fraction) && len(fraction) <= 10 && allDigits(fraction[1:])
}

// isPart accepts 1 to 63 of lower-case letters, digits, dots and hyphens, with a letter or digit at both ends.
func isPart(s string) bool {
	if len(s) < 1 || len(s) > 63 || !isLetterOrDigit(s[0]) || !isLetterOrDigit(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !isLetterOrDigit(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func isCapability(s string) bool {
	name, ok := strings.CutPrefix(s, capabilityPrefix)
	return ok && isContract(name)
}

// isWord accepts 1 to 128 printable ASCII characters.
func isWord(s string) bool { return isPrintable(s, maxWord) }

func isPrintable(s string, limit int) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return 0 < len(s) && len(s) <= limit
}

func isPerson(s string) bool {
	id, ok := strings.CutPrefix(s, "user:")
	return ok && isWord(id) && !strings.Contains(id, " ")
}

func isActor(s string) bool  { return isAgent(s) || isPerson(s) }
func isReader(s string) bool { return s == "*" || isActor(s) }

// isUUID accepts the canonical text in lower case only, so that equal ids are equal texts.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isHex accepts a hexadecimal digit in lower case.
func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHexDigest(s string) bool {
	return len(s) == 64 && allHex(s)
}

const noTrace = "00000000000000000000000000000000"

// isTraceparent accepts version 00 of W3C Trace Context section 3.2, in which no id is all zeros.
func isTraceparent(s string) bool {
	return len(s) == 55 && s[:3] == "00-" && s[35] == '-' && s[52] == '-' && allHex(s[3:35]) && allHex(s[36:52]) && allHex(s[53:]) &&
		s[3:35] != noTrace && s[36:52] != noTrace[:16]
}

// isExtensionURI accepts an absolute URI (RFC 3986 section 4.3).
func isExtensionURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isPrintable(s, maxURI) && u.IsAbs() && u.Fragment == "" && (u.Host != "" || u.Opaque != "")
}

// parseTime reads RFC 3339 in UTC, written with Z. The zero time stands for an absent member, so it is not a time.
func parseTime(s string) (time.Time, bool) {
	if !isTime(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil && !t.IsZero()
}

func isJWS(s string) bool        { return len(s) <= maxToken && jwsForm.MatchString(s) }
func isTracestate(s string) bool { return isPrintable(s, maxState) }
