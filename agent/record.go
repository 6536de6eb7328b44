package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
	"github.com/parley-agents/parley/store"
)

// recorder is the durable memory of a turn: each model reply and each tool
// result is committed before the next thing happens, so that after a crash
// nothing recorded is done again.
type recorder struct {
	host *Host
	key  store.Key
	// scope stands before the names of the job's records.
	scope string

	mu      sync.Mutex
	next    int
	replies []reply
	mended  map[string][]mended
	called  map[string]bool
	results map[string][]byte
}

// reply is a reply of the model and the functions that it was offered.
type reply struct {
	llm.Response
	Offered []string `json:"offered"`
}

// mended is what repair made of one call of a reply.
type mended struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Tries and Usage are what asking the model again took.
	Tries int       `json:"tries,omitempty"`
	Usage llm.Usage `json:"usage"`
	// Model is the one that gave the reply.
	Model string `json:"model,omitempty"`
	// GaveUp points at what stayed wrong.
	GaveUp *repair.Violation `json:"gave_up,omitempty"`
}

// scopeMark begins the scope of a later phase; no name of a record does.
const scopeMark = "@"

// within reports whether a record belongs to the scope, and what it is called
// there.
func within(record, scope string) (name string, own bool) {
	name, own = strings.CutPrefix(record, scope)
	return name, own && (scope != "" || !strings.HasPrefix(name, scopeMark))
}

// recall reads what earlier runs of the work recorded under the scope.
func recall(ctx context.Context, h *Host, k store.Key, scope string) (*recorder, error) {
	turns, err := h.store.Turns(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("reading the records of %s: %w", k.Conversation, err)
	}
	r := &recorder{host: h, key: k, scope: scope, next: len(turns) + 1, mended: map[string][]mended{}, called: map[string]bool{}, results: map[string][]byte{}}
	for _, t := range turns {
		name, own := within(t.Name, scope)
		if !own {
			continue
		}
		t.Name = name
		switch t.Kind {
		case store.Reply:
			var said reply
			if err := json.Unmarshal(t.Data, &said); err != nil {
				return nil, fmt.Errorf("record %d of %s: %w", t.Ordinal, k.Conversation, err)
			}
			r.replies = append(r.replies, said)
		case store.Mended:
			var m []mended
			if err := json.Unmarshal(t.Data, &m); err != nil {
				return nil, fmt.Errorf("record %d of %s: %w", t.Ordinal, k.Conversation, err)
			}
			r.mended[t.Name] = m
		case store.Called:
			r.called[t.Name] = true
		case store.Result:
			r.results[t.Name] = t.Data
		}
	}
	return r, nil
}

// write commits one record.
func (r *recorder) write(ctx context.Context, kind store.TurnKind, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("recording %s: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := store.Turn{Key: r.key, Ordinal: r.next, Kind: kind, Name: r.scope + name, Data: data, At: r.host.seam.now()}
	if err := r.host.store.Commit(ctx, store.WriteSet{Turns: []store.Turn{t}}); err != nil {
		return fmt.Errorf("recording %s: %w", name, err)
	}
	r.next++
	if kind == store.Result {
		r.results[name] = data
	}
	return nil
}

// reply is the recorded reply of a round, from 1.
func (r *recorder) reply(round int) (reply, bool) {
	if round > len(r.replies) {
		return reply{}, false
	}
	return r.replies[round-1], true
}

// begun reports whether an earlier run recorded that it was about to make the
// call.
func (r *recorder) begun(call string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.called[call]
}

func (r *recorder) result(call string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, ok := r.results[call]
	return data, ok
}
