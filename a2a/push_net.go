package a2a

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const (
	// pushTimeout is how long one attempt to tell a webhook may take, from the
	// look-up of its name to the end of its answer (section 4.3.3 recommends 10 s
	// to 30 s).
	pushTimeout = 10 * time.Second
	// pushConns is how many idle connections are kept to one webhook's host.
	pushConns = 2
)

// targets says which addresses a webhook may have. It judges the address that
// is dialled, never the name: what a name stands for can change between a look
// and a call.
type targets struct{ guardian *ssrf.Guardian }

// newTargets lets webhooks be on the public internet only, or on this machine
// and in private networks too. Link-local addresses, where clouds keep the
// credentials of their machines, are never reached.
func newTargets(private bool) targets {
	options := []ssrf.Option{ssrf.WithAnyPort()}
	if private {
		options = append(options,
			ssrf.WithAllowedV4Prefixes(
				netip.MustParsePrefix("10.0.0.0/8"),
				netip.MustParsePrefix("127.0.0.0/8"),
				netip.MustParsePrefix("172.16.0.0/12"),
				netip.MustParsePrefix("192.168.0.0/16")),
			ssrf.WithAllowedV6Prefixes(
				netip.MustParsePrefix("::1/128"),
				netip.MustParsePrefix("fc00::/7")))
	}
	return targets{ssrf.New(options...)}
}

// metadata reports whether a cloud keeps the credentials of its machines at an
// address that nothing else tells from the others of its range: one of them has
// it among the private ones, one among the public.
func metadata(addr netip.Addr) bool {
	switch addr.WithZone("").String() {
	case "fd00:ec2::254", "168.63.129.16":
		return true
	}
	return false
}

// check refuses an address that no webhook may have. An IPv4 address that is
// written as an IPv6 one is judged as what it is.
func (t targets) check(addr netip.Addr) error {
	addr = addr.Unmap()
	if metadata(addr) {
		return fmt.Errorf("%w: %s is a metadata service", ssrf.ErrProhibitedIP, addr)
	}
	return t.guardian.SafeAddr(addr)
}

// control is a net.Dialer's Control: it is called with the address of each
// connection before it is made.
func (t targets) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s", ssrf.ErrProhibitedNetwork, network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ssrf.ErrInvalidHostPort, address)
	}
	return t.check(to.Addr())
}

// dialer makes connections to allowed addresses only.
func (t targets) dialer() *net.Dialer {
	return &net.Dialer{Timeout: pushTimeout, Control: t.control}
}

// newPushClient is the client that tells webhooks. It reaches only what the
// dialer allows, whatever the name in the URL stands for at the moment, and only
// directly: no proxy, no redirect, no cookie.
func newPushClient(d *net.Dialer) *http.Client {
	return &http.Client{
		Timeout: pushTimeout,
		// The answer that says where else to go is the answer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            d.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    pushTimeout,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			MaxIdleConnsPerHost:    pushConns,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}
