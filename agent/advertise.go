package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// advertising is what an agent says about itself beyond the contracts that it
// answers, and the places that it has for them.
type advertising struct {
	capacity int
	slas     map[string]protocol.SLA // by capability
	ends     map[string]ending       // by capability
	places   places
}

// ending is the planned end of a contract.
type ending struct {
	sunset time.Time
	// replacedBy is the capability to use instead, "" if there is none.
	replacedBy string
}

// Capacity bounds how many exchanges the agent works on at once. It is
// advertised, and an opening act that finds all places taken is answered with
// nack(capacity, overloaded), which leaves no trace here: its sender tries
// again until its deadline. What was accepted goes on, whatever came in
// between: an award, a fence or a cancel needs no free place, and neither does
// the work that a host takes over when it starts. Default: no bound, and none
// advertised.
func Capacity(n int) Option {
	return option(func(a *Agent) {
		if n < 1 {
			a.fault("capacity %d is not positive", n)
			return
		}
		a.advert.capacity = n
	})
}

// SLA advertises how long the answers of a contract take: half of them at most
// typical, and all of them at most longest while the agent is not overloaded.
// Both are rounded up to whole milliseconds. They are hints for whoever asks;
// nothing here is measured or enforced. One for a contract that the agent does
// not answer is reported when its host starts.
func SLA(c Contract, typical, longest time.Duration) Option {
	return option(func(a *Agent) {
		if typical <= 0 || longest < typical {
			a.fault("contract %s: answers within %s, at most %s: want more than nothing, and no less at most", c.Name(), typical, longest)
			return
		}
		if a.advert.slas == nil {
			a.advert.slas = map[string]protocol.SLA{}
		}
		a.advert.slas[c.Name().Capability()] = protocol.SLA{
			TypicalMS: int64(schema.InMilliseconds(typical)), MaxMS: int64(schema.InMilliseconds(longest))}
	})
}

// Deprecate plans the end of a contract: from sunset on a new exchange of it
// is answered with not-understood(validation, unsupported-version), while
// those under way end as they would. Until then it is answered and advertised
// as deprecated; replacedBy is the name of the contract to use instead, such as
// "acme.flight.book/v2", "" if there is none. A minor version does not end
// alone, since the newer one reads what the older one wrote: a different end
// for another minor version of the same major is reported when the host
// starts, as is the end of a contract that the agent does not answer.
func Deprecate(c Contract, sunset time.Time, replacedBy string) Option {
	return option(func(a *Agent) {
		end := ending{sunset: sunset.UTC()}
		if replacedBy != "" {
			n, err := protocol.ParseName(replacedBy)
			if err != nil {
				a.fault("contract %s: what replaces it: %w", c.Name(), err)
				return
			}
			end.replacedBy = n.Capability()
		}
		if sunset.IsZero() {
			a.fault("contract %s is deprecated without a sunset", c.Name())
			return
		}
		if a.advert.ends == nil {
			a.advert.ends = map[string]ending{}
		}
		a.advert.ends[c.Name().Capability()] = end
	})
}

// checkAdvert reports what is wrong with what the agent says about itself.
func (a *Agent) checkAdvert() {
	for _, capability := range slices.Sorted(maps.Keys(a.advert.slas)) {
		if a.offers[capability] == nil {
			a.fault("an SLA is given for %s, which is not answered", capability)
		}
	}
	for _, capability := range slices.Sorted(maps.Keys(a.advert.ends)) {
		ends := a.offers[capability]
		if ends == nil {
			a.fault("an end is planned for %s, which is not answered", capability)
			continue
		}
		for other, o := range a.offers {
			if o.Name.Path == ends.Name.Path && o.Name.Major == ends.Name.Major && !a.advert.ends[other].sunset.Equal(a.advert.ends[capability].sunset) {
				a.fault("contract %s ends without %s", ends.Name, o.Name)
			}
		}
	}
	if err := a.advertisement().Check(); err != nil {
		a.fault("%w", err)
	}
}

// Advertisement is what one of the host's agents says about itself: the
// contracts that it answers, in the order of their names, with their versions,
// how much it takes at once, how long answers take and what is about to end.
// The agent is named by its bare name or its URI; one that is not of this host
// gives ErrUnknownPeer. It never changes while the host runs.
func (h *Host) Advertisement(agent string) (protocol.Advertisement, error) {
	uri, err := h.resolve(agent)
	if err != nil {
		return protocol.Advertisement{}, err
	}
	a := h.agents[uri]
	if a == nil {
		return protocol.Advertisement{}, fmt.Errorf("advertising %s: %w", uri, ErrUnknownPeer)
	}
	return a.advertisement(), nil
}

func (a *Agent) advertisement() protocol.Advertisement {
	ad := protocol.Advertisement{Agent: a.URI(), Capacity: int64(a.advert.capacity), Envelopes: []string{envelope.Version}}
	for _, p := range protocol.All() {
		ad.Protocols = append(ad.Protocols, p.Name)
	}
	for _, capability := range slices.Sorted(maps.Keys(a.offers)) {
		o, end := a.offers[capability], a.advert.ends[capability]
		row := protocol.Advertised{Capability: capability, Protocol: o.Protocol, Effects: o.Effects, Schemas: schemaNames(o.Contract),
			Sunset: end.sunset, ReplacedBy: end.replacedBy}
		if sla, ok := a.advert.slas[capability]; ok {
			row.SLA = &sla
		}
		ad.Contracts = append(ad.Contracts, row)
	}
	return ad
}

// schemaNames are the names of the schemas of a contract's content, its
// input's first.
func schemaNames(c *guard.Contract) []string {
	var names []string
	for _, s := range []*schema.Schema{c.Input, c.Progress, c.Bid, c.Item, c.Contribution, c.Result} {
		if s != nil {
			names = append(names, strings.TrimPrefix(s.ID(), "urn:schema:"))
		}
	}
	return names
}

// retired reports whether the contract has come to its end: what is under way
// goes on, nothing new begins.
func (a *Agent) retired(c *guard.Contract, now time.Time) bool {
	if c == nil || len(a.advert.ends) == 0 {
		return false
	}
	end, planned := a.advert.ends[c.Name.Capability()]
	return planned && !now.Before(end.sunset)
}
