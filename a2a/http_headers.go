package a2a

import (
	"net/http"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

const (
	headerLastEvent = "Last-Event-ID"
	headerToken     = "Parley-Token" // what a Parley peer proves itself with
	headerRequestID = "X-Request-Id"
)

// Names of headers as net/http has them in a request; looking another form up
// would make this one each time.
const (
	keyVersion    = "A2a-Version"
	keyExtensions = "A2a-Extensions"
	keyLastEvent  = "Last-Event-Id"
)

// putHeaders sets headers: names, in the form that net/http has, each with its
// value.
func putHeaders(h http.Header, named ...string) {
	values := make([]string, 0, len(named)/2)
	for i := 0; i < len(named); i += 2 {
		values = append(values, named[i+1])
		h[named[i]] = values[i/2 : i/2+1 : i/2+1]
	}
}

// activate gives the extensions that the client asks for and the agent knows,
// in the order in which the card has them. One that the agent requires must be
// asked for.
func activate(r *http.Request, known []wire.AgentExtension) ([]string, error) {
	var active []string
	asked := wire.ParseExtensions(r.Header.Values(keyExtensions))
	for _, x := range known {
		switch {
		case slices.Contains(asked, x.URI):
			active = append(active, x.URI)
		case x.Required:
			e := wire.Errorf(wire.ExtensionSupportRequired, "the agent needs the extension %s, named in %s", x.URI, wire.ExtensionsHeader)
			e.Info = map[string]string{"extension": x.URI}
			return nil, e
		}
	}
	return active, nil
}

// trace gives the request's trace context (W3C Trace Context, sections 3.2 and
// 3.3), empty if it is not one.
func trace(h http.Header) (parent, state string) {
	parent = h.Get("Traceparent")
	if !isTraceparent(parent) {
		return "", ""
	}
	if state = strings.Join(h.Values("Tracestate"), ","); len(state) > 512 {
		state = ""
	}
	return parent, state
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isTraceparent(s string) bool {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	version, trace, parent, flags := s[:2], s[3:35], s[36:52], s[53:]
	return isHex(version) && isHex(trace) && isHex(parent) && isHex(flags) && version != "ff" &&
		strings.Trim(trace, "0") != "" && strings.Trim(parent, "0") != ""
}
