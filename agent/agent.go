package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

// Agent is what an agent is: its name, what it answers and what its model may
// use. Make it with New and run it on a Host. It is immutable once its host
// has started.
type Agent struct {
	name   string
	host   *Host
	model  llm.Model
	offers map[string]*offer // by capability
	// contracts are those of the offers, by name.
	contracts []*guard.Contract
	tools     []*tool
	peers     []peer
	// addresses are where other agents are reached.
	addresses []address
	limits    Limits
	budget    Budget
	checks    map[string][]check // by capability
	layers    []Layer
	faults    []error
	advert    advertising

	// mayAskBack: the model may ask whoever asked it.
	mayAskBack bool

	instructions []func(context.Context) string
	offerWhen    []func(context.Context, string) bool
}

// Option configures an agent.
type Option interface{ apply(*Agent) }

type option func(*Agent)

func (o option) apply(a *Agent) { o(a) }

// New describes an agent. The name is the last part of its URI,
// "agent://<authority>/<name>"; the authority is its host's. A mistake in the
// options, such as a Go type that no schema can express, is reported when the
// host starts.
func New(name string, opts ...Option) *Agent {
	a := &Agent{name: name, offers: map[string]*offer{}}
	for _, o := range opts {
		o.apply(a)
	}
	for _, o := range a.offers {
		a.contracts = append(a.contracts, o.Contract)
	}
	slices.SortFunc(a.contracts, func(x, y *guard.Contract) int { return strings.Compare(x.Name.String(), y.Name.String()) })
	return a
}

// Model gives the agent its language model. A model that is an llm.Service is
// started and stopped by the host.
func Model(m llm.Model) Option { return option(func(a *Agent) { a.model = m }) }

// URI is the agent's name on the wire. It is "" before a host has the agent.
func (a *Agent) URI() string {
	if a.host == nil {
		return ""
	}
	return a.host.uri(a.name)
}

func (a *Agent) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Errorf("agent %s: "+format, append([]any{a.name}, args...)...))
}

// offer is a contract that an agent answers, with what it does in each phase.
type offer struct {
	*guard.Contract
	types   protocol.Types
	answers map[phase]answer
	// holds is how long a proposal stands after the deadline of its call.
	holds time.Duration
	// own: the runtime itself answers it, for every agent.
	own bool
}

// offering is the option that lets the agent answer a contract.
func offering(c Contract, answers map[phase]answer) Option {
	bound, err := guard.Bind(c) // once, however many agents are given the option
	return option(func(a *Agent) {
		if err != nil {
			a.fault("%w", err)
			return
		}
		capability := c.Name().Capability()
		if ownOffer(c.Name()) != nil {
			a.fault("contract %s is the runtime's own to answer", c.Name())
			return
		}
		if a.offers[capability] != nil {
			a.fault("contract %s is answered twice", c.Name())
			return
		}
		a.offers[capability] = &offer{Contract: bound, types: c.Types(), answers: answers, holds: holds}
		if c == Contract(protocol.Question) {
			answersFit(a)
		}
	})
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check reports what is wrong with the agent's description.
func (a *Agent) check() error {
	if _, err := envelope.ParseURI("agent://local/" + a.name); err != nil {
		a.fault("%w", err)
	}
	for _, o := range a.offers {
		for _, run := range o.answers {
			if _, byModel := run.(modelAnswer); byModel && a.model == nil {
				a.fault("contract %s is answered by the model, but the agent has none", o.Name)
				break
			}
		}
	}
	for capability, list := range a.checks {
		o := a.offers[capability]
		if o == nil {
			a.fault("a check is given for %s, which is not answered", capability)
			continue
		}
		for _, c := range list {
			if !slices.Contains([]reflect.Type{o.types.Result, o.types.Bid, o.types.Contribution, o.types.Item}, c.of) {
				a.fault("a check of %s is given for %s, which carries no such thing", c.of, capability)
			}
		}
	}
	names := map[string]bool{}
	for _, t := range a.tools {
		switch {
		case reserved(t.name):
			a.fault("tool name %q is reserved", t.name)
		case names[t.name]:
			a.fault("tool %q is given twice", t.name)
		}
		names[t.name] = true
	}
	for _, p := range a.peers {
		switch uri, err := a.host.resolve(p.name); {
		case err != nil:
			a.fault("%w", err)
		case uri == a.URI():
			a.fault("peer %s: %w", p.name, ErrSelf)
		}
	}
	a.checkAdvert()
	a.checkBudget()
	return errors.Join(a.faults...)
}

// lookup finds the offer for a capability: same path and major version,
// whatever the minor one.
func (a *Agent) lookup(capability string) *offer {
	if o := a.offers[capability]; o != nil {
		return o
	}
	name, ok := strings.CutPrefix(capability, "urn:cap:")
	if !ok {
		return nil
	}
	wanted, err := protocol.ParseName(name)
	if err != nil {
		return nil
	}
	if own := ownOffer(wanted); own != nil {
		return own
	}
	var best *offer
	for _, o := range a.offers {
		if o.Name.Path == wanted.Path && o.Name.Major == wanted.Major && (best == nil || o.Name.Minor > best.Name.Minor) {
			best = o
		}
	}
	return best
}

// find is the contract that the guard judges by.
func (a *Agent) find(capability string) *guard.Contract {
	if o := a.lookup(capability); o != nil {
		return o.Contract
	}
	return nil
}
