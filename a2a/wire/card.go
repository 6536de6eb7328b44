package wire

import "encoding/json"

// AgentCard is what an agent says about itself (section 4.4).
type AgentCard struct {
	Name                 string
	Description          string
	SupportedInterfaces  []AgentInterface
	Provider             *Provider
	Version              string
	DocumentationURL     string
	Capabilities         Capabilities
	SecuritySchemes      map[string]SecurityScheme
	SecurityRequirements []SecurityRequirement
	DefaultInputModes    []string
	DefaultOutputModes   []string
	Skills               []Skill
	Signatures           []CardSignature
	IconURL              string
}

// The protocol bindings that are spoken here.
const (
	JSONRPC  = "JSONRPC"
	HTTPJSON = "HTTP+JSON"
)

// AgentInterface is one way to reach the agent, best first.
type AgentInterface struct {
	URL             string
	ProtocolBinding string
	Tenant          string
	ProtocolVersion string
}

// Provider is the organisation behind an agent.
type Provider struct{ URL, Organization string }

// Capabilities are the optional parts of the protocol that the agent serves.
type Capabilities struct {
	Streaming         bool
	PushNotifications bool
	Extensions        []AgentExtension
	ExtendedAgentCard bool
}

// AgentExtension is an extension of the protocol that the agent knows.
type AgentExtension struct {
	URI         string
	Description string
	Required    bool
	Params      Metadata
}

// Skill is one thing that the agent can do.
type Skill struct {
	ID                   string
	Name                 string
	Description          string
	Tags                 []string
	Examples             []string
	InputModes           []string
	OutputModes          []string
	SecurityRequirements []SecurityRequirement
}

// SecurityScheme is how callers prove who they are: exactly one member is set.
type SecurityScheme struct {
	APIKey    *APIKeyScheme
	HTTPAuth  *HTTPAuthScheme
	MutualTLS *MutualTLSScheme
	// Other is a scheme of another kind as it stands in the card: the name of
	// its member and its JSON.
	Other map[string]json.RawMessage
}

// APIKeyScheme is a key in a header, a query parameter or a cookie.
type APIKeyScheme struct{ Description, Location, Name string }

// HTTPAuthScheme is a scheme of the header Authorization, such as Bearer.
type HTTPAuthScheme struct{ Description, Scheme, BearerFormat string }

// MutualTLSScheme is a client certificate.
type MutualTLSScheme struct{ Description string }

// SecurityRequirement names the schemes that must all be met, each with its
// scopes.
type SecurityRequirement map[string][]string

// CardSignature is a JWS (RFC 7515) with the card as its detached payload.
type CardSignature struct {
	Protected, Signature string
	Header               json.RawMessage
}
