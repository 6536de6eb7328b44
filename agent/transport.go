package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/protocol"
)

// Latency is the class of delay that a transport adds.
type Latency string

// The classes of latency.
const (
	InProcess Latency = "in-process"
	Network   Latency = "network"
	Polled    Latency = "polled"
)

// Capabilities are what a transport says about itself.
type Capabilities struct {
	Latency Latency
	// SurvivesCrash: a message that the transport took is not lost when the
	// receiver dies.
	SurvivesCrash bool
	// SenderLearns: the sender is told that the receiver has the message.
	SenderLearns bool
}

// Transport carries envelopes to the agents of one place.
type Transport interface {
	// Send hands over the bytes of one envelope and returns the envelopes that
	// came back with it: receipts, and on a duplicate the stored acts. An error
	// means that nothing is known about whether the message arrived; the host
	// sends it again later. It returns when the carrier has answered or ctx
	// ends, and may be called at once by several goroutines.
	Send(ctx context.Context, envelope []byte) (replies [][]byte, err error)
	Capabilities() Capabilities
}

// LaterError is what a transport's Send gives when it knows that sending again
// does not help before some time has passed, as a server says that is overloaded.
type LaterError struct {
	// After is how long that is.
	After time.Duration
	// Err is why.
	Err error
}

func (e *LaterError) Error() string { return fmt.Sprintf("%v (again after %s)", e.Err, e.After) }

// Unwrap returns why.
func (e *LaterError) Unwrap() error { return e.Err }

// Link is a place where other agents can be reached.
type Link struct {
	transport Transport
	// agents are the URIs of those who can be reached there, key is the key
	// of one of them, nil as long as it is not known.
	agents []string
	key    func(uri string) ed25519.PublicKey
	// vouches: what the transport brings is from whom it names.
	vouches bool
	// collect fetches what the agents say, nil if they send by themselves.
	collect func(ctx context.Context, h *Host)
	// advertised is what one of them says about itself, nil if nobody knows.
	advertised func(uri string) (protocol.Advertisement, bool)
}

// PeerHost is the link to another host of this process.
func PeerHost(h *Host) Link {
	return Link{transport: inProcess{h}, agents: h.owners, key: h.publicKey, advertised: h.advertised}
}

// PeerAt is the link to agents that a transport leads to, such as those of
// another process. The keys are their public ones by URI, as whoever runs both
// sides knows them: what is not signed with an agent's key is not from it, and an
// agent that is not among them is not reached here. They say nothing about
// themselves, as after Silent.
func PeerAt(t Transport, keys map[string]ed25519.PublicKey) Link {
	keys = maps.Clone(keys)
	return Link{transport: t, agents: slices.Sorted(maps.Keys(keys)), key: func(uri string) ed25519.PublicKey { return keys[uri] }}
}

// Remote describes agents of another place, for a transport that knows more
// about them than PeerAt can be told.
type Remote struct {
	Transport Transport
	// Agents are the URIs of those who are reached there.
	Agents []string
	// Key is the public key of one of them, nil as long as it is not known; the
	// function may be nil if the transport vouches.
	Key func(uri string) ed25519.PublicKey
	// Advertised is what one of them says about itself. The function may be nil.
	Advertised func(uri string) (protocol.Advertisement, bool)
	// Vouches: the transport itself proves that what it brings is the agents', so
	// that replies need no token.
	Vouches bool
	// Collect fetches what the agents say, and gives it to Host.Take, until ctx
	// ends. It is called once for each host that the link is connected to, while
	// that runs. It is nil if they send by themselves.
	Collect func(ctx context.Context, h *Host)
}

// Link is the link to the agents, for Host.Connect.
func (r Remote) Link() Link {
	return Link{transport: r.Transport, agents: slices.Sorted(slices.Values(r.Agents)), key: r.Key, advertised: r.Advertised,
		vouches: r.Vouches, collect: r.Collect}
}

// Through puts a transport around the link's own, to watch it or to make it
// fail.
func (l Link) Through(wrap func(Transport) Transport) Link {
	l.transport = wrap(l.transport)
	return l
}

// Silent is the link to agents that say nothing about themselves, as those of
// a place that does not advertise: they are asked in our own highest versions.
func (l Link) Silent() Link {
	l.advertised = nil
	return l
}

// Introduce connects hosts of this process with each other, in both
// directions.
func Introduce(hosts ...*Host) {
	for _, a := range hosts {
		for _, b := range hosts {
			if a != b {
				a.Connect(PeerHost(b))
			}
		}
	}
}

// inProcess is the transport to a host of this process.
type inProcess struct{ host *Host }

func (t inProcess) Send(ctx context.Context, envelope []byte) ([][]byte, error) {
	return t.host.Deliver(ctx, envelope)
}

func (t inProcess) Capabilities() Capabilities {
	return Capabilities{Latency: InProcess, SurvivesCrash: false, SenderLearns: true}
}

// errUnreachable is what a send to an agent that no link knows gives.
var errUnreachable = errors.New("no link leads to the receiver")
