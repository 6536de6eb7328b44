package guard

import (
	"errors"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// content checks the content of an act against the one schema that its
// performative and contract call for.
func content(v View, e *envelope.Envelope) *Violation {
	if e.ReceiptKind() != "" {
		return nil
	}
	bad := contentFault(v, e)
	if bad == nil {
		return nil
	}
	switch {
	case bad.Answer == Again:
	case v.Exchange == nil && (e.Act() == envelope.Cancel || fences(e)):
		bad.Answer = Deny
	case v.Exchange == nil || v.Exchange.State == protocol.Start:
		bad.Answer = Misread
	case terminal(v.Exchange, e):
		bad.Answer = Void
	default:
		bad.Answer = Reject
	}
	return bad
}

func contentFault(v View, e *envelope.Envelope) *Violation {
	switch {
	case e.Act() == envelope.Agree:
		return empty(e, protocol.AgreeSchema)
	case e.Act() == envelope.Refuse:
		return empty(e, protocol.RefusalSchema)
	case e.Act() == envelope.Failure:
		return empty(e, protocol.FailureSchema)
	case e.Act() == envelope.Cancel, e.Act() == envelope.Inform && e.Status() == envelope.Cancelled:
		return empty(e, protocol.CancelSchema)
	case e.Fences():
		return match(e, fenceNote().own, fenceNote().newer, protocol.FenceSchema)
	}
	capability := e.Capability()
	if v.Exchange != nil && v.Exchange.Capability != "" {
		capability = v.Exchange.Capability
	}
	c := v.Contract(capability)
	if c == nil && v.Exchange != nil && v.Exchange.Role == protocol.Initiator {
		// Whoever asked has not asked again since the restart: until it does,
		// nobody here knows what the answer must look like.
		return &Violation{Rule: "contract", Answer: Again, Code: envelope.CodeTransient, Reason: ReasonOverloaded, RetryAfter: GapRetry}
	}
	if c == nil {
		return &Violation{Rule: "contract", Code: envelope.CodeValidation, Reason: ReasonUnsupportedVersion,
			Pointer: "/capability", Want: "a contract of this agent", Got: capability}
	}
	if e.Protocol() != c.Protocol {
		return &Violation{Rule: "contract", Code: envelope.CodeValidation, Reason: ReasonUnsupportedProtocol,
			Pointer: "/protocol", Want: c.Protocol, Got: e.Protocol()}
	}
	name, s := c.Carries(protocol.Utterance{Performative: e.Act(), Status: e.Status()})
	if s == nil {
		return &Violation{Rule: "content", Code: envelope.CodeValidation, Reason: ReasonSchema, Pointer: "/status",
			Want: "an act that the contract has", Got: string(e.Status())}
	}
	return match(e, s, c.Read(s), name)
}

// empty checks an act that says nothing beyond itself.
func empty(e *envelope.Envelope, want string) *Violation {
	if got := e.Schema(); got != want {
		return &Violation{Rule: "content", Code: envelope.CodeValidation, Reason: ReasonSchema, Pointer: "/schema", Want: want, Got: got}
	}
	if string(e.Content()) != "{}" {
		return &Violation{Rule: "content", Code: envelope.CodeValidation, Reason: ReasonSchema, Pointer: "/content", Want: "{}"}
	}
	return nil
}

// match checks the content against the schema s called name. A sender with a
// newer minor version may add members, which are then ignored.
func match(e *envelope.Envelope, s, lenient *schema.Schema, name string) *Violation {
	got := e.Schema()
	newer, ok := compatible(got, name)
	if !ok {
		return &Violation{Rule: "content", Code: envelope.CodeValidation, Reason: ReasonUnsupportedVersion, Pointer: "/schema", Want: name, Got: got}
	}
	if newer {
		s = lenient
	}
	err := s.Validate(e.Content())
	if err == nil {
		return nil
	}
	bad := &Violation{Rule: "content", Code: envelope.CodeValidation, Reason: ReasonSchema, Pointer: "/content", Err: err}
	if invalid, ok := errors.AsType[*schema.Invalid](err); ok && len(invalid.Violations) > 0 {
		first := invalid.Violations[0]
		bad.Pointer, bad.Want, bad.Got = "/content"+first.Pointer, first.Want, first.Got
	}
	return bad
}

// compatible reports whether content of schema got can be read as schema ours:
// same path and major version; newer says that its minor version is higher.
func compatible(got, ours string) (newer, ok bool) {
	gotPath, gotMajor, gotMinor := version(got)
	path, major, minor := version(ours)
	return gotMinor > minor, gotPath == path && gotMajor == major
}

// version splits a schema name into its path and the two numbers of its version;
// without the minor one it is 0. The shape of an envelope bounds both numbers to
// six digits.
func version(schema string) (path, major string, minor int) {
	path, number, _ := strings.Cut(schema, "/v")
	major, m, ok := strings.Cut(number, ".")
	if ok {
		minor, _ = strconv.Atoi(m)
	}
	return path, major, minor
}

// terminal reports whether the act would end the exchange.
func terminal(x *protocol.Exchange, e *envelope.Envelope) bool {
	p, err := protocol.Lookup(x.Protocol)
	if err != nil {
		return false
	}
	to, ok := p.Table(x.Role).Next(x.State, protocol.Receiving(e))
	return ok && to.Done()
}
