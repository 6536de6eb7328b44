package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// goPeer is the client of a2a-go.
type goPeer struct {
	client *a2aclient.Client
	card   *a2a.AgentCard
}

// dialGo gets the card at url and makes a client that speaks the binding.
func dialGo(ctx context.Context, url, binding string) (peer, error) {
	card, err := agentcard.NewResolver(http.DefaultClient).Resolve(ctx, url)
	if err != nil {
		return nil, err
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithConfig(a2aclient.Config{
		PreferredTransports: []a2a.TransportProtocol{a2a.TransportProtocol(binding)}}))
	if err != nil {
		return nil, err
	}
	return goPeer{client, card}, nil
}

func (p goPeer) Card(context.Context) (card, error) { return goCard(p.card), nil }

func (p goPeer) ExtendedCard(ctx context.Context) (card, error) {
	c, err := p.client.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if err != nil {
		return card{}, goError(err)
	}
	return goCard(c), nil
}

func (p goPeer) Send(ctx context.Context, m message) (task, error) {
	got, err := p.client.SendMessage(ctx, goRequest(m))
	if err != nil {
		return task{}, goError(err)
	}
	t, ok := got.(*a2a.Task)
	if !ok {
		return task{}, fmt.Errorf("the answer is a %T", got)
	}
	return goTask(t), nil
}

func (p goPeer) Stream(ctx context.Context, m message) iter.Seq2[event, error] {
	return goEvents(p.client.SendStreamingMessage(ctx, goRequest(m)))
}

func (p goPeer) Get(ctx context.Context, id string) (task, error) {
	t, err := p.client.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		return task{}, goError(err)
	}
	return goTask(t), nil
}

func (p goPeer) List(ctx context.Context, contextID string) ([]task, error) {
	got, err := p.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: contextID})
	if err != nil {
		return nil, goError(err)
	}
	var all []task
	for _, t := range got.Tasks {
		all = append(all, goTask(t))
	}
	return all, nil
}

func (p goPeer) Cancel(ctx context.Context, id string) (task, error) {
	t, err := p.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		return task{}, goError(err)
	}
	return goTask(t), nil
}

func (p goPeer) Subscribe(ctx context.Context, id string) iter.Seq2[event, error] {
	return goEvents(p.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}))
}

func (p goPeer) SetPush(ctx context.Context, c push) (push, error) {
	got, err := p.client.CreateTaskPushConfig(ctx, goPush(c))
	if err != nil {
		return push{}, goError(err)
	}
	return pushOf(got), nil
}

func (p goPeer) GetPush(ctx context.Context, taskID, id string) (push, error) {
	got, err := p.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id})
	if err != nil {
		return push{}, goError(err)
	}
	return pushOf(got), nil
}

func (p goPeer) ListPush(ctx context.Context, taskID string) ([]push, error) {
	got, err := p.client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: a2a.TaskID(taskID)})
	if err != nil {
		return nil, goError(err)
	}
	var all []push
	for _, c := range got {
		all = append(all, pushOf(c))
	}
	return all, nil
}

func (p goPeer) DeletePush(ctx context.Context, taskID, id string) error {
	return goError(p.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id}))
}

func goError(err error) error {
	if err == nil {
		return nil
	}
	if reason := a2a.ErrorReason(err); reason != "" {
		return &refused{Reason: reason, Message: err.Error()}
	}
	return err
}

func goRequest(m message) *a2a.SendMessageRequest {
	part := a2a.NewTextPart(m.Text)
	if m.Data != "" {
		part = a2a.NewDataPart(json.RawMessage(m.Data))
	}
	r := &a2a.SendMessageRequest{Message: &a2a.Message{ID: m.ID, Role: a2a.MessageRoleUser, TaskID: a2a.TaskID(m.Task), ContextID: m.Context,
		Parts: a2a.ContentParts{part}}, Config: &a2a.SendMessageConfig{ReturnImmediately: m.Immediately}}
	if m.Push != nil {
		r.Config.PushConfig = goPush(*m.Push)
	}
	return r
}

func goPush(c push) *a2a.PushConfig {
	p := &a2a.PushConfig{TaskID: a2a.TaskID(c.Task), ID: c.ID, URL: c.URL}
	if c.Scheme != "" {
		p.Auth = &a2a.PushAuthInfo{Scheme: c.Scheme, Credentials: c.Credentials}
	}
	return p
}

func pushOf(p *a2a.PushConfig) push {
	c := push{Task: string(p.TaskID), ID: p.ID, URL: p.URL}
	if p.Auth != nil {
		c.Scheme, c.Credentials = p.Auth.Scheme, p.Auth.Credentials
	}
	return c
}

func goTask(t *a2a.Task) task {
	got := task{ID: string(t.ID), Context: t.ContextID, State: string(t.Status.State), History: len(t.History)}
	if t.Status.Message != nil {
		got.Said = goText(t.Status.Message.Parts)
	}
	for _, a := range t.Artifacts {
		if text := goText(a.Parts); text != "" {
			got.Texts = append(got.Texts, text)
		}
		got.Data = append(got.Data, goData(a.Parts)...)
	}
	return got
}

// goData are the data parts as JSON.
func goData(parts a2a.ContentParts) []string {
	var all []string
	for _, p := range parts {
		if d := p.Data(); d != nil {
			b, _ := json.Marshal(d) // it was JSON
			all = append(all, string(b))
		}
	}
	return all
}

func goText(parts a2a.ContentParts) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text())
	}
	return b.String()
}

func goEvents(events iter.Seq2[a2a.Event, error]) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		for e, err := range events {
			if err != nil {
				yield(event{}, goError(err))
				return
			}
			got := event{Task: string(e.TaskInfo().TaskID)}
			switch e := e.(type) {
			case *a2a.Task:
				t := goTask(e)
				got.Kind, got.State, got.Text = "task", t.State, t.Said+strings.Join(append(t.Texts, t.Data...), "")
			case *a2a.Message:
				got.Kind, got.Text = "message", goText(e.Parts)
			case *a2a.TaskStatusUpdateEvent:
				got.Kind, got.State = "status", string(e.Status.State)
				if e.Status.Message != nil {
					got.Text = goText(e.Status.Message.Parts)
				}
			case *a2a.TaskArtifactUpdateEvent:
				got.Kind, got.Text = "artifact", goText(e.Artifact.Parts)+strings.Join(goData(e.Artifact.Parts), "")
			}
			if !yield(got, nil) {
				return
			}
		}
	}
}

func goCard(c *a2a.AgentCard) card {
	got := card{Name: c.Name}
	for _, s := range c.Skills {
		got.Skills = append(got.Skills, s.ID)
	}
	for _, e := range c.Capabilities.Extensions {
		got.Extensions = append(got.Extensions, e.URI)
	}
	return got
}
