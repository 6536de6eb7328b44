package transcript

import (
	"math"
	"regexp"
	"slices"
)

// field is a member that an object must have. Its rule judges the value alone; nil leaves that to whoever knows what
// the value depends on.
type field struct {
	name string
	rule rule
}

// rule returns the code of what is wrong with a value, or an empty one.
type rule func(value any) Code

var (
	traceShape = []field{
		{"schemaVersion", text}, {"protocolId", text}, {"conversationId", text}, {"epoch", positive}, {"scope", text},
		{"observedAt", date}, {"limits", nil}, {"participants", nil}, {"gathers", nil}, {"messages", nil},
		{"terminal", nil}, {"truthEffect", nil}, {"authorityEffect", nil},
	}
	limitsShape      = []field{{"maxMessages", positive}, {"deadlineAt", date}}
	participantShape = []field{{"principalRef", text}, {"bodyGeneration", positive}, {"role", text}, {"audiences", someTexts}}
	gatherShape      = []field{
		{"gatherId", text}, {"membership", someTexts}, {"policy", nil}, {"quorum", nil}, {"inputKind", text},
		{"reducer", nil}, {"deadlineAt", date},
	}
	messageShape = []field{
		{"messageId", text}, {"protocolId", text}, {"conversationId", text}, {"epoch", positive},
		{"senderPrincipalRef", text}, {"senderBodyGeneration", positive}, {"audience", someTexts},
		{"audienceLabels", someTexts}, {"scope", text}, {"senderSequence", positive}, {"kind", text},
		{"correlationId", textOrNull}, {"causationId", textOrNull}, {"payloadType", text}, {"payloadDigest", digest},
		{"observedAt", date}, {"expiresAt", date}, {"verificationReceiptRef", text}, {"gatherId", textOrNull},
	}
	terminalShape = []field{
		{"state", nil}, {"fenceMessageId", textOrNull}, {"requiredAcknowledgements", texts},
		{"receivedAcknowledgements", texts}, {"stateDigest", digest}, {"unresolvedParticipants", texts},
	}
)

// object checks that a value is an object with just these fields, and each of them alone. It returns false if it is no
// object, of which nothing more can be said.
func (c *checker) object(value any, path string, shape []field) (object, bool) {
	members, ok := value.(map[string]any)
	if !ok {
		c.fault(CodeShape, path)
		return nil, false
	}
	o := object(members)
	for _, f := range shape {
		v, there := o[f.name]
		if !there {
			v = absent{}
			c.fault(CodeRequired, path+"."+f.name)
		}
		if f.rule == nil {
			continue
		}
		if code := f.rule(v); code != "" {
			c.fault(code, path+"."+f.name)
		}
	}
	for name := range o {
		if !slices.ContainsFunc(shape, func(f field) bool { return f.name == name }) {
			c.fault(CodeUnknownField, path+"."+name)
		}
	}
	return o, true
}

func text(value any) Code {
	if s, ok := value.(string); !ok || s == "" {
		return CodeType
	}
	return ""
}

func textOrNull(value any) Code {
	if value == nil {
		return ""
	}
	return text(value)
}

func positive(value any) Code {
	if !isPositive(value) {
		return CodeType
	}
	return ""
}

func texts(value any) Code {
	list, ok := value.([]any)
	if !ok || slices.ContainsFunc(list, func(v any) bool { return text(v) != "" }) {
		return CodeType
	}
	if len(newSet(list...)) < len(list) {
		return CodeDuplicate
	}
	return ""
}

func someTexts(value any) Code {
	if list, ok := value.([]any); ok && len(list) == 0 {
		return CodeType
	}
	return texts(value)
}

func date(value any) Code {
	if code := text(value); code != "" {
		return code
	}
	if math.IsNaN(millis(value)) {
		return CodeDate
	}
	return ""
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func digest(value any) Code {
	if s, ok := value.(string); !ok || !digestPattern.MatchString(s) {
		return CodeDigest
	}
	return ""
}
