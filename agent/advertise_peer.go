package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// ErrUnadvertised: the peer can be reached, but says nothing about itself.
var ErrUnadvertised = errors.New("the agent advertises nothing")

// advertised is what one of the host's agents says to the host at the other
// end of a link. An agent that answers nothing says nothing.
func (h *Host) advertised(uri string) (protocol.Advertisement, bool) {
	a := h.agents[uri]
	if a == nil || len(a.offers) == 0 {
		return protocol.Advertisement{}, false
	}
	return a.advertisement(), true
}

// advertisement is what an agent says about itself over the link to it.
func (d *directory) advertisement(uri string) (protocol.Advertisement, error) {
	d.mu.RLock()
	l, ok := d.links[uri]
	d.mu.RUnlock()
	if !ok {
		return protocol.Advertisement{}, ErrUnknownPeer
	}
	if l.advertised == nil {
		return protocol.Advertisement{}, ErrUnadvertised
	}
	ad, ok := l.advertised(uri)
	if !ok {
		return protocol.Advertisement{}, ErrUnadvertised
	}
	return ad, nil
}

// peerAdvertisement is what an agent says about itself, here or elsewhere.
func (h *Host) peerAdvertisement(uri string) (protocol.Advertisement, error) {
	if ad, ok := h.advertised(uri); ok {
		return ad, nil
	}
	return h.dir.advertisement(uri)
}

// Common picks the one of several versions of a contract to use with a peer:
// the highest of those that it advertises, by the rule of
// protocol.HighestCommon. All must be of one path. What comes back is one of
// the arguments, so a program compares it with those that it was given:
//
//	c, err := agent.Common(planner, "flights", bookV1, bookV2)
//	if err == nil && c.Name() == bookV2.Name() { … }
//
// It returns at once. The error is a *protocol.NoCommonVersionError,
// ErrUnknownPeer when no link leads to the peer, or ErrUnadvertised when the
// peer says nothing about itself. The answer may change when the peer is
// upgraded: inside a handler, keep the choice with Once, so that a second run
// asks for the same.
func Common(from *Agent, to string, versions ...Contract) (Contract, error) {
	h := from.host
	if h == nil {
		return nil, fmt.Errorf("agent %s: %w", from.name, ErrStopped)
	}
	uri, err := h.resolve(to)
	if err != nil {
		return nil, err
	}
	ad, err := h.peerAdvertisement(uri)
	if err != nil {
		return nil, fmt.Errorf("picking a version for %s: %w", uri, err)
	}
	ours := make([]version, len(versions))
	for i, c := range versions {
		ours[i] = version{c.Name(), c.Protocol()}
	}
	name, err := highest(ours, ad.Contracts, h.seam.now())
	if err != nil {
		return nil, fmt.Errorf("picking a version for %s: %w", uri, err)
	}
	return versions[slices.IndexFunc(ours, func(v version) bool { return v.name == name })], nil
}

// version is one of several versions of a contract.
type version struct {
	name     protocol.Name
	protocol string
}

// highest is the highest common version, where one that the peer answers under
// another protocol is none.
func highest(ours []version, theirs []protocol.Advertised, now time.Time) (protocol.Name, error) {
	names := make([]protocol.Name, len(ours))
	for i, v := range ours {
		names[i] = v.name
	}
	alike := func(row protocol.Advertised) bool {
		n, err := row.Name()
		return err == nil && !slices.ContainsFunc(ours, func(v version) bool {
			return v.name.Path == n.Path && v.name.Major == n.Major && v.protocol != row.Protocol
		})
	}
	var rows []protocol.Advertised
	for _, row := range theirs {
		if alike(row) {
			rows = append(rows, row)
		}
	}
	return protocol.HighestCommon(names, rows, now)
}

// negotiated are the contracts of a peer that a model may be offered now: of
// each contract the highest common version, and none if there is none. As long
// as nothing is known of the peer, the highest that is known here stands for
// it, and asking will tell.
func (a *Agent) negotiated(p peer) []*guard.Contract {
	var theirs []protocol.Advertised
	uri, err := a.host.resolve(p.name)
	if err == nil {
		var ad protocol.Advertisement
		ad, err = a.host.peerAdvertisement(uri)
		theirs = ad.Contracts
	}
	var list []*guard.Contract
	for _, c := range p.contracts {
		if slices.ContainsFunc(list, func(known *guard.Contract) bool { return known.Name.Path == c.Name.Path }) {
			continue
		}
		if best := bestOf(p.contracts, c.Name.Path, theirs, err == nil, a.host.seam.now()); best != nil {
			list = append(list, best)
		}
	}
	return list
}

// bestOf is the version of the contract at the path to use with a peer.
func bestOf(all []*guard.Contract, path string, theirs []protocol.Advertised, known bool, now time.Time) *guard.Contract {
	var ours []version
	var best *guard.Contract
	for _, c := range all {
		if c.Name.Path != path {
			continue
		}
		ours = append(ours, version{c.Name, c.Protocol})
		if best == nil || c.Name.Major > best.Name.Major || c.Name.Major == best.Name.Major && c.Name.Minor > best.Name.Minor {
			best = c
		}
	}
	if !known {
		return best
	}
	name, err := highest(ours, theirs, now)
	if err != nil {
		return nil
	}
	return all[slices.IndexFunc(all, func(c *guard.Contract) bool { return c.Name == name })]
}

// speaks reports whether the contract is the version to use with the peer now.
func (a *Agent) speaks(name string, c *guard.Contract) bool {
	for _, p := range a.peers {
		if p.name == name && slices.Contains(a.negotiated(p), c) {
			return true
		}
	}
	return false
}

// noteDeprecated tells the operator that an exchange was opened under a
// contract whose end its peer has announced.
func (h *Host) noteDeprecated(ctx context.Context, k store.Key, c *guard.Contract) {
	ad, err := h.peerAdvertisement(k.Peer)
	if err != nil {
		return
	}
	row, ok := ad.Find(c.Name)
	if !ok || !row.Deprecated() {
		return
	}
	h.counts.add("deprecated")
	h.report(ctx, ContractDeprecated, k, nil, slog.String("contract", c.Name.String()), slog.Time("sunset", row.Sunset), slog.String("replaced_by", row.ReplacedBy))
}
