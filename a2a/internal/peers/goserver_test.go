package peers

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// foreign is an agent of somebody else: one that says hello, asks, waits until
// it is lifted, fails and refuses, as it is told, and adds up data.
type foreign struct {
	url string
	// lift ends the waiting.
	lift func() error
}

// startGo starts the server of a2a-go with that agent.
func startGo(t *testing.T) foreign {
	t.Helper()
	e := &goExecutor{gate: &gate{open: make(chan struct{})}}
	handler := a2asrv.NewHandler(e)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(e.gate.lift)
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "stranger", Description: "an agent of a2a-go", Version: "1",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(server.URL+"/rpc", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(server.URL+"/rest", a2a.TransportProtocolHTTPJSON),
		},
		Capabilities:      a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "talk", Name: "talk", Description: "talks", Tags: []string{"talk"}}},
	}))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rpc/", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	return foreign{server.URL, func() error { e.gate.lift(); return nil }}
}

// goExecutor is the agent's work, as a2a-go wants it written.
type goExecutor struct {
	gate *gate
}

func (e *goExecutor) Execute(ctx context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		said := goText(x.Message.Parts)
		status := func(state a2a.TaskState, words string) bool {
			var m *a2a.Message
			if words != "" {
				m = a2a.NewMessageForTask(a2a.MessageRoleAgent, x, a2a.NewTextPart(words))
			}
			return yield(a2a.NewStatusUpdateEvent(x, state, m), nil)
		}
		answer := func(p *a2a.Part) {
			if yield(a2a.NewArtifactEvent(x, p), nil) {
				status(a2a.TaskStateCompleted, "")
			}
		}
		if x.StoredTask != nil {
			answer(a2a.NewTextPart("you said " + said))
			return
		}
		if !yield(a2a.NewSubmittedTask(x, x.Message), nil) {
			return
		}
		switch said {
		case "ask":
			status(a2a.TaskStateInputRequired, "which city?")
			return
		case "fail":
			status(a2a.TaskStateFailed, "no luck")
			return
		case "refuse":
			status(a2a.TaskStateRejected, "not today")
			return
		}
		if !status(a2a.TaskStateWorking, "") {
			return
		}
		switch said {
		case "wait":
			select {
			case <-e.gate.open:
			case <-ctx.Done():
				return
			}
			answer(a2a.NewTextPart("it was lifted"))
		default:
			if in, ok := x.Message.Parts[0].Data().(map[string]any); ok {
				answer(a2a.NewDataPart(map[string]any{"sum": in["a"].(float64) + in["b"].(float64)}))
				return
			}
			answer(a2a.NewTextPart(said + " to you"))
		}
	}
}

func (e *goExecutor) Cancel(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(x, a2a.TaskStateCanceled, nil), nil)
	}
}
