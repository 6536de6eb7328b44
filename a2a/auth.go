package a2a

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// ErrCredentials says that a caller's credentials do not prove what they claim.
// The caller learns nothing else of it; an error that wraps it says more to
// Config.Log.
var ErrCredentials = errors.New("the credentials are not valid")

// Identity is who a caller is.
type Identity struct {
	// Scheme is the authentication that proved it, such as "bearer".
	Scheme string
	// Subject is who it is within the scheme.
	Subject string
	// URI is the caller's own agent URI, if the scheme proves one. "": the caller
	// is called ForeignURI(authority, Scheme, Subject).
	URI string
}

// Authenticator is one way in which callers prove who they are. Its methods may
// be called at once by several goroutines.
type Authenticator interface {
	// Authenticate makes out who sent the request to the agent (its URI). It gives
	// nil and no error when the request carries no credentials of this kind, and
	// an error when it carries some that do not hold; ErrCredentials says that
	// this is the caller's fault. It must not read the body.
	Authenticate(r *http.Request, agent string) (*Identity, error)
	// Describe is the scheme for the agent cards, by a name that no other of the
	// server's authenticators has.
	Describe() (name string, scheme wire.SecurityScheme)
}

// ForeignURI is the agent URI of a caller who has none of its own. Different
// pairs of scheme and subject give different URIs, whatever the two contain, as
// far as 64 bits of SHA-256 tell them apart.
func ForeignURI(authority, scheme, subject string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(scheme), scheme, subject))
	return "agent://" + authority + "/x-" + hex.EncodeToString(sum[:8])
}

// isGiven reports whether a URI is one that the server of the agent gives to
// callers who have none of their own: nobody proves by a token to be one of them.
// On loopback anybody could, for a key that was never met is taken at its word.
func isGiven(uri, agent string) bool {
	name, ok := strings.CutPrefix(uri, agent[:strings.LastIndexByte(agent, '/')+1])
	if !ok {
		return false
	}
	sum, foreign := strings.CutPrefix(name, "x-")
	return name == anonymous || foreign && len(sum) == 16 && strings.Trim(sum, "0123456789abcdef") == ""
}

// anonymous is the name of callers who are not authenticated.
const anonymous = "anonymous"

// Verify says whose a secret is: its subject, or ErrCredentials if it is
// nobody's. Any other error is a fault of this side. It may be called at once by
// several goroutines.
type Verify func(ctx context.Context, secret string) (subject string, err error)

// Secrets is a Verify over fixed secrets: the subject by the secret. How long it
// takes tells nothing about them.
func Secrets(subjects map[string]string) Verify {
	type known struct {
		sum     [sha256.Size]byte
		subject string
	}
	all := make([]known, 0, len(subjects))
	for secret, subject := range subjects {
		all = append(all, known{sha256.Sum256([]byte(secret)), subject})
	}
	return func(_ context.Context, secret string) (string, error) {
		sum := sha256.Sum256([]byte(secret))
		found := -1
		for i := range all {
			found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], all[i].sum[:]), i, found)
		}
		if found < 0 || secret == "" {
			return "", ErrCredentials
		}
		return all[found].subject, nil
	}
}

// BearerTokens authenticates by the header "Authorization: Bearer …" (RFC 6750).
func BearerTokens(v Verify) Authenticator { return bearer{v} }

type bearer struct{ verify Verify }

func (b bearer) Authenticate(r *http.Request, _ string) (*Identity, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, nil
	}
	return prove(r, "bearer", strings.TrimSpace(token), b.verify)
}

func (bearer) Describe() (string, wire.SecurityScheme) {
	return "bearer", wire.SecurityScheme{HTTPAuth: &wire.HTTPAuthScheme{Scheme: "Bearer"}}
}

// APIKeys authenticates by a key in the header, such as "X-API-Key".
func APIKeys(header string, v Verify) Authenticator {
	return apiKeys{http.CanonicalHeaderKey(header), v}
}

type apiKeys struct {
	header string
	verify Verify
}

func (a apiKeys) Authenticate(r *http.Request, _ string) (*Identity, error) {
	key := r.Header.Get(a.header)
	if key == "" {
		return nil, nil
	}
	return prove(r, a.name(), key, a.verify)
}

func (a apiKeys) name() string { return "apiKey-" + strings.ToLower(a.header) }

func (a apiKeys) Describe() (string, wire.SecurityScheme) {
	return a.name(), wire.SecurityScheme{APIKey: &wire.APIKeyScheme{Location: "header", Name: a.header}}
}

func prove(r *http.Request, scheme, secret string, verify Verify) (*Identity, error) {
	subject, err := verify(r.Context(), secret)
	if err == nil && subject == "" {
		err = ErrCredentials
	}
	if err != nil {
		return nil, err
	}
	return &Identity{Scheme: scheme, Subject: subject}, nil
}

// ClientCertificates authenticates by the certificate that the caller's TLS
// connection was made with, if the server's TLS configuration verified it. The
// subject is the certificate's first URI (a SPIFFE id, for one) or else its
// subject's distinguished name.
func ClientCertificates() Authenticator { return clientCertificates{} }

type clientCertificates struct{}

func (clientCertificates) Authenticate(r *http.Request, _ string) (*Identity, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return nil, nil
	}
	leaf := r.TLS.VerifiedChains[0][0]
	subject := leaf.Subject.String()
	if len(leaf.URIs) > 0 {
		subject = leaf.URIs[0].String()
	}
	if subject == "" {
		return nil, ErrCredentials
	}
	return &Identity{Scheme: "mtls", Subject: subject}, nil
}

func (clientCertificates) Describe() (string, wire.SecurityScheme) {
	return "mtls", wire.SecurityScheme{MutualTLS: &wire.MutualTLSScheme{}}
}
