package wire

import "encoding/json"

// A card that is read must have a name and an interface; what else it must have
// may be absent, since several libraries leave out what is empty.
func (a *AgentCard) fields(c *codec) {
	c.text("name", &a.Name, required)
	c.text("description", &a.Description, kept)
	list(c, "supportedInterfaces", &a.SupportedInterfaces, required)
	maybe(c, "provider", &a.Provider)
	c.text("version", &a.Version, kept)
	c.text("documentationUrl", &a.DocumentationURL, optional)
	one(c, "capabilities", &a.Capabilities, kept)
	mapOf(c, "securitySchemes", &a.SecuritySchemes)
	list(c, "securityRequirements", &a.SecurityRequirements, optional)
	c.texts("defaultInputModes", &a.DefaultInputModes, kept)
	c.texts("defaultOutputModes", &a.DefaultOutputModes, kept)
	list(c, "skills", &a.Skills, kept)
	list(c, "signatures", &a.Signatures, optional)
	c.text("iconUrl", &a.IconURL, optional)
}

func (i *AgentInterface) fields(c *codec) {
	c.text("url", &i.URL, required)
	c.text("protocolBinding", &i.ProtocolBinding, required)
	c.text("tenant", &i.Tenant, optional)
	c.text("protocolVersion", &i.ProtocolVersion, kept)
}

func (p *Provider) fields(c *codec) {
	c.text("url", &p.URL, kept)
	c.text("organization", &p.Organization, kept)
}

func (a *Capabilities) fields(c *codec) {
	c.flag("streaming", &a.Streaming)
	c.flag("pushNotifications", &a.PushNotifications)
	list(c, "extensions", &a.Extensions, optional)
	c.flag("extendedAgentCard", &a.ExtendedAgentCard)
}

func (e *AgentExtension) fields(c *codec) {
	c.text("uri", &e.URI, optional)
	c.text("description", &e.Description, optional)
	c.flag("required", &e.Required)
	c.metadata("params", &e.Params)
}

func (s *Skill) fields(c *codec) {
	c.text("id", &s.ID, kept)
	c.text("name", &s.Name, kept)
	c.text("description", &s.Description, kept)
	c.texts("tags", &s.Tags, kept)
	c.texts("examples", &s.Examples, optional)
	c.texts("inputModes", &s.InputModes, optional)
	c.texts("outputModes", &s.OutputModes, optional)
	list(c, "securityRequirements", &s.SecurityRequirements, optional)
}

func (s *SecurityScheme) fields(c *codec) {
	maybe(c, "apiKeySecurityScheme", &s.APIKey)
	maybe(c, "httpAuthSecurityScheme", &s.HTTPAuth)
	maybe(c, "mtlsSecurityScheme", &s.MutualTLS)
	if c.writing {
		for _, k := range sorted(s.Other) {
			c.key(k)
			c.out = appendRaw(c.out, s.Other[k])
		}
		return
	}
	if c.err != nil || s.APIKey != nil || s.HTTPAuth != nil || s.MutualTLS != nil {
		return
	}
	for _, m := range c.stack[c.base:] {
		if !isNull(m.value) {
			if s.Other == nil {
				s.Other = map[string]json.RawMessage{}
			}
			s.Other[string(m.name)] = m.value
		}
	}
}

func (s *APIKeyScheme) fields(c *codec) {
	c.text("description", &s.Description, optional)
	c.text("location", &s.Location, kept)
	c.text("name", &s.Name, kept)
}

func (s *HTTPAuthScheme) fields(c *codec) {
	c.text("description", &s.Description, optional)
	c.text("scheme", &s.Scheme, kept)
	c.text("bearerFormat", &s.BearerFormat, optional)
}

func (s *MutualTLSScheme) fields(c *codec) {
	c.text("description", &s.Description, optional)
}

// scopes is the proto's StringList.
type scopes struct{ list []string }

func (s *scopes) fields(c *codec) { c.texts("list", &s.list, optional) }

func (r *SecurityRequirement) fields(c *codec) {
	schemes := map[string]scopes{}
	for name, list := range *r {
		schemes[name] = scopes{list}
	}
	mapOf(c, "schemes", &schemes)
	if c.writing {
		return
	}
	*r = SecurityRequirement{}
	for name, s := range schemes {
		(*r)[name] = s.list
	}
}

func (s *CardSignature) fields(c *codec) {
	c.text("protected", &s.Protected, required)
	c.text("signature", &s.Signature, required)
	c.structure("header", &s.Header)
}
