package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// node is a process of client.mjs.
type node struct {
	mu    sync.Mutex
	in    io.Writer
	last  int
	calls map[int]chan line
}

// line is what client.mjs answers with.
type line struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Event  *event          `json:"event"`
	Done   bool            `json:"done"`
	Error  *refused        `json:"error"`
}

// startNode starts client.mjs, which ends with the test.
func startNode(t *testing.T) *node {
	t.Helper()
	cmd := exec.Command("node", "client.mjs")
	cmd.Dir, cmd.Stderr = "npm", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := &node{in: in, calls: map[int]chan line{}}
	read := make(chan error, 1)
	go func() { read <- n.read(out) }()
	t.Cleanup(func() {
		in.Close()
		if err := errors.Join(<-read, cmd.Wait()); err != nil {
			t.Errorf("client.mjs: %v", err)
		}
	})
	return n
}

// read hands each line to the call that it belongs to.
func (n *node) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		n.mu.Lock()
		c := n.calls[l.ID]
		n.mu.Unlock()
		if c != nil {
			c <- l
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.calls {
		close(c)
	}
	n.calls = nil
	return lines.Err()
}

// begin sends a call and returns where its lines come.
func (n *node) begin(peer int, op string, args any) (int, chan line, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls == nil {
		return 0, nil, io.ErrClosedPipe
	}
	n.last++
	b, err := json.Marshal(map[string]any{"id": n.last, "peer": peer, "op": op, "args": args})
	if err != nil {
		return 0, nil, err
	}
	c := make(chan line, 1000) // a stream of a scenario has fewer events
	n.calls[n.last] = c
	_, err = n.in.Write(append(b, '\n'))
	return n.last, c, err
}

func (n *node) end(id int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.calls, id)
}

// do makes a call that has one answer.
func do[T any](ctx context.Context, n *node, peer int, op string, args any) (T, error) {
	var got T
	id, lines, err := n.begin(peer, op, args)
	if err != nil {
		return got, err
	}
	defer n.end(id)
	select {
	case <-ctx.Done():
		return got, ctx.Err()
	case l, ok := <-lines:
		if !ok {
			return got, io.ErrUnexpectedEOF
		}
		if l.Error != nil {
			return got, l.Error.real()
		}
		return got, json.Unmarshal(l.Result, &got)
	}
}

// follow makes a call that has a stream of answers.
func (n *node) follow(ctx context.Context, peer int, op string, args any) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		id, lines, err := n.begin(peer, op, args)
		if err != nil {
			yield(event{}, err)
			return
		}
		defer n.end(id)
		defer func() { _, _, _ = n.begin(peer, "stop", map[string]int{"id": id}) }()
		for {
			select {
			case <-ctx.Done():
				yield(event{}, ctx.Err())
				return
			case l, ok := <-lines:
				switch {
				case !ok:
					yield(event{}, io.ErrUnexpectedEOF)
					return
				case l.Error != nil:
					yield(event{}, l.Error.real())
					return
				case l.Done || !yield(*l.Event, nil):
					return
				}
			}
		}
	}
}

// real is the error that it is: one without a reason is the client's own.
func (r *refused) real() error {
	if r.Reason == "" {
		return errors.New(r.Message)
	}
	return r
}

// jsPeer is a client of @a2a-js/sdk.
type jsPeer struct {
	*node
	id int
}

func (n *node) dial(ctx context.Context, url, binding string) (peer, error) {
	id, err := do[int](ctx, n, 0, "open", map[string]string{"url": url, "binding": binding})
	return jsPeer{n, id}, err
}

type ref struct {
	Task    string `json:"task,omitempty"`
	ID      string `json:"id,omitempty"`
	Context string `json:"context,omitempty"`
}

func (p jsPeer) Card(ctx context.Context) (card, error) {
	return do[card](ctx, p.node, p.id, "card", ref{})
}

func (p jsPeer) ExtendedCard(ctx context.Context) (card, error) {
	return do[card](ctx, p.node, p.id, "extendedCard", ref{})
}

func (p jsPeer) Send(ctx context.Context, m message) (task, error) {
	return do[task](ctx, p.node, p.id, "send", m)
}

func (p jsPeer) Stream(ctx context.Context, m message) iter.Seq2[event, error] {
	return p.follow(ctx, p.id, "stream", m)
}

func (p jsPeer) Get(ctx context.Context, id string) (task, error) {
	return do[task](ctx, p.node, p.id, "get", ref{Task: id})
}

func (p jsPeer) List(ctx context.Context, contextID string) ([]task, error) {
	return do[[]task](ctx, p.node, p.id, "list", ref{Context: contextID})
}

func (p jsPeer) Cancel(ctx context.Context, id string) (task, error) {
	return do[task](ctx, p.node, p.id, "cancel", ref{Task: id})
}

func (p jsPeer) Subscribe(ctx context.Context, id string) iter.Seq2[event, error] {
	return p.follow(ctx, p.id, "subscribe", ref{Task: id})
}

func (p jsPeer) SetPush(ctx context.Context, c push) (push, error) {
	return do[push](ctx, p.node, p.id, "setPush", c)
}

func (p jsPeer) GetPush(ctx context.Context, taskID, id string) (push, error) {
	return do[push](ctx, p.node, p.id, "getPush", ref{Task: taskID, ID: id})
}

func (p jsPeer) ListPush(ctx context.Context, taskID string) ([]push, error) {
	return do[[]push](ctx, p.node, p.id, "listPush", ref{Task: taskID})
}

func (p jsPeer) DeletePush(ctx context.Context, taskID, id string) error {
	_, err := do[any](ctx, p.node, p.id, "deletePush", ref{Task: taskID, ID: id})
	return err
}
