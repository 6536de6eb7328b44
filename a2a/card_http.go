package a2a

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// cardAge is for how long a client may keep a card without asking, in seconds.
const cardAge = "300"

// cardCache keeps an agent's card: what it says, which never changes, and how
// it was last sent, so that a card that is the same has the same signature.
type cardCache struct {
	mu        sync.Mutex
	described *wire.AgentCard
	tag       string
	body      []byte
	// since is when it first said this, as far as this server knows.
	since time.Time
}

// card answers with the agent's card (section 8.2): what everybody may see.
func (v *visit) card() {
	if err := v.charge(Access{}); err != nil {
		v.fail(err)
		return
	}
	body, tag, since, err := v.signed()
	if err != nil {
		v.fail(err)
		return
	}
	h := v.w.Header()
	h.Set("Cache-Control", "public, max-age="+cardAge)
	h.Set("ETag", tag)
	h.Set("Last-Modified", since.UTC().Format(http.TimeFormat))
	if matches(v.r.Header.Values("If-None-Match"), tag) {
		v.w.send(http.StatusNotModified, "", nil)
		return
	}
	v.w.send(http.StatusOK, wire.RPCType, body)
}

// signed is the agent's card as it is sent, and its tag: that of what it says,
// however it was signed.
func (v *visit) signed() (body []byte, tag string, since time.Time, err error) {
	card, err := v.published()
	if err != nil {
		return nil, "", since, err
	}
	sum := sha256.Sum256(wire.Encode(card))
	tag = `"` + hex.EncodeToString(sum[:16]) + `"`
	c := &v.agent.cards
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tag != tag {
		if err := v.sign(card); err != nil {
			return nil, "", since, err
		}
		c.tag, c.body, c.since = tag, wire.Encode(card), v.now()
	}
	return c.body, c.tag, c.since, nil
}

// described is what the agent itself says in its card.
func (a *served) described() (wire.AgentCard, error) {
	a.cards.mu.Lock()
	defer a.cards.mu.Unlock()
	if a.cards.described == nil {
		card, err := a.describe()
		if err != nil {
			return wire.AgentCard{}, err
		}
		a.cards.described = card
	}
	return *a.cards.described, nil
}

// published is the agent's card with what the server knows: where and how the
// agent is reached, and what it serves.
func (v *visit) published() (*wire.AgentCard, error) {
	card, err := v.agent.described()
	if err != nil {
		return nil, err
	}
	url := v.base()
	if v.place.agent != "" {
		url += "/" + v.agent.name
	}
	card.SupportedInterfaces = nil
	for _, b := range []string{wire.JSONRPC, wire.HTTPJSON} {
		card.SupportedInterfaces = append(card.SupportedInterfaces,
			wire.AgentInterface{URL: url, ProtocolBinding: b, ProtocolVersion: wire.Version})
	}
	card.Capabilities = v.cfg.capabilities(card.Capabilities)
	card.SecuritySchemes, card.SecurityRequirements = v.cfg.security()
	return &card, nil
}

// capabilities are what the agent's card says of them.
func (v *visit) capabilities() (wire.Capabilities, error) {
	card, err := v.agent.described()
	return v.cfg.capabilities(card.Capabilities), err
}

func (c Config) capabilities(of wire.Capabilities) wire.Capabilities {
	if len(c.Extensions) > 0 {
		of.Extensions = slices.Concat(of.Extensions, c.Extensions)
	}
	of.Streaming = !c.NoStreams
	of.PushNotifications = !c.NoPush
	of.ExtendedAgentCard = c.ExtendedCard != nil
	return of
}

// extended is the agent's card for a caller who may see more.
func (v *visit) extended(a Access) (wire.Object, error) {
	public, err := v.published()
	if err != nil {
		return nil, err
	}
	public.Skills = slices.Clone(public.Skills)
	card, err := v.cfg.ExtendedCard(v.r.Context(), v.agent.uri, a.Caller, public)
	if err != nil {
		return nil, err
	}
	if card == nil {
		return nil, wire.Errorf(wire.ExtendedCardNotConfigured, "the agent has no extended card for the caller")
	}
	return card, v.sign(card)
}

// sign signs a card for the agent, and for whoever runs the server.
func (v *visit) sign(card *wire.AgentCard) error {
	card.Signatures = nil
	if err := v.agent.sign(card); err != nil || v.cfg.SigningKey == nil {
		return err
	}
	return wire.SignCard(card, v.cfg.SigningKey, v.cfg.SigningKeyID)
}

// base is the server's URL without a slash at its end. Without a configured one
// it is the address of the connection, which no header can change.
func (v *visit) base() string {
	if v.cfg.BaseURL != "" {
		return v.cfg.BaseURL
	}
	scheme := "http://"
	if v.r.TLS != nil {
		scheme = "https://"
	}
	if a, ok := localAddr(v.r); ok {
		return scheme + a.String()
	}
	return scheme + "localhost"
}

// matches reports whether one of the header's tags is this one (RFC 9110 section
// 13.1.2).
func matches(header []string, tag string) bool {
	for t := range strings.SplitSeq(strings.Join(header, ","), ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}
