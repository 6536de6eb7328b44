package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The protocol's HTTP headers (section 14.2) and content types.
const (
	VersionHeader    = "A2A-Version" // also the name of a query parameter
	ExtensionsHeader = "A2A-Extensions"

	ContentType  = "application/a2a+json" // of HTTP+JSON and webhooks
	RPCType      = "application/json"     // of JSON-RPC; read by HTTP+JSON too
	EventsType   = "text/event-stream"
	CardPath     = "/.well-known/agent-card.json"
	maxVersion   = 32 // bytes of a version that an error repeats
	olderVersion = "0.3"
)

// CheckVersion returns VersionNotSupported unless the client asked for the
// version that is spoken here (section 3.6): in the header or, if that is
// empty, in the query. Patch numbers do not count; no version means 0.3.
func CheckVersion(header, query string) error {
	asked := strings.TrimSpace(header)
	if asked == "" {
		asked = strings.TrimSpace(query)
	}
	if asked == "" {
		asked = olderVersion
	}
	if asked == Version {
		return nil
	}
	if patch, ok := strings.CutPrefix(asked, Version+"."); ok && patch != "" && strings.Trim(patch, "0123456789") == "" {
		return nil
	}
	if len(asked) > maxVersion {
		asked = asked[:maxVersion] + "…"
	}
	e := Errorf(VersionNotSupported, "protocol version %q is not supported; supported is %s, by the header %s", asked, Version, VersionHeader)
	e.Info = map[string]string{"supportedVersions": Version}
	return e
}

// ParseExtensions lists the extensions of the values of the header
// A2A-Extensions, each once, in the order in which they came.
func ParseExtensions(values []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, v := range values {
		for uri := range strings.SplitSeq(v, ",") {
			if uri = strings.TrimSpace(uri); uri != "" && !seen[uri] {
				seen[uri] = true
				list = append(list, uri)
			}
		}
	}
	return list
}

// FormatExtensions is the value of the header A2A-Extensions.
func FormatExtensions(uris []string) string { return strings.Join(uris, ",") }

// ParseRetryAfter reads the header Retry-After, seconds or a date, as the time
// from now; what is neither, or has passed, is 0.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// FormatRetryAfter is the value of the header Retry-After, in whole seconds
// rounded up.
func FormatRetryAfter(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
