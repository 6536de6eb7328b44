package guard

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Claims are what a token says: its sender speaks to that receiver, for that
// tenant, until then.
type Claims struct {
	Sender   string
	Receiver string
	Tenant   string
	Scopes   []string
	Expires  time.Time
}

type private struct {
	Tenant string   `json:"tenant"`
	Scopes []string `json:"scopes,omitempty"`
}

// Mint signs the claims with the sender's Ed25519 key. The token is a compact
// JWS (RFC 7515, RFC 8037) whose header carries the public key: a hint, never
// an authority.
func Mint(key ed25519.PrivateKey, c Claims) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", c.Sender, err)
	}
	token, err := jwt.Signed(signer).
		Claims(jwt.Claims{Issuer: c.Sender, Subject: c.Sender, Audience: jwt.Audience{c.Receiver}, Expiry: jwt.NewNumericDate(c.Expires)}).
		Claims(private{Tenant: c.Tenant, Scopes: c.Scopes}).
		Serialize()
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", c.Sender, err)
	}
	return token, nil
}

// Peek reads a token that nobody has verified: what it claims, and the key that
// it carries. Neither proves anything.
func Peek(token string) (Claims, ed25519.PublicKey, error) {
	parsed, err := parse(token)
	if err != nil {
		return Claims{}, nil, err
	}
	var std jwt.Claims
	var own private
	if err := parsed.UnsafeClaimsWithoutVerification(&std, &own); err != nil {
		return Claims{}, nil, fmt.Errorf("token is not readable: %w", err)
	}
	c := Claims{Sender: std.Issuer, Tenant: own.Tenant, Scopes: own.Scopes}
	if len(std.Audience) == 1 {
		c.Receiver = std.Audience[0]
	}
	if std.Expiry != nil {
		c.Expires = std.Expiry.Time()
	}
	return c, keyIn(parsed), nil
}

// maxToken is how long a token may be: as long as an envelope has room for.
const maxToken = 4 << 10

// parse reads a token and makes sure that it carries a key.
func parse(token string) (*jwt.JSONWebToken, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("token is longer than %d bytes", maxToken)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return nil, fmt.Errorf("token is not readable: %w", err)
	}
	if keyIn(parsed) == nil {
		return nil, errors.New("token has no key in its header")
	}
	return parsed, nil
}

// keyIn is the key in the token's header, nil if there is none.
func keyIn(t *jwt.JSONWebToken) ed25519.PublicKey {
	if len(t.Headers) != 1 || t.Headers[0].JSONWebKey == nil {
		return nil
	}
	k, _ := t.Headers[0].JSONWebKey.Key.(ed25519.PublicKey)
	return k
}

// Verify checks a token against the key that the receiver knows for the
// sender and returns its claims: signed by that key and no other, for this
// receiver, not expired by more than Skew at now.
func Verify(token string, key ed25519.PublicKey, receiver string, now time.Time) (Claims, error) {
	parsed, err := parse(token)
	if err != nil {
		return Claims{}, err
	}
	if !keyIn(parsed).Equal(key) {
		return Claims{}, errors.New("token is signed by another key than the sender's")
	}
	var std jwt.Claims
	var own private
	if err := parsed.Claims(key, &std, &own); err != nil {
		return Claims{}, fmt.Errorf("token does not verify: %w", err)
	}
	switch {
	case std.Issuer == "" || std.Issuer != std.Subject:
		return Claims{}, errors.New("token has no single sender")
	case !std.Audience.Contains(receiver):
		return Claims{}, errors.New("token is for another receiver")
	case std.Expiry == nil || now.After(std.Expiry.Time().Add(Skew)):
		return Claims{}, errors.New("token has expired")
	case own.Tenant == "" || tenant(std.Issuer) != own.Tenant:
		return Claims{}, errors.New("token names a tenant that is not its sender's")
	}
	return Claims{Sender: std.Issuer, Receiver: receiver, Tenant: own.Tenant, Scopes: own.Scopes, Expires: std.Expiry.Time()}, nil
}
