package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// executor is an agent of a2a-go: it repeats what it is told, or streams as many
// chunks as a data part wants, by the template in the documentation of
// a2asrv.AgentExecutor.
type executor struct{}

func (executor) Execute(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if x.StoredTask == nil && !yield(sdk.NewSubmittedTask(x, x.Message), nil) {
			return
		}
		if !yield(sdk.NewStatusUpdateEvent(x, sdk.TaskStateWorking, nil), nil) {
			return
		}
		want, err := wanted(x.Message)
		if err != nil {
			yield(nil, err)
			return
		}
		if want.Count == 0 {
			want.Count, want.Text = 1, "You said "+said(x.Message)
		}
		for range want.Count {
			if !yield(sdk.NewArtifactEvent(x, sdk.NewTextPart(want.Text)), nil) {
				return
			}
		}
		yield(sdk.NewStatusUpdateEvent(x, sdk.TaskStateCompleted, nil), nil)
	}
}

func (executor) Cancel(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		yield(sdk.NewStatusUpdateEvent(x, sdk.TaskStateCanceled, nil), nil)
	}
}

// brief is the same agent with one event instead of four: the whole task. It is
// the least that a2a-go does for a task.
type brief struct{ executor }

func (brief) Execute(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		task := sdk.NewSubmittedTask(x, x.Message)
		task.Status.State = sdk.TaskStateCompleted
		task.Artifacts = []*sdk.Artifact{{ID: sdk.NewArtifactID(), Parts: []*sdk.Part{sdk.NewTextPart("You said " + said(x.Message))}}}
		yield(task, nil)
	}
}

func said(m *sdk.Message) string {
	var list []string
	for _, p := range m.Parts {
		list = append(list, p.Text())
	}
	return strings.Join(list, "\n")
}

// wanted is what a data part asks for, nothing if there is none.
func wanted(m *sdk.Message) (want wantChunks, err error) {
	for _, p := range m.Parts {
		if p.Data() == nil {
			continue
		}
		raw, err := json.Marshal(p.Data())
		if err == nil {
			err = json.Unmarshal(raw, &want)
		}
		if err != nil {
			return want, fmt.Errorf("the data: %w", err)
		}
	}
	return want, nil
}

// newSDK is a2a-go with its store in memory, its defaults and no log.
func newSDK(context.Context, string, string) (*backend, error) { return served(executor{}), nil }

func newBriefSDK(context.Context, string, string) (*backend, error) { return served(brief{}), nil }

func served(agent a2asrv.AgentExecutor) *backend {
	h := a2asrv.NewHandler(agent, a2asrv.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	mux := http.NewServeMux()
	mux.Handle("/", a2asrv.NewJSONRPCHandler(h))
	return &backend{handler: mux, count: func(*counters) {}, close: func() error { return nil }}
}
