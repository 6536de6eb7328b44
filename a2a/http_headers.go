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

// activate gives the extensions that the client asks for and the agent knows,
// in the order in which the card has them. One that the agent requires must be
// asked for.
func activate(r *http.Request, known []wire.AgentExtension) ([]string, error) {
	var active []string
	asked := wire.ParseExtensions(r.Header.Values(wire.ExtensionsHeader))
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

func isTraceparent(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 || parts[0] == "ff" {
		return false
	}
	return strings.Trim(strings.Join(parts, ""), "0123456789abcdef") == "" &&
		strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}
