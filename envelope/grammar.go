package envelope

import (
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Forms of the members' texts. RE2 reads each in linear time, and each is bounded in length.
var (
	partForm        = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)
	versionForm     = regexp.MustCompile(`^1\.(0|[1-9][0-9]{0,4})$`)
	protocolForm    = regexp.MustCompile(`^[a-z0-9-]{1,64}/v[1-9][0-9]{0,5}$`)
	contractForm    = regexp.MustCompile(`^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)+/v[1-9][0-9]{0,5}(\.(0|[1-9][0-9]{0,5}))?$`)
	reasonForm      = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	traceparentForm = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	timeForm        = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$`)
	jwsForm         = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
	base64urlForm   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
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

func isPart(s string) bool     { return partForm.MatchString(s) }
func isProtocol(s string) bool { return protocolForm.MatchString(s) }
func isContract(s string) bool { return len(s) <= maxName && contractForm.MatchString(s) }
func isToken(s string) bool    { return len(s) <= maxToken && base64urlForm.MatchString(s) }

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
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

func isHexDigest(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 64 && strings.ToLower(s) == s
}

// isTraceparent accepts version 00 of W3C Trace Context section 3.2, in which no id is all zeros.
func isTraceparent(s string) bool {
	return traceparentForm.MatchString(s) && s[3:35] != strings.Repeat("0", 32) && s[36:52] != strings.Repeat("0", 16)
}

// isExtensionURI accepts an absolute URI (RFC 3986 section 4.3).
func isExtensionURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isPrintable(s, maxURI) && u.IsAbs() && u.Fragment == "" && (u.Host != "" || u.Opaque != "")
}

// parseTime reads RFC 3339 in UTC, written with Z. The zero time stands for an absent member, so it is not a time.
func parseTime(s string) (time.Time, bool) {
	if !timeForm.MatchString(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil && !t.IsZero()
}

func isJWS(s string) bool        { return len(s) <= maxToken && jwsForm.MatchString(s) }
func isTracestate(s string) bool { return isPrintable(s, maxState) }
