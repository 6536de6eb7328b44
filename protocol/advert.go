package protocol

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// AdvertiseSchema is the name of the schema of an advertisement.
const AdvertiseSchema = "parley.advertise/v1"

// Advertisement is what an agent says about itself: what it can be asked for,
// in which versions and until when, and how much it takes at once. It is a
// claim of the agent about itself and nothing more: whether a peer does what
// it advertises shows when it is asked.
type Advertisement struct {
	// Agent is the URI of whoever it is about.
	Agent string `json:"agent" jsonschema:"pattern=^agent://[a-z0-9.-]+/[a-z0-9.-]+$,maxLength=136"`
	// Contracts are those that it answers.
	Contracts []Advertised `json:"contracts,omitempty" jsonschema:"maxItems=256"`
	// Capacity is how many exchanges it works on at once, 0 if it does not
	// say. What is beyond is answered with a nack that says when to try again.
	Capacity int64 `json:"capacity,omitempty" jsonschema:"minimum=1"`
	// Envelopes are the versions of the envelope that it reads.
	Envelopes []string `json:"envelopes,omitempty" jsonschema:"maxItems=16,pattern=^[1-9][0-9]*[.][0-9]+$,maxLength=16"`
	// Protocols are the interaction protocols that it follows.
	Protocols []string `json:"protocols,omitempty" jsonschema:"maxItems=64,pattern=^[a-z0-9-]+/v[1-9][0-9]*$,maxLength=72"`
	// Extensions are the members beyond the closed set of the envelope that it
	// acts on.
	Extensions []Extension `json:"extensions,omitempty" jsonschema:"maxItems=64"`
}

// Extension is an extension of the envelope that an agent acts on.
type Extension struct {
	URI string `json:"uri" jsonschema:"format=uri,maxLength=256"`
	// Experimental says that it may change or go without notice.
	Experimental bool `json:"experimental,omitempty"`
}

// Advertised is one contract of an advertisement. Its minor version says which
// optional members the agent knows: a minor version only adds.
type Advertised struct {
	// Capability is "urn:cap:" and the name of the contract.
	Capability string `json:"capability" jsonschema:"pattern=^urn:cap:[a-z0-9-]+([.][a-z0-9-]+)+/v[1-9][0-9]*([.][0-9]+)?$,maxLength=256"`
	// Protocol is the protocol that its exchanges follow.
	Protocol string `json:"protocol" jsonschema:"pattern=^[a-z0-9-]+/v[1-9][0-9]*$,maxLength=72"`
	// Effects says that it has effects and takes an idempotency key.
	Effects bool `json:"effects"`
	// Schemas are the names of the schemas of its content, its input's first.
	Schemas []string `json:"schemas,omitempty" jsonschema:"maxItems=16,pattern=^[a-z0-9-]+([.][a-z0-9-]+)+/v[1-9][0-9]*([.][0-9]+)?$,maxLength=256"`
	// SLA is how long an answer takes, nil if the agent does not say.
	SLA *SLA `json:"sla,omitempty"`
	// Sunset is from when on it is no longer answered, zero if no end is
	// planned. A contract with a sunset is deprecated, also before it.
	Sunset time.Time `json:"sunset,omitzero"`
	// ReplacedBy is the capability to use instead, "" if there is none.
	ReplacedBy string `json:"replaced_by,omitempty" jsonschema:"pattern=^urn:cap:[a-z0-9-]+([.][a-z0-9-]+)+/v[1-9][0-9]*([.][0-9]+)?$,maxLength=256"`
}

// SLA is how long the answers of a contract take, as a hint: what bounds an
// exchange is its reply_by.
type SLA struct {
	// TypicalMS is how many milliseconds half of them take at most.
	TypicalMS int64 `json:"typical_ms" jsonschema:"minimum=1"`
	// MaxMS is how many milliseconds an answer takes at most while the agent
	// is not overloaded.
	MaxMS int64 `json:"max_ms" jsonschema:"minimum=1"`
}

// Name is the name of the contract.
func (a Advertised) Name() (Name, error) {
	name, ok := strings.CutPrefix(a.Capability, "urn:cap:")
	if !ok {
		return Name{}, fmt.Errorf("capability %q is not urn:cap: and the name of a contract", a.Capability)
	}
	return ParseName(name)
}

// Deprecated reports whether the end of the contract is planned.
func (a Advertised) Deprecated() bool { return !a.Sunset.IsZero() }

// Ended reports whether the contract is no longer answered.
func (a Advertised) Ended(now time.Time) bool { return a.Deprecated() && !now.Before(a.Sunset) }

// Find returns the row of a contract: that of the same name, else the newest
// of its major version.
func (a Advertisement) Find(n Name) (Advertised, bool) {
	best, minor, found := Advertised{}, 0, false
	for _, row := range a.Contracts {
		name, err := row.Name()
		if err != nil || name.Path != n.Path || name.Major != n.Major {
			continue
		}
		if name == n {
			return row, true
		}
		if !found || name.Minor > minor {
			best, minor, found = row, name.Minor, true
		}
	}
	return best, found
}

// AdvertisementError says what is wrong with an advertisement.
type AdvertisementError struct {
	Agent string
	// Pointer is the RFC 6901 pointer to the fault, Want what belongs there.
	Pointer, Want string
	// Got is what is there instead.
	Got string
}

func (e *AdvertisementError) Error() string {
	return fmt.Sprintf("advertisement of %q: %s must be %s, not %q", e.Agent, e.Pointer, e.Want, e.Got)
}

// Check finds what the schema cannot say: that names are well formed to the
// letter, that no contract is there twice, and that what belongs together
// agrees. The error is an *AdvertisementError.
func (a Advertisement) Check() error {
	if _, err := envelope.ParseURI(a.Agent); err != nil {
		return &AdvertisementError{a.Agent, "/agent", "an agent URI", a.Agent}
	}
	var seen []string
	for i, row := range a.Contracts {
		if pointer, want, got := row.fault(); want != "" {
			return &AdvertisementError{a.Agent, fmt.Sprintf("/contracts/%d%s", i, pointer), want, got}
		}
		if slices.Contains(seen, row.Capability) {
			return &AdvertisementError{a.Agent, fmt.Sprintf("/contracts/%d/capability", i), "a contract that is not listed before", row.Capability}
		}
		seen = append(seen, row.Capability)
	}
	return nil
}

// fault finds the first fault of a row; want is "" if there is none.
func (a Advertised) fault() (pointer, want, got string) {
	if n, err := a.Name(); err != nil || n.Capability() != a.Capability {
		return "/capability", "the capability of a contract", a.Capability
	}
	if a.SLA != nil && a.SLA.MaxMS < a.SLA.TypicalMS {
		return "/sla/max_ms", fmt.Sprintf("at least typical_ms, %d", a.SLA.TypicalMS), fmt.Sprint(a.SLA.MaxMS)
	}
	if a.ReplacedBy == "" {
		return "", "", ""
	}
	if n, err := (Advertised{Capability: a.ReplacedBy}).Name(); err != nil || n.Capability() != a.ReplacedBy || a.ReplacedBy == a.Capability {
		return "/replaced_by", "the capability of another contract", a.ReplacedBy
	}
	if !a.Deprecated() {
		return "/sunset", "a time, since the contract is replaced", ""
	}
	return "", "", ""
}
