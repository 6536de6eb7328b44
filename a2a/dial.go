package a2a

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// DialConfig says how agents elsewhere are reached. Its zero value works: it
// reaches agents of Parley, reads what they say as streams, and keeps the key
// that each is first met with.
type DialConfig struct {
	// Client says how their servers are called.
	Client ClientConfig
	// Agent is the URI of the agent that Dial is to find. Default: the one that
	// its card names. A foreign agent's card names none.
	Agent string
	// Pins are the keys that agents must have, by URI. Default: the key that an
	// agent is first met with is kept in the host's store, and must stay.
	Pins map[string]ed25519.PublicKey
	// Origins are those, such as "https://api.example", that a card's interfaces
	// may be on beside the one that the card itself is on. Nothing else that a
	// card points to is called. Default: none.
	Origins []string
	// Foreign lets agents be such as do not know Parley's extension. They can be
	// asked by request and query, and nothing but the connection proves that they
	// are who they are. Default: false, their cards are refused.
	Foreign bool

	// Poll reads what agents say every so often, all exchanges with one at once,
	// instead of following a stream for each. Default: streams, and every 2 s
	// what no stream is had for.
	Poll time.Duration
	// Streams is how many streams one agent's server may be asked for at once.
	// Default: 64.
	Streams int
	// Webhook, if it is set, has agents tell when there is something to read; it
	// takes the place of streams, and Poll's default is then 30 s. Default: none.
	Webhook *Webhook
	// Refresh is how often a card is read again. Default: 5 min.
	Refresh time.Duration
	// Log receives what an operator should see; it never carries content or
	// credentials. Default: slog.Default().
	Log *slog.Logger
}

func (c DialConfig) withDefaults() DialConfig {
	c.Client = c.Client.withDefaults()
	preset(&c.Streams, 64)
	preset(&c.Refresh, 5*time.Minute)
	preset(&c.Log, slog.Default())
	switch {
	case c.Webhook != nil:
		preset(&c.Poll, 30*time.Second)
		c.Streams = 0
	case c.Poll > 0:
		c.Streams = 0
	default:
		c.Poll = 2 * time.Second
	}
	return c
}

// Dial finds the agent whose card lies under the address, such as
// "https://hotels.example/desk". It returns when the card is read and found
// good, or ctx ends. Errors are those of the connection, *AddressError, *CardError,
// which may wrap an *OriginError or *ExtensionError, *KeyChangedError,
// *WrongAgentError and ErrForeign.
func Dial(ctx context.Context, url string, cfg DialConfig) (*Peer, error) {
	p, err := newPeer(cfg.Agent, url, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := p.ready(ctx, nil); err != nil {
		return nil, fmt.Errorf("dialling %s: %w", url, err)
	}
	return p, nil
}

// Dialer is Config.Dial of a host: its links lead to agents that need not be up
// yet. Each is looked for when the host starts, and again until it is found.
func Dialer(cfg DialConfig) func(ctx context.Context, uri, url string) (agent.Link, error) {
	return func(_ context.Context, uri, url string) (agent.Link, error) {
		if _, err := envelope.ParseURI(uri); err != nil {
			return agent.Link{}, err
		}
		p, err := newPeer(uri, url, cfg)
		if err != nil {
			return agent.Link{}, err
		}
		return p.Link(), nil
	}
}

// ErrForeign: the agent does not know Parley's extension, and DialConfig.Foreign
// does not allow that.
var ErrForeign = errors.New("the agent does not know the extension " + ExtensionURI + ", and DialConfig.Foreign does not allow that")

// errNameless: a foreign agent's card does not say what it is called here.
var errNameless = errors.New("a foreign agent needs a URI here: DialConfig.Agent gives it one")

// WrongAgentError is a card of another agent than the one that was looked for.
type WrongAgentError struct {
	// URL is where it lies, Asked and Found the URIs of the two.
	URL, Asked, Found string
}

func (e *WrongAgentError) Error() string {
	return fmt.Sprintf("%s is %s, not %s", e.URL, e.Found, e.Asked)
}

// KeyChangedError is an agent that shows another key than it is known by:
// somebody else may speak in its name.
type KeyChangedError struct {
	// Agent is its URI, URL where its card lies.
	Agent, URL string
	// Known and Shown are the fingerprints of the two keys; Shown is "" if the card
	// shows none any more. From is where the known key is from.
	Known, Shown, From string
}

func (e *KeyChangedError) Error() string {
	shown := "shows the key " + e.Shown
	if e.Shown == "" {
		shown = "shows no key any more"
	}
	return fmt.Sprintf("agent %s at %s %s, but is known by %s (%s); if that is right, forget the known key first, by Unpin of the host's store or the command parley peer unpin %s",
		e.Agent, e.URL, shown, e.Known, e.From, e.Agent)
}
