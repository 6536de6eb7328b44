package a2a

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Peer is an agent elsewhere. It serves one host at a time. Its methods may be
// called at once by several goroutines.
type Peer struct {
	url     string
	origins []string
	cfg     DialConfig
	http    *http.Client
	// finding is held by whoever reads the card.
	finding chan struct{}
	// contexts are those of a foreign agent.
	contexts contexts

	mu    sync.Mutex
	uri   string
	known *acquaintance // nil until the card was read and found good
	// reader serves the host that the peer is connected to; bound is closed when
	// it comes.
	reader *reader
	bound  chan struct{}
}

// acquaintance is what is known of a peer.
type acquaintance struct {
	*reading
	tag    string // the card's ETag
	client wire.Service
	// pinned is the host in whose store the key is pinned.
	pinned *agent.Host
}

// foreign reports whether the peer does not know the extension.
func (k *acquaintance) foreign() bool { return k.agent == "" }

// newPeer is the agent at an address; uri is "" if the card is to say it.
func newPeer(uri, url string, cfg DialConfig) (*Peer, error) {
	url = strings.TrimSuffix(url, "/")
	origins := make([]string, 0, 1+len(cfg.Origins))
	for _, address := range append([]string{url}, cfg.Origins...) {
		o, err := originOf(address)
		if err != nil {
			return nil, err
		}
		origins = append(origins, o)
	}
	cfg = cfg.withDefaults()
	return &Peer{url: url, origins: origins, cfg: cfg, http: newHTTPClient(cfg.Client), finding: make(chan struct{}, 1),
		uri: uri, bound: make(chan struct{})}, nil
}

// URI is the agent's.
func (p *Peer) URI() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.uri
}

// Card is the agent's card, which must not be changed; nil before it was read.
func (p *Peer) Card() *wire.AgentCard {
	if k := p.now(); k != nil {
		return k.card
	}
	return nil
}

// Client is what calls the agent's operations. It reads the card if that is not
// known yet; its errors are those of Dial.
func (p *Peer) Client(ctx context.Context) (wire.Service, error) {
	k, err := p.ready(ctx, nil)
	if err != nil {
		return nil, err
	}
	return k.client, nil
}

// Link is the link to the agent, for Host.Connect.
func (p *Peer) Link() agent.Link {
	return agent.Remote{Transport: carrier{p}, Agents: []string{p.URI()}, Key: p.key, Advertised: p.advertised,
		Vouches: p.cfg.Foreign, Collect: p.collect}.Link()
}

func (p *Peer) now() *acquaintance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// key is the peer's, nil as long as nobody has compared it with what is known.
func (p *Peer) key(string) ed25519.PublicKey {
	if k := p.now(); k != nil && k.pinned != nil {
		return k.key
	}
	return nil
}

func (p *Peer) advertised(string) (protocol.Advertisement, bool) {
	if k := p.now(); k != nil && k.ad != nil {
		return *k.ad, true
	}
	return protocol.Advertisement{}, false
}

// ready is what is known of the peer, which is found out if it must be. With a
// host, its key is the one that the host knows.
func (p *Peer) ready(ctx context.Context, h *agent.Host) (*acquaintance, error) {
	if k := p.now(); k != nil && (h == nil || k.pinned == h) {
		return k, nil
	}
	return p.find(ctx, h, false)
}

// find reads the card, again if it must, and compares the key.
func (p *Peer) find(ctx context.Context, h *agent.Host, again bool) (*acquaintance, error) {
	select {
	case p.finding <- struct{}{}:
		defer func() { <-p.finding }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k := p.now()
	if k == nil || again {
		fresh, err := p.meet(ctx, k)
		if err != nil {
			return nil, err
		}
		k = fresh
	}
	if h != nil && k.pinned != h {
		if err := p.pin(ctx, h, k); err != nil {
			p.keep(nil)
			return nil, err
		}
		k = &acquaintance{reading: k.reading, tag: k.tag, client: k.client, pinned: h}
	}
	p.keep(k)
	return k, nil
}

func (p *Peer) keep(k *acquaintance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = k
	if k != nil && p.uri == "" {
		p.uri = k.agent
	}
}

// meet reads the card; one that is the same as before needs no second look.
func (p *Peer) meet(ctx context.Context, before *acquaintance) (*acquaintance, error) {
	text, tag, err := p.fetchCard(ctx, before)
	if err != nil || text == nil {
		return before, err
	}
	r, err := p.recognize(text)
	if err != nil {
		return nil, err
	}
	switch {
	case r.agent == "" && !p.cfg.Foreign:
		return nil, ErrForeign
	case r.agent == "" && p.URI() == "":
		return nil, errNameless
	}
	client, err := newClient(r.use, p.cfg.Client, p.http)
	if err != nil {
		return nil, &CardError{URL: p.url + wire.CardPath, Err: err}
	}
	return &acquaintance{reading: r, tag: tag, client: client}, nil
}

// recognize reads the text of a card and compares it with what is known of the
// peer without a host.
func (p *Peer) recognize(text []byte) (*reading, error) {
	r, err := readCard(text, p.origins)
	if err == nil {
		err = r.requires(p.cfg.Client.Extensions)
	}
	if err != nil {
		return nil, &CardError{URL: p.url + wire.CardPath, Err: err}
	}
	uri := p.URI()
	if r.agent != "" && uri != "" && r.agent != uri {
		return nil, &WrongAgentError{URL: p.url, Asked: uri, Found: r.agent}
	}
	if uri == "" {
		uri = r.agent
	}
	if pin := p.cfg.Pins[uri]; pin != nil && !pin.Equal(r.key) {
		return nil, p.changed(uri, pin, r.key, "given in DialConfig.Pins")
	}
	return r, nil
}

// fetchCard gets the text of the card and its tag; no text if it is still what it
// was before.
func (p *Peer) fetchCard(ctx context.Context, before *acquaintance) (text []byte, tag string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.Client.Timeout, errNoAnswer)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+wire.CardPath, nil)
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Accept", acceptJSON)
	r.Header.Set(wire.VersionHeader, wire.Version)
	if before != nil && before.tag != "" {
		r.Header.Set("If-None-Match", before.tag)
	}
	if err := authorize(r, p.cfg.Client); err != nil {
		return nil, "", err
	}
	resp, text, err := exchange(p.http, r, min(maxCard, p.cfg.Client.MaxResponse))
	if err != nil {
		return nil, "", fmt.Errorf("reading the agent card: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusNotModified && before != nil:
		return nil, "", nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", &CardError{URL: p.url + wire.CardPath, Status: resp.StatusCode, Err: fmt.Errorf("HTTP status %d", resp.StatusCode)}
	}
	return text, resp.Header.Get("ETag"), nil
}

// maxCard is how many bytes a card may have.
const maxCard = 1 << 20

// pin compares the key that the peer shows with the one that the host knows, and
// keeps it if it knows none.
func (p *Peer) pin(ctx context.Context, h *agent.Host, k *acquaintance) error {
	uri := p.URI()
	if k.foreign() {
		known, err := h.Store().Pinned(ctx, uri)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("reading the key of %s: %w", uri, err)
		}
		return p.changed(uri, known.Key, nil, "met at "+known.From)
	}
	known, err := h.Store().Pin(ctx, store.Pin{URI: k.agent, Key: k.key, From: p.url, At: h.Now()})
	if err != nil {
		return fmt.Errorf("keeping the key of %s: %w", k.agent, err)
	}
	if !k.key.Equal(ed25519.PublicKey(known.Key)) {
		return p.changed(k.agent, known.Key, k.key, "met at "+known.From)
	}
	return nil
}

func (p *Peer) changed(uri string, known, shown ed25519.PublicKey, from string) error {
	e := &KeyChangedError{Agent: uri, URL: p.url, Known: Fingerprint(known), From: from}
	if shown != nil {
		e.Shown = Fingerprint(shown)
	}
	return e
}

// Fingerprint is a short name of a key for people: "SHA256:" and the base64 of
// its sha256 without padding, as OpenSSH writes those of its keys.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
