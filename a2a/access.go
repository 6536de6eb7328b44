package a2a

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// Access is what a caller wants to do.
type Access struct {
	// Caller is the caller's agent URI.
	Caller string
	// Identity is what the caller was authenticated by, nil if by nothing.
	Identity *Identity
	// Loopback: the caller is on this machine.
	Loopback bool
	// Agent is the URI of the agent that is called.
	Agent string
	// Operation is what the caller wants the agent to do.
	Operation wire.Method
	// Tenant is what the caller's path names as such, "" if nothing. The callers
	// of one host are not kept apart by it.
	Tenant string
}

// authenticate makes out who calls the agent. The error is for the client.
func (s *Server) authenticate(r *http.Request, agent string) (Access, error) {
	a := Access{Agent: agent, Loopback: isLoopback(r)}
	for _, by := range s.cfg.Authenticate {
		id, err := by.Authenticate(r, agent)
		switch {
		case errors.Is(err, ErrCredentials):
			s.cfg.Log.InfoContext(r.Context(), "credentials refused", "agent", agent, "error", err)
			return a, wire.Errorf(wire.Unauthenticated, "the credentials are not valid")
		case err != nil:
			return a, err
		case id == nil:
			continue
		}
		a.Identity, a.Caller = id, id.URI
		if a.Caller == "" {
			a.Caller = ForeignURI(s.authority, id.Scheme, id.Subject)
		}
		return a, nil
	}
	switch {
	case len(s.cfg.Authenticate) > 0:
		return a, wire.Errorf(wire.Unauthenticated, "authentication is required")
	case !a.Loopback && !s.cfg.AllowAnonymous:
		return a, wire.Errorf(wire.PermissionDenied, "only callers of its own machine are served here")
	}
	a.Caller = s.unknown
	return a, nil
}

// authorize asks the hook whether the caller may do it.
func (s *Server) authorize(ctx context.Context, a Access) error {
	if s.cfg.Authorize == nil {
		return nil
	}
	err := s.cfg.Authorize(ctx, a)
	if _, told := errors.AsType[*wire.Error](err); err == nil || told {
		return err
	}
	s.cfg.Log.InfoContext(ctx, "caller refused", "caller", a.Caller, "agent", a.Agent, "operation", a.Operation, "error", err)
	return wire.Errorf(wire.PermissionDenied, "the caller may not do this")
}

// payer names whom a request counts against: the caller, or the address of one
// who is not known.
func payer(a Access, r *http.Request) string {
	if a.Identity != nil {
		return a.Caller
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// security describes the authenticators for the cards: each is enough alone.
func (c Config) security() (schemes map[string]wire.SecurityScheme, needs []wire.SecurityRequirement) {
	for _, by := range c.Authenticate {
		name, scheme := by.Describe()
		if schemes == nil {
			schemes = map[string]wire.SecurityScheme{}
		}
		schemes[name] = scheme
		needs = append(needs, wire.SecurityRequirement{name: {}})
	}
	return schemes, needs
}

// challenges are what a caller who has to authenticate is told (RFC 9110
// section 11.6.1), one for each scheme.
func (c Config) challenges() []string {
	var all []string
	for _, by := range c.Authenticate {
		name, scheme := by.Describe()
		switch {
		case scheme.HTTPAuth != nil:
			all = append(all, scheme.HTTPAuth.Scheme+` realm="a2a"`)
		case scheme.APIKey != nil:
			all = append(all, `ApiKey realm="a2a", in="`+scheme.APIKey.Location+`", name="`+scheme.APIKey.Name+`"`)
		case scheme.MutualTLS != nil:
			all = append(all, `ClientCertificate realm="a2a"`)
		default:
			all = append(all, strings.ReplaceAll(name, " ", "-")+` realm="a2a"`)
		}
	}
	return all
}
