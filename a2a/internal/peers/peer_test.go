package peers

import (
	"context"
	"iter"
)

// peer is a client of A2A that somebody else wrote, as the scenarios use it.
// Errors are *refused when the server said no.
type peer interface {
	Card(ctx context.Context) (card, error)
	ExtendedCard(ctx context.Context) (card, error)
	Send(ctx context.Context, m message) (task, error)
	Stream(ctx context.Context, m message) iter.Seq2[event, error]
	Get(ctx context.Context, id string) (task, error)
	List(ctx context.Context, contextID string) ([]task, error)
	Cancel(ctx context.Context, id string) (task, error)
	Subscribe(ctx context.Context, id string) iter.Seq2[event, error]
	SetPush(ctx context.Context, p push) (push, error)
	GetPush(ctx context.Context, taskID, id string) (push, error)
	ListPush(ctx context.Context, taskID string) ([]push, error)
	DeletePush(ctx context.Context, taskID, id string) error
}

// message is what a client sends: a text, or data that is JSON.
type message struct {
	ID          string `json:"id"`
	Text        string `json:"text,omitempty"`
	Data        string `json:"data,omitempty"`
	Task        string `json:"task,omitempty"`
	Context     string `json:"context,omitempty"`
	Immediately bool   `json:"immediately,omitempty"`
	Push        *push  `json:"push,omitempty"`
}

// task is what a client sees of a task.
type task struct {
	ID      string `json:"id"`
	Context string `json:"context"`
	State   string `json:"state"`
	// Said is the text of the status message, Texts and Data are the parts of the
	// artifacts, data as JSON.
	Said  string   `json:"said"`
	Texts []string `json:"texts"`
	Data  []string `json:"data"`
	// History is how many messages there were.
	History int `json:"history"`
}

// event is one event of a stream.
type event struct {
	// Kind is task, message, status or artifact.
	Kind  string `json:"kind"`
	Task  string `json:"task"`
	State string `json:"state"`
	// Text is that of the message or the artifact, or what a task says so far.
	Text string `json:"text"`
}

type push struct {
	Task        string `json:"task"`
	ID          string `json:"id"`
	URL         string `json:"url"`
	Scheme      string `json:"scheme"`
	Credentials string `json:"credentials"`
}

// card is what an agent says about itself.
type card struct {
	Name       string   `json:"name"`
	Extensions []string `json:"extensions"`
	Skills     []string `json:"skills"`
}

// refused is what a server said no with, by the reason of its ErrorInfo.
type refused struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (r *refused) Error() string { return r.Reason + ": " + r.Message }
