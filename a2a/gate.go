package a2a

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// gate keeps out requests that a browser was made to send: those to a name that
// somebody pointed at this machine (DNS rebinding), and those from the pages of
// another site.
type gate struct {
	hosts   []string // lower case; "*" is any
	origins []string
	cross   *http.CrossOriginProtection
}

func newGate(c Config) (*gate, error) {
	g := &gate{hosts: []string{"localhost"}, origins: c.Origins, cross: http.NewCrossOriginProtection()}
	for _, h := range c.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	if u, err := url.Parse(c.BaseURL); err == nil && u.Hostname() != "" {
		g.hosts = append(g.hosts, strings.ToLower(u.Hostname()))
	}
	for _, o := range c.Origins {
		if err := g.cross.AddTrustedOrigin(o); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// knows reports whether the request is meant for this server, by its header
// Host. An IP address cannot be rebound: that of the connection is always right.
func (g *gate) knows(r *http.Request) bool {
	name := strings.ToLower(strings.TrimSuffix(hostOf(r.Host), "."))
	if slices.Contains(g.hosts, name) || slices.Contains(g.hosts, "*") {
		return true
	}
	host, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := localAddr(r)
	return host.Unmap().IsLoopback() && isLoopback(r) || ok && host.Unmap().WithZone("") == local.Addr()
}

// admits reports whether the request may come from where it comes from.
func (g *gate) admits(r *http.Request) bool { return g.cross.Check(r) == nil }

// share lets the pages of an allowed site read the answer. No origin is ever
// reflected, and no credentials of a browser are asked for. It reports whether
// the request was the browser's question beforehand, which is answered with it.
func (g *gate) share(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(g.origins) == 0 {
		return false
	}
	w.Header().Add("Vary", "Origin")
	i := slices.Index(g.origins, r.Header.Get("Origin"))
	if i < 0 {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", g.origins[i])
	w.Header().Set("Access-Control-Expose-Headers", wire.ExtensionsHeader+", Retry-After, "+headerRequestID)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	w.Header().Set("Access-Control-Allow-Headers",
		strings.Join([]string{"Authorization", "Content-Type", wire.VersionHeader, wire.ExtensionsHeader, headerLastEvent, headerToken}, ", "))
	w.WriteHeader(http.StatusNoContent)
	return true
}

// hostOf is a header Host without its port.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// localAddr is the address that the request's connection came in at.
func localAddr(r *http.Request) (netip.AddrPort, bool) {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a.AddrPort().Addr().Unmap().WithZone(""), a.AddrPort().Port()), true
}

// proxiedKey marks the requests of a server that stands behind a proxy.
type proxiedKey struct{}

// isLoopback reports whether the request is from this machine: its connection is,
// and no proxy says that it passes on what came from elsewhere. No header can say
// that a request is from here.
func isLoopback(r *http.Request) bool {
	if r.Context().Value(proxiedKey{}) != nil {
		return false
	}
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && a.Network() == "unix" {
		return true
	}
	p, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && p.Addr().Unmap().IsLoopback()
}
