package a2a

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// service is one agent's side of the protocol: its tasks are what it has in its
// log, and it keeps nothing of its own about them.
type service struct {
	*pushes
	host *agent.Host
	uri  string
	// read and show are Config.Read and Config.Show, nil if there are none.
	read func(agent string, m *wire.Message) (contract string, content json.RawMessage, ok bool)
	show func(contract string, content json.RawMessage) []wire.Part
	// log is Config.Log.
	log *slog.Logger
	// direct is Config.Direct, nil if there is none.
	direct func(contract string) bool
	// noStreams is Config.NoStreams.
	noStreams bool
	// down is closed when the host stops, closed when the server is; nil without
	// one.
	down, closed <-chan struct{}
	locks        locks
}

func newService(host *agent.Host, uri string) *service {
	down := make(chan struct{})
	host.Run(func(ctx context.Context) {
		<-ctx.Done()
		close(down)
	})
	return &service{host: host, uri: uri, down: down, log: slog.New(slog.DiscardHandler)}
}

// GetExtendedAgentCard implements wire.Service. The server, which makes the
// cards, answers it itself.
func (s *service) GetExtendedAgentCard(context.Context, wire.Call, *wire.ExtendedCardRequest) (*wire.AgentCard, error) {
	return nil, wire.Errorf(wire.ExtendedCardNotConfigured, "the agent has no extended card")
}

// caller is the agent that a call is from.
func (s *service) caller(ctx context.Context, c wire.Call) (string, error) {
	if c.Token == "" {
		return c.Caller, nil
	}
	peer, err := s.host.Identify(ctx, c.Token, s.uri, c.Loopback)
	if err != nil || isGiven(peer, s.uri) {
		return "", errNoProof
	}
	return peer, nil
}

// errNoProof: why a token proves nothing is not for whoever tries.
var errNoProof = wire.Errorf(wire.Unauthenticated, "the token proves nothing to this agent")

// find is the exchange that a task is. A task of somebody else is not found.
func (s *service) find(ctx context.Context, c wire.Call, task string) (store.Exchange, error) {
	peer, err := s.caller(ctx, c)
	if err != nil {
		return store.Exchange{}, err
	}
	list, err := s.host.Store().Tasks(ctx, s.uri, task)
	if err != nil {
		return store.Exchange{}, err
	}
	return taskIn(list, peer, task)
}

// taskIn is the exchange that a task is to a peer, of those under the task:
// peers that call their conversations the same have each their own.
func taskIn(list []store.Exchange, peer, task string) (store.Exchange, error) {
	for _, x := range list {
		if x.Peer == peer && isTask(x) {
			return x, nil
		}
	}
	return store.Exchange{}, noTask(task)
}

// again reads the exchange of a task anew, with the questions about it.
func (s *service) again(ctx context.Context, x store.Exchange) (store.Exchange, []store.Exchange, error) {
	list, err := s.host.Store().Tasks(ctx, x.Owner, x.Task)
	if err != nil {
		return x, nil, err
	}
	i := slices.IndexFunc(list, func(other store.Exchange) bool { return other.Key == x.Key })
	if i < 0 {
		return x, nil, noTask(x.Task)
	}
	return list[i], questions(list, x.Key), nil
}

// isTask reports whether an exchange is a task, rather than a question about
// one.
func isTask(x store.Exchange) bool { return x.Mailbox && x.Parent == store.Key{} }

// questions are those of the exchanges under a task that are about it.
func questions(list []store.Exchange, about store.Key) []store.Exchange {
	var asked []store.Exchange
	for _, x := range list {
		if x.Parent == about {
			asked = append(asked, x)
		}
	}
	return asked
}

// heard notes that the client is there. What came of that is not its concern:
// the lease of a subscription says how long it may go unheard.
func (s *service) heard(ctx context.Context, x store.Exchange) { _ = s.host.Heard(ctx, x) }

// speaksParley reports whether the client has activated the extension.
func speaksParley(c wire.Call) bool { return slices.Contains(c.Extensions, ExtensionURI) }

// errGoingDown is what ends a stream when the host stops.
var errGoingDown = wire.Errorf(wire.Unavailable, "the agent is going down")

func noTask(id string) error {
	return wire.Errorf(wire.TaskNotFound, "there is no task %q", cut(id, 64))
}
