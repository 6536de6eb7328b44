package a2a

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// reading is what a card says to a client of Parley.
type reading struct {
	card *wire.AgentCard
	// agent is "" for an agent that does not know the extension, and then the rest
	// of it is zero.
	agent string
	key   ed25519.PublicKey
	ad    *protocol.Advertisement
	// use is the interface that the client speaks to.
	use wire.AgentInterface
}

// CardError is a card that cannot be used.
type CardError struct {
	// URL is where the card lies.
	URL string
	// Status is the HTTP status of what was answered instead of a card, 0 if one was.
	Status int
	// Err says what is wrong with it.
	Err error
}

func (e *CardError) Error() string { return fmt.Sprintf("the agent card at %s: %v", e.URL, e.Err) }

// Unwrap returns what is wrong.
func (e *CardError) Unwrap() error { return e.Err }

// OriginError is a card that leads to another origin than it came from.
type OriginError struct{ URL, Origin string }

func (e *OriginError) Error() string {
	return fmt.Sprintf("the interface %s is not on the origin %s that was dialled; DialConfig.Origins allows others", e.URL, e.Origin)
}

// ExtensionError is a card that requires an extension which the client does not
// activate.
type ExtensionError struct{ URI string }

func (e *ExtensionError) Error() string {
	return fmt.Sprintf("the agent requires the extension %s, which ClientConfig.Extensions does not have", e.URI)
}

// requires refuses what requires more than Parley's extension and the given ones.
func (r *reading) requires(known []string) error {
	for _, x := range r.card.Capabilities.Extensions {
		if x.Required && x.URI != ExtensionURI && !slices.Contains(known, x.URI) {
			return &ExtensionError{URI: x.URI}
		}
	}
	return nil
}

// readCard reads what lies at an address: the text of a card, whose interfaces
// may be on the given origins. The card of a Parley agent must be signed with the
// key that it shows. That says that whoever wrote it has the key, and nothing
// more.
func readCard(text []byte, origins []string) (*reading, error) {
	r := &reading{card: &wire.AgentCard{}}
	if err := wire.DecodeResult(text, r.card); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(r.card.Capabilities.Extensions, func(x wire.AgentExtension) bool { return x.URI == ExtensionURI })
	if at >= 0 {
		if err := r.introduced(r.card.Capabilities.Extensions[at].Params); err != nil {
			return nil, err
		}
		if err := r.verify(text); err != nil {
			return nil, err
		}
	}
	use, err := choose(r.card.SupportedInterfaces, origins)
	r.use = use
	return r, err
}

// verify holds the text of the card to the key that it shows.
func (r *reading) verify(text []byte) error {
	_, err := wire.VerifyCard(text, func(h wire.SignatureHint) crypto.PublicKey {
		if h.Algorithm != "EdDSA" || h.KeyID != r.agent {
			return nil
		}
		return r.key
	})
	return err
}

// introduced reads the params of the extension.
func (r *reading) introduced(params wire.Metadata) error {
	text := func(name string) (s string) {
		if json.Unmarshal(params[name], &s) != nil {
			return ""
		}
		return s
	}
	uri, err := envelope.ParseURI(text("agent"))
	if err != nil {
		return fmt.Errorf("extension params: %w", err)
	}
	key, err := base64.RawURLEncoding.Strict().DecodeString(text("key"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("extension params: key: want an Ed25519 public key in base64url without padding")
	}
	r.agent, r.key = uri.String(), key
	if params["advertisement"] == nil {
		return nil
	}
	ad, err := schema.Decode[protocol.Advertisement](advertisementSchema(), params["advertisement"])
	if err == nil {
		err = ad.Check()
	}
	if err == nil && ad.Agent != r.agent {
		err = fmt.Errorf("it is of %s", ad.Agent)
	}
	if err != nil {
		return fmt.Errorf("extension params: advertisement: %w", err)
	}
	r.ad = &ad
	return nil
}

// advertisementSchema reads advertisements of newer minor versions too.
var advertisementSchema = sync.OnceValue(func() *schema.Schema {
	s, err := schema.For[protocol.Advertisement](protocol.AdvertiseSchema)
	if err != nil {
		panic(err) // the type is the module's own, and the tests derive it
	}
	return s.Open()
})

// choose takes the first interface that is spoken here. One on an origin that is
// not among those given is passed over; the first such is the error if no other is
// left.
func choose(interfaces []wire.AgentInterface, origins []string) (wire.AgentInterface, error) {
	var elsewhere error
	for _, i := range interfaces {
		origin, err := originOf(i.URL)
		if err != nil || !speaks(i) {
			continue
		}
		if !slices.Contains(origins, origin) {
			if elsewhere == nil {
				elsewhere = &OriginError{URL: i.URL, Origin: origins[0]}
			}
			continue
		}
		return i, nil
	}
	if elsewhere != nil {
		return wire.AgentInterface{}, elsewhere
	}
	return wire.AgentInterface{}, fmt.Errorf("it has no interface of %s or %s in version %s", wire.JSONRPC, wire.HTTPJSON, wire.Version)
}
