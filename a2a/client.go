package a2a

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// ClientConfig says how a server is called. Its zero value is ready for use.
type ClientConfig struct {
	// Authorize puts a credential on each request, such as Bearer does; it may
	// be called at once by several goroutines. Default: none.
	Authorize func(*http.Request) error
	// TLS is what https is spoken with, such as a client certificate. Default:
	// Go's own.
	TLS *tls.Config
	// Extensions are the URIs of those that each call activates beside its own.
	// Default: none.
	Extensions []string
	// Timeout is how long a server may take to answer, and for a stream to begin.
	// The caller's context may end before. Default: 30 s.
	Timeout time.Duration
	// Silence is how long a stream may say nothing, not even a comment, before it
	// is taken for dead. Default: 2 min.
	Silence time.Duration
	// MaxResponse is how many bytes an answer, or one event of a stream, may have.
	// Default: 32 MiB, which holds the task of an agent of Parley with as many and
	// as large artifacts as it shows.
	MaxResponse int
	// Transport carries the requests instead of the client's own connections. What
	// TLS and the following say does not hold then: a connection uses no proxy.
	// Default: connections of the client's own.
	Transport http.RoundTripper
}

func (c ClientConfig) withDefaults() ClientConfig {
	preset(&c.Timeout, 30*time.Second)
	preset(&c.Silence, 2*time.Minute)
	preset(&c.MaxResponse, 32<<20)
	return c
}

// Bearer authorizes requests by the header "Authorization: Bearer …" (RFC 6750).
func Bearer(token string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

// APIKey authorizes requests by a key in the header, such as "X-API-Key".
func APIKey(header, key string) func(*http.Request) error {
	return func(r *http.Request) error {
		r.Header.Set(header, key)
		return nil
	}
}

// Client calls the operations of one interface of an agent, over JSON-RPC or
// HTTP+JSON. It is a wire.Service: what a call carries goes into its headers,
// but for who called, which the server finds out. It follows no redirect and
// uses no proxy. Its methods may be called at once by several goroutines; each
// returns when the server has answered, ctx ends or the time of the
// configuration is over. Errors are the server's as *wire.Error, which is of the
// kind InvalidAgentResponse for an answer that is none of the protocol's, or
// those of the connection.
type Client struct {
	base, tenant string
	rest         bool
	cfg          ClientConfig
	http         *http.Client
	ids          atomic.Int64
}

var _ wire.Service = (*Client)(nil)

// NewClient makes a client for an interface of an agent's card. An address or a
// binding that it does not speak is an error.
func NewClient(to wire.AgentInterface, cfg ClientConfig) (*Client, error) {
	return newClient(to, cfg, newHTTPClient(cfg))
}

func newClient(to wire.AgentInterface, cfg ClientConfig, over *http.Client) (*Client, error) {
	if _, err := originOf(to.URL); err != nil {
		return nil, err
	}
	if !speaks(to) {
		return nil, fmt.Errorf("interface %s: %s of version %q is not spoken here", to.URL, to.ProtocolBinding, to.ProtocolVersion)
	}
	return &Client{base: strings.TrimSuffix(to.URL, "/"), tenant: to.Tenant, rest: to.ProtocolBinding == wire.HTTPJSON,
		cfg: cfg.withDefaults(), http: over}, nil
}

// speaks reports whether the interface is of a binding and a version that the
// client speaks. A patch number does not matter.
func speaks(to wire.AgentInterface) bool {
	return (to.ProtocolBinding == wire.JSONRPC || to.ProtocolBinding == wire.HTTPJSON) &&
		(to.ProtocolVersion == wire.Version || strings.HasPrefix(to.ProtocolVersion, wire.Version+"."))
}

// newHTTPClient makes what requests go through: no proxy, no redirect, no
// compression that would hide how large an answer is.
func newHTTPClient(cfg ClientConfig) *http.Client {
	over := cfg.Transport
	if over == nil {
		over = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:     cfg.TLS.Clone(),
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
			// As much as an agent card may have.
			MaxResponseHeaderBytes: maxCard,
		}
	}
	return &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close gives up the connections that no call uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// AddressError is an address that is none of an agent.
type AddressError struct {
	// Address is what was given, without what stands before an @: that may be a
	// password.
	Address string
	// Err says what is wrong with it.
	Err error
}

func (e *AddressError) Error() string { return fmt.Sprintf("address %q: %v", e.Address, e.Err) }

// Unwrap returns what is wrong.
func (e *AddressError) Unwrap() error { return e.Err }

// badAddress is the error of an address.
func badAddress(address string, err error) error {
	if at := strings.LastIndexByte(address, '@'); at >= 0 { // err may have a part of the password, too
		address, err = "…"+address[at:], errNoAddress
	}
	return &AddressError{address, err}
}

var errNoAddress = errors.New("want http:// or https://, a host and at most a path")

// originOf is the origin of an address: its scheme, host and port. This machine is
// one host, whichever of its loopback names an address has: a server that is
// dialled as localhost knows the address of the connection.
func originOf(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", badAddress(address, errors.Unwrap(err)) // url.Parse names the address again
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", badAddress(address, errNoAddress)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := strings.ToLower(u.Hostname())
	if host == "127.0.0.1" || host == "::1" {
		host = "localhost"
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port), nil
}

// errTooLarge: an answer is longer than is read here.
var errTooLarge = errors.New("the answer is too large")

// errSilent: a stream said nothing for too long.
var errSilent = errors.New("the stream fell silent")

// errNoAnswer: the server took too long.
var errNoAnswer = fmt.Errorf("the server did not answer in time: %w", context.DeadlineExceeded)
