package a2a

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
)

// maxSchemas is how many bytes of schemas a card carries; one whose contracts
// have more names them and carries none.
const maxSchemas = 64 << 10

// introduction is what the extension says about an agent in its card.
type introduction struct {
	// Agent is its URI, Key its Ed25519 public key as base64url without padding.
	Agent string `json:"agent"`
	Key   string `json:"key"`
	// Advertisement is what the agent says about itself to other agents.
	Advertisement json.RawMessage `json:"advertisement,omitempty"`
	// Schemas are the JSON Schemas of what its contracts carry, by name: a foreign
	// client finds here what a data part may be.
	Schemas map[string]json.RawMessage `json:"schemas,omitempty"`
}

// describe makes the card of one of the host's agents, but for what its server
// knows: interfaces, security, and which optional parts are served. It is the
// same as long as the host runs.
func describe(h *agent.Host, uri string, about About) (*wire.AgentCard, error) {
	at, err := envelope.ParseURI(uri)
	if err != nil {
		return nil, fmt.Errorf("making a card: %w", err)
	}
	contracts := h.Contracts(uri)
	card := &wire.AgentCard{Name: about.Name, Description: about.Description, Version: about.Version, Provider: about.Provider,
		DocumentationURL: about.DocumentationURL, IconURL: about.IconURL}
	preset(&card.Name, at.Name)
	preset(&card.Version, "0")
	preset(&card.Description, summary(at.Name, contracts))
	for _, c := range contracts {
		s := skillOf(c)
		card.Skills = append(card.Skills, s)
		card.DefaultInputModes = union(card.DefaultInputModes, s.InputModes)
		card.DefaultOutputModes = union(card.DefaultOutputModes, s.OutputModes)
	}
	if len(contracts) == 0 {
		card.DefaultInputModes, card.DefaultOutputModes = []string{jsonMode}, []string{jsonMode}
	}
	params, err := introduce(h, uri, contracts)
	if err != nil {
		return nil, fmt.Errorf("making the card of %s: %w", uri, err)
	}
	card.Capabilities.Extensions = []wire.AgentExtension{{URI: ExtensionURI, Params: params,
		Description: "Messages may be Parley envelopes: acts of an enforced protocol, with their header in the metadata. Clients that do not know it send text or data."}}
	return card, nil
}

// introduce is what the extension's params say.
func introduce(h *agent.Host, uri string, contracts []*guard.Contract) (wire.Metadata, error) {
	in := introduction{Agent: uri, Key: base64.RawURLEncoding.EncodeToString(h.Key(uri)), Schemas: schemasOf(contracts)}
	ad, err := h.Advertisement(uri)
	if err != nil {
		return nil, err
	}
	if in.Advertisement, err = strictjson.Marshal(ad); err != nil {
		return nil, err
	}
	members, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var params wire.Metadata
	return params, json.Unmarshal(members, &params)
}

// schemasOf are the schemas of what the contracts carry, nil if they are too
// large for a card.
func schemasOf(contracts []*guard.Contract) map[string]json.RawMessage {
	all, size := map[string]json.RawMessage{}, 0
	for _, c := range contracts {
		for _, s := range []*schema.Schema{c.Input, c.Progress, c.Bid, c.Item, c.Contribution, c.Result} {
			if s != nil {
				all[strings.TrimPrefix(s.ID(), "urn:schema:")] = s.JSON()
				size += len(s.JSON())
			}
		}
	}
	if size > maxSchemas {
		return nil
	}
	return all
}

// The media types of what contracts take and return.
const (
	jsonMode = "application/json"
	textMode = "text/plain"
)

// skillOf is a contract as a skill.
func skillOf(c *guard.Contract) wire.Skill {
	s := wire.Skill{ID: c.Name.String(), Name: strings.ReplaceAll(c.Name.Short(), "-", " "), Tags: []string{c.Protocol},
		InputModes: []string{jsonMode}, OutputModes: []string{jsonMode}}
	if c.Effects {
		s.Tags = append(s.Tags, "effects")
	}
	if s.ID == protocol.ChatName {
		s.Description = "Talks in free text: a text part is answered by one."
		s.Examples = []string{"Hello! What can you do for me?"}
		s.InputModes, s.OutputModes = []string{textMode}, []string{textMode}
		return s
	}
	s.Description = does(c) + " It takes a data part that fits the schema " + c.Name.Input()
	if c.Result != nil && len(c.Result.Properties()) > 0 {
		s.Description += ", and returns one of " + c.Name.Result()
	}
	s.Description += "."
	return s
}

// does says in a sentence what kind of contract it is.
func does(c *guard.Contract) string {
	switch c.Protocol {
	case protocol.QueryV1:
		return "Answers a question and changes nothing."
	case protocol.RequestV1:
		return "Does something, once for each idempotency key."
	case protocol.SubscribeV1:
		return "Tells item after item until it ends."
	case protocol.ContractNetV1:
		return "Makes a proposal, and does it if it gets the award."
	case protocol.GatherV1:
		return "Contributes to what several agents make together."
	case protocol.ProposeV1:
		return "Takes or leaves an offer."
	}
	return "Follows the protocol " + c.Protocol + "."
}

// summary is what an agent without a description is said to do.
func summary(name string, contracts []*guard.Contract) string {
	if len(contracts) == 0 {
		return "The agent " + name + "."
	}
	var names []string
	for _, c := range contracts {
		names = append(names, c.Name.String())
	}
	return "The agent " + name + ". It answers " + strings.Join(names, ", ") + "."
}

// union appends what the list does not have.
func union(list, more []string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
