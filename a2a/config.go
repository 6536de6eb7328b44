package a2a

import (
	"context"
	"crypto"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// Config says how agents are served. Its zero value works: it serves callers of
// this machine, without authentication.
type Config struct {
	// BaseURL is where callers reach the server, as the agent cards say it: the
	// scheme, the host, and the path under which a handler is mounted. It is never
	// taken from a request's header Host. Default: the address that the connection
	// came in at.
	BaseURL string
	// Hosts are the names that a request's header Host may have, without port; "*"
	// allows every name. Default: localhost, the host of BaseURL, the address that
	// ListenAndServe was given, and the IP address that the connection came in at.
	// Those are always allowed. What is refused is a name that somebody else has
	// pointed at this machine (DNS rebinding).
	Hosts []string
	// Origins are the web sites, such as "https://console.example", whose pages may
	// call from a browser. Default: none but the server's own.
	Origins []string
	// TLS is what Serve and ListenAndServe speak TLS with. ClientCertificates needs
	// its ClientAuth and ClientCAs. Default: plain HTTP.
	TLS *tls.Config

	// Authenticate are the ways in which callers prove who they are, each enough
	// alone; the first whose credentials a request carries decides. Default: none;
	// then every caller is the host's "anonymous" and must be of this machine.
	Authenticate []Authenticator
	// Authorize says whether a caller may do something: any error is a refusal. It
	// is called before the operation, and may be called at once by several
	// goroutines. A *wire.Error is told to the caller as it stands, the text of any
	// other stays here. Default: whoever is authenticated may call every
	// operation; which tasks are whose is always checked.
	Authorize func(ctx context.Context, a Access) error
	// Proxied says that the server stands behind a proxy of this machine, so that
	// nobody counts as a caller of this machine: neither may callers stay unknown
	// nor is a key kept that nobody knew. Default: false; a request that says itself
	// that it was passed on (Forwarded, X-Forwarded-For, X-Real-Ip, Via) is no
	// caller of this machine all the same.
	Proxied bool
	// AllowAnonymous serves callers of other machines though nobody has to
	// authenticate. Default: false.
	AllowAnonymous bool

	// MaxBody is how many bytes the body of a request may have. Default: 4 MiB.
	MaxBody int64
	// Rate is how many requests a second one caller may make in the long run, Burst
	// how many at once. Callers who are not authenticated count by their address.
	// Default: 1000 and 2000; a Rate less than zero: no limit.
	Rate  float64
	Burst int
	// MaxStreams is how many streams one caller may have open. Default: 100; less
	// than zero: no limit.
	MaxStreams int
	// MaxCalls is how many calls beside its streams one caller may have in progress,
	// such as those that wait for their task. Default: 256; less than zero: no
	// limit.
	MaxCalls int
	// Timeouts bound how long a slow or silent client is waited for.
	Timeouts Timeouts

	// About is what the agents' cards say beside what the agents can do, by the
	// agent's name. Default: see About.
	About map[string]About
	// ExtendedCard gives the card of the agent (its URI) for a caller who is
	// authenticated; public is the card that everybody sees, and its own to change.
	// It may be called at once by several goroutines. Default: none, and the cards
	// say so.
	ExtendedCard func(ctx context.Context, agent, caller string, public *wire.AgentCard) (*wire.AgentCard, error)
	// SigningKey signs the cards beside the agents' own keys, SigningKeyID says
	// which key it is: an ed25519.PrivateKey or an *ecdsa.PrivateKey on P-256.
	// Default: none, each card has its agent's signature alone.
	SigningKey   crypto.Signer
	SigningKeyID string

	// Read says what a message opens of a client that does not know Parley, by the
	// URI of the agent it is for: the name of the contract and its content. It must
	// say the same each time, and may be called at once by several goroutines.
	// Default, and when ok is false: text opens a chat, data what the one contract
	// whose schema accepts it takes; other parts are refused.
	Read func(agent string, m *wire.Message) (contract string, content json.RawMessage, ok bool)
	// Show says what such a client sees of a result, an item or a contribution: the
	// parts of an artifact. It is asked at each reading, must say the same each time,
	// and may be called at once by several goroutines. Default, and when there are no
	// parts: the text of a chat, and anything else as data.
	Show func(contract string, content json.RawMessage) []wire.Part

	// Direct says under which contracts such a client gets a finished result as a
	// message, and no task, when it waits for it (section 3.1.1 leaves that to the
	// agent). The task is there all the same. Default: none.
	Direct func(contract string) bool

	// Extensions are what the agents know beside Parley's own, as their cards say it:
	// Read, Show and the agents themselves see to them. A client that does not
	// activate one that is Required is refused. Default: none.
	Extensions []wire.AgentExtension
	// NoStreams serves no streams, such as behind a proxy that holds answers back
	// until they are whole. A task that is read then shows all that was made, each
	// time, and not the last of it: once that is more than a client's MaxResponse,
	// the client does not learn what came of it. Default: false, they are served.
	NoStreams bool
	// NoPush serves no webhooks. Default: false, they are served.
	NoPush bool
	// AllowPrivateWebhooks lets webhooks be on this machine and in private
	// networks, and be called without TLS. Default: false, they must be on the
	// public internet and speak https.
	AllowPrivateWebhooks bool

	// Log receives what an operator should see; it never carries content or
	// credentials. Default: slog.Default().
	Log *slog.Logger
}

// About is what an agent's card says beside what the agent can do.
type About struct {
	// Name is for people. Default: the agent's name.
	Name string
	// Description is for people and for models. Default: one made of the
	// contracts.
	Description string
	// Version is the agent's own. Default: "0".
	Version string
	// Provider is the organisation behind the agent. Default: not said.
	Provider *wire.Provider
	// DocumentationURL and IconURL are for people. Default: not said.
	DocumentationURL, IconURL string
}

// Timeouts bound how long a slow or silent client is waited for. A connection
// that is too slow is closed.
type Timeouts struct {
	// Header is for the headers of a request. Default: 5 s.
	Header time.Duration
	// Body is for the body of a request. Default: 30 s.
	Body time.Duration
	// Write is for an answer, and for each event of a stream. Default: 10 s.
	Write time.Duration
	// Idle is for the next request of a connection. Default: 2 min.
	Idle time.Duration
	// Heartbeat is how long a stream says nothing before it sends a comment, which
	// tells whether anybody still listens. Default: 15 s.
	Heartbeat time.Duration
	// Shutdown is how long requests in progress may take when the server ends.
	// Default: 10 s.
	Shutdown time.Duration
}

// preset gives a setting that is zero its default.
func preset[T comparable](setting *T, fallback T) {
	var zero T
	if *setting == zero {
		*setting = fallback
	}
}

func (c Config) withDefaults() Config {
	preset(&c.MaxBody, 4<<20)
	preset(&c.Rate, 1000)
	preset(&c.Burst, 2000)
	preset(&c.MaxStreams, 100)
	preset(&c.MaxCalls, 256)
	preset(&c.Timeouts.Header, 5*time.Second)
	preset(&c.Timeouts.Body, 30*time.Second)
	preset(&c.Timeouts.Write, 10*time.Second)
	preset(&c.Timeouts.Idle, 2*time.Minute)
	preset(&c.Timeouts.Heartbeat, 15*time.Second)
	preset(&c.Timeouts.Shutdown, 10*time.Second)
	preset(&c.Log, slog.Default())
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	return c
}

// check finds what no server can be made of.
func (c Config) check() error {
	named := map[string]bool{ExtensionURI: true}
	for _, x := range c.Extensions {
		if asked := wire.ParseExtensions([]string{x.URI}); named[x.URI] || !slices.Equal(asked, []string{x.URI}) || !headerText(x.URI) {
			return fmt.Errorf("extension %q: want a URI that no other extension has and that clients can name in %s", x.URI, wire.ExtensionsHeader)
		}
		named[x.URI] = true
	}
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return fmt.Errorf("base URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("base URL %q: want http:// or https://, a host and at most a path", c.BaseURL)
	}
	return nil
}
