package a2a

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
)

// wanted is what a message of a client that does not know Parley asks for.
type wanted struct {
	contract *guard.Contract
	content  []byte
}

var errFile = wire.Errorf(wire.ContentTypeNotSupported, "files are not taken here, only text and data")

// choose finds the contract that a message is for: its text opens a chat, its
// data goes to the one contract whose schema accepts it. Files and links are not
// fetched, stored or passed on.
func (s *service) choose(m *wire.Message) (wanted, error) {
	contracts := s.host.Contracts(s.uri)
	if s.read != nil {
		if name, content, ok := s.read(s.uri, m); ok {
			return named(open(contracts), name, content)
		}
	}
	var data []json.RawMessage
	var text []string
	for _, p := range m.Parts {
		switch {
		case p.Data != nil:
			data = append(data, p.Data)
		case p.Text != nil:
			text = append(text, *p.Text)
		default:
			return wanted{}, errFile
		}
	}
	switch {
	case len(data) > 1:
		return wanted{}, invalid("message.parts", "must have at most one data part")
	case len(data) == 1:
		return accepting(open(contracts), data[0])
	}
	return talking(contracts, strings.Join(text, "\n"))
}

// named is the contract of that name, which takes the content.
func named(contracts []*guard.Contract, name string, content json.RawMessage) (wanted, error) {
	i := slices.IndexFunc(contracts, func(c *guard.Contract) bool { return c.Name.String() == name })
	if i < 0 {
		return wanted{}, fmt.Errorf("a message was read as %q, which is no contract that a client can open", name)
	}
	if err := contracts[i].Input.Validate(content); err != nil {
		return wanted{}, fmt.Errorf("a message was read as %s, which does not take it: %w", name, err)
	}
	return wanted{contracts[i], content}, nil
}

// open are the contracts that a client can use without knowing Parley.
func open(contracts []*guard.Contract) []*guard.Contract {
	var list []*guard.Contract
	for _, c := range contracts {
		if offered(c) {
			list = append(list, c)
		}
	}
	return list
}

// offered reports whether a client that does not know Parley can ask for it: it
// can neither award a bid nor answer a fence, and only who was asked answers a
// question.
func offered(c *guard.Contract) bool {
	known := c.Protocol == protocol.RequestV1 || c.Protocol == protocol.QueryV1 || c.Protocol == protocol.SubscribeV1
	return known && c.Name != protocol.Question.Name()
}

// accepting is the one contract whose schema accepts the data.
func accepting(contracts []*guard.Contract, data json.RawMessage) (wanted, error) {
	var fit []*guard.Contract
	for _, c := range contracts {
		err := c.Input.Validate(data)
		if _, unreadable := errors.AsType[*strictjson.Error](err); unreadable { // by any of them
			return wanted{}, unkept("message.parts.data", err)
		}
		if err == nil {
			fit = append(fit, c)
		}
	}
	switch len(fit) {
	case 1:
		return wanted{fit[0], data}, nil
	case 0:
		return wanted{}, invalid("message.parts", "the data fits none of the agent's skills: "+names(contracts))
	}
	return wanted{}, invalid("message.parts", "the data fits several of the agent's skills: "+names(fit))
}

// talking is the chat that a text opens.
func talking(contracts []*guard.Contract, text string) (wanted, error) {
	i := slices.IndexFunc(contracts, func(c *guard.Contract) bool { return c.Name.String() == protocol.ChatName })
	if i < 0 {
		return wanted{}, wire.Errorf(wire.ContentTypeNotSupported, "the agent does not talk; it takes a data part for one of its skills: %s", names(open(contracts)))
	}
	content, err := schema.Encode(contracts[i].Input, protocol.Said{Text: protocol.Text(text)})
	if err != nil {
		return wanted{}, invalid("message.parts", "the text must have at most 65536 bytes, without control characters")
	}
	return wanted{contracts[i], content}, nil
}

func names(contracts []*guard.Contract) string {
	list := make([]string, len(contracts))
	for i, c := range contracts {
		list[i] = c.Name.String()
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
