package wire

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// maxSignatures is how many signatures of a card are looked at.
const maxSignatures = 16

var (
	// ErrUnsigned is the error of VerifyCard for a card without signatures.
	ErrUnsigned = errors.New("agent card is not signed")
	// ErrSignature is its error for a card none of whose signatures is by a
	// known key over what the card says.
	ErrSignature = errors.New("agent card has no valid signature by a known key")
)

// SignatureHint is what a signature of a card says about itself. It helps to
// find a key among those that are trusted already, and is never a reason to
// trust one: whoever forges a card writes what he likes here.
type SignatureHint struct {
	Algorithm string // alg
	KeyID     string // kid
	KeySetURL string // jku, "" if none
}

// SignCard adds a signature to a card (section 8.4): a detached JWS (RFC 7515)
// by an ed25519.PrivateKey (EdDSA) or an *ecdsa.PrivateKey on P-256 (ES256),
// with keyID as its hint. Signatures that are there stay; whoever changes the
// card afterwards makes all of them invalid.
func SignCard(card *AgentCard, key crypto.Signer, keyID string) error {
	algorithm := jose.EdDSA
	switch k := key.(type) {
	case ed25519.PrivateKey:
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return errors.New("sign agent card: an ECDSA key must be on P-256")
		}
		algorithm = jose.ES256
	default:
		return fmt.Errorf("sign agent card: key is a %T, not Ed25519 or ECDSA", key)
	}
	encoded := Encode(card)
	if err := check(encoded); err != nil {
		return fmt.Errorf("sign agent card: %w", err)
	}
	payload, err := signedBytes(encoded)
	if err != nil {
		return fmt.Errorf("sign agent card: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: keyID}},
		(&jose.SignerOptions{}).WithType("JOSE"))
	if err != nil {
		return fmt.Errorf("sign agent card: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return fmt.Errorf("sign agent card: %w", err)
	}
	compact, err := signed.DetachedCompactSerialize()
	if err != nil {
		return fmt.Errorf("sign agent card: %w", err)
	}
	protected, signature, _ := strings.Cut(compact, "..")
	card.Signatures = append(card.Signatures, CardSignature{Protected: protected, Signature: signature})
	return nil
}

// VerifyCard looks for a signature of a card by a key that the caller trusts,
// and returns what that signature says about itself. It judges the JSON that
// came, members that it does not know included, so decode the same bytes. The
// function key returns the trusted public key that a hint may mean, nil if
// there is none. The error is ErrUnsigned, ErrSignature, or tells why the card
// cannot be read.
func VerifyCard(data []byte, key func(h SignatureHint) crypto.PublicKey) (SignatureHint, error) {
	var card AgentCard
	if err := Decode(data, &card); err != nil {
		return SignatureHint{}, fmt.Errorf("verify agent card: %w", err)
	}
	if len(card.Signatures) == 0 {
		return SignatureHint{}, ErrUnsigned
	}
	payload, err := signedBytes(trim(bytes.Clone(data)))
	if err != nil {
		return SignatureHint{}, err
	}
	for _, s := range card.Signatures[:min(len(card.Signatures), maxSignatures)] {
		hint, ok := s.hint()
		if !ok {
			continue
		}
		if k := key(hint); k != nil && s.verify(payload, hint.Algorithm, k) {
			return hint, nil
		}
	}
	return SignatureHint{}, ErrSignature
}

// algorithms are those that sign with a private key.
var algorithms = []jose.SignatureAlgorithm{jose.EdDSA, jose.ES256, jose.ES384, jose.ES512, jose.RS256, jose.PS256}

// hint reads the protected header. A type other than JOSE is another thing's,
// a token's say, signed by the same key.
func (s CardSignature) hint() (SignatureHint, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s.Protected)
	if err != nil || check(raw) != nil {
		return SignatureHint{}, false
	}
	var h Metadata
	if raw = trim(raw); raw[0] == '{' {
		h = readMetadata(raw)
	}
	if typ, ok := h["typ"]; ok && text(typ) != "JOSE" {
		return SignatureHint{}, false
	}
	hint := SignatureHint{Algorithm: text(h["alg"]), KeyID: text(h["kid"]), KeySetURL: text(h["jku"])}
	return hint, hint.Algorithm != ""
}

func (s CardSignature) verify(payload []byte, algorithm string, key crypto.PublicKey) bool {
	for _, a := range algorithms {
		if string(a) != algorithm {
			continue
		}
		signed, err := jose.ParseDetached(s.Protected+".."+s.Signature, payload, []jose.SignatureAlgorithm{a})
		return err == nil && signed.DetachedVerify(payload, key) == nil
	}
	return false
}
