package agenttest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/store"
)

func TestARecordThatCannotBeRunAgainIsAnError(t *testing.T) {
	s, conversation := plannedNow(t)
	host := agenttest.Host(t, agent.New("nobody"))
	for name, test := range map[string]struct {
		store        store.Store
		conversation string
		want         string
	}{
		"a conversation that is not there":  {s, "0197a000-0000-7000-8000-000000000000", "none of the agents"},
		"a store of others":                 {host.Store(), conversation, "none of the agents"},
		"a reply that cannot be read":       {garbled{s}, conversation, "record 1:"},
		"a conversation that has not ended": {unended{s}, conversation, "it has not ended: received"},
	} {
		_, err := agenttest.Reexecute(t.Context(), test.store, test.conversation, forecaster("It rains."))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func plannedNow(t *testing.T) (s store.Store, conversation string) {
	t.Helper()
	visitor := agent.New("visitor")
	host := agenttest.Host(t, visitor, forecaster("It rains."))
	_, err := agent.Ask(t.Context(), visitor, "forecaster", weather, Question{"Turku"}, agent.Opened(func(id string) { conversation = id }))
	if err != nil {
		t.Fatal(err)
	}
	return host.Store(), conversation
}

type garbled struct{ store.Store }

func (garbled) Turns(context.Context, store.Key) ([]store.Turn, error) {
	return []store.Turn{{Ordinal: 1, Kind: store.Reply, Name: "1", Data: []byte("{")}}, nil
}

type unended struct{ store.Store }

func (u unended) Exchanges(ctx context.Context, owner, conversation string) ([]store.Exchange, error) {
	list, err := u.Store.Exchanges(ctx, owner, conversation)
	for i := range list {
		list[i].State.State = "received"
	}
	return list, err
}
