package a2a

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

const (
	// maxTaskPushes is how many push notification configs a task may have.
	maxTaskPushes = 16
	// maxCallerPushes is how many of one caller's configs may wait for what
	// happens in tasks of one agent.
	maxCallerPushes = 1000
	// maxPushPage is how many configs a page lists at most, and when the client
	// does not say.
	maxPushPage = 100
)

// pushes is the part of an agent's service that says where the events of a task
// are posted (sections 3.1.7 to 3.1.10). What is posted there is the pusher's.
type pushes struct {
	owner string
	find  findTask
	to    *pusher
	// perCaller is how many configs of one caller may wait.
	perCaller int
}

// CreatePushConfig sets up where the task's events are posted, from its first
// event on: also those of a task that has ended, since it may have ended before
// its client knew of it. A config without an id gets one. One with an id that the
// task has already replaces it: at the same URL what was posted is not posted
// again, another URL hears everything, and what waits after a failure is tried at
// once. It returns when the config is durable.
func (p *pushes) CreatePushConfig(ctx context.Context, c wire.Call, r *wire.PushConfig) (*wire.PushConfig, error) {
	x, err := p.find(ctx, c, r.TaskID)
	if err != nil {
		return nil, err
	}
	if err := p.to.rules.check("", r); err != nil {
		return nil, err
	}
	id := r.ID
	if id == "" {
		id = p.to.host.NewID()
	}
	return p.put(ctx, c, x, id, r)
}

// GetPushConfig returns a config whole, with its secrets: only the caller whose
// task it is, who gave them, can ask for it.
func (p *pushes) GetPushConfig(ctx context.Context, c wire.Call, r *wire.PushConfigRequest) (*wire.PushConfig, error) {
	x, err := p.find(ctx, c, r.TaskID)
	if err != nil {
		return nil, err
	}
	kept, err := p.to.kept.Callback(ctx, store.CallbackKey{Owner: p.owner, Task: x.Task, ID: r.ID})
	if errors.Is(err, store.ErrNotFound) || err == nil && kept.Peer != x.Peer {
		return nil, wire.Errorf(wire.TaskNotFound, "task %s has no push notification config %q", x.Task, r.ID)
	}
	if err != nil {
		return nil, err
	}
	return configOf(kept, r.Tenant)
}

// ListPushConfigs lists the task's configs by id, at most 100 a page.
func (p *pushes) ListPushConfigs(ctx context.Context, c wire.Call, r *wire.ListPushConfigsRequest) (*wire.ListPushConfigsResponse, error) {
	if r.PageSize < 0 {
		return nil, invalidPush("pageSize", "it must not be negative")
	}
	after, err := base64.RawURLEncoding.DecodeString(r.PageToken)
	if err != nil {
		return nil, invalidPush("pageToken", "it is none that this agent gave")
	}
	x, err := p.find(ctx, c, r.TaskID)
	if err != nil {
		return nil, err
	}
	kept, err := p.to.kept.Callbacks(ctx, p.owner, x.Task)
	if err != nil {
		return nil, err
	}
	size := maxPushPage
	if r.PageSize > 0 {
		size = min(size, r.PageSize)
	}
	page := &wire.ListPushConfigsResponse{Configs: []wire.PushConfig{}}
	for _, k := range kept {
		if k.ID <= string(after) || k.Peer != x.Peer {
			continue
		}
		if len(page.Configs) == size {
			page.NextPageToken = base64.RawURLEncoding.EncodeToString([]byte(page.Configs[size-1].ID))
			break
		}
		config, err := configOf(k, r.Tenant)
		if err != nil {
			return nil, err
		}
		page.Configs = append(page.Configs, *config)
	}
	return page, nil
}

// DeletePushConfig removes a config, if it is there. When it returns, nothing
// more is posted for it: an attempt under way is broken off.
func (p *pushes) DeletePushConfig(ctx context.Context, c wire.Call, r *wire.PushConfigRequest) error {
	x, err := p.find(ctx, c, r.TaskID)
	if err != nil {
		return err
	}
	k := store.CallbackKey{Owner: p.owner, Task: x.Task, ID: r.ID}
	if kept, err := p.to.kept.Callback(ctx, k); err == nil && kept.Peer != x.Peer {
		return nil // there is none of that id for this caller
	}
	ended, err := p.remove(ctx, k)
	if err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pushes) remove(ctx context.Context, k store.CallbackKey) (ended <-chan struct{}, err error) {
	p.to.changing.Lock()
	defer p.to.changing.Unlock()
	if err := p.to.kept.DeleteCallback(ctx, k); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return p.to.halt(k), nil
}

// checkPush judges the config that comes with a message before the message is
// taken: r is nil if none does. It names a task only if the message does.
func (p *pushes) checkPush(m *wire.Message, r *wire.PushConfig) error {
	const in = "configuration.taskPushNotificationConfig."
	if r == nil {
		return nil
	}
	if r.TaskID != "" && r.TaskID != m.TaskID {
		return invalidPush(in+"taskId", "it is not the task of the message")
	}
	return p.to.rules.check(in, r)
}

// adoptPush sets up the config that came with a message when its task is there.
// Without an id it gets one that follows from the task and its caller, so that
// the message may come twice.
func (p *pushes) adoptPush(ctx context.Context, c wire.Call, x store.Exchange, r *wire.PushConfig) error {
	if r == nil {
		return nil
	}
	id := r.ID
	if id == "" {
		id = taskID(x.Task, x.Peer)
	}
	_, err := p.put(ctx, c, x, id, r)
	return err
}

// put keeps a config under the id, and has it told what it was not told yet.
func (p *pushes) put(ctx context.Context, c wire.Call, x store.Exchange, id string, r *wire.PushConfig) (*wire.PushConfig, error) {
	hook := webhook{URL: r.URL, Token: r.Token, Parley: speaksParley(c)}
	if a := r.Authentication; a != nil {
		hook.Scheme, hook.Credentials = a.Scheme, a.Credentials
	}
	config, err := json.Marshal(hook)
	if err != nil {
		return nil, err
	}
	p.to.changing.Lock()
	defer p.to.changing.Unlock()
	now := p.to.host.Now()
	next := store.Callback{
		CallbackKey: store.CallbackKey{Owner: p.owner, Task: x.Task, ID: id},
		Peer:        x.Peer, Config: config, NextAt: now, CreatedAt: now,
	}
	kept, err := p.to.kept.Callback(ctx, next.CallbackKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if err := p.room(ctx, x); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case kept.Peer != x.Peer:
		return nil, invalidPush("id", "it is taken")
	case bytes.Equal(kept.Config, config) && kept.Attempt == 0:
		return configOf(kept, r.Tenant) // it is there, and nothing is wrong with it
	default:
		next.CreatedAt = kept.CreatedAt
		if before, err := webhookOf(kept); err == nil && before.URL == hook.URL {
			next.Place = kept.Place
		}
	}
	if err := p.to.kept.PutCallback(ctx, next); err != nil {
		return nil, err
	}
	p.to.tell(next.CallbackKey)
	return configOf(next, r.Tenant)
}

// room says whether the task and its caller may have one more config.
func (p *pushes) room(ctx context.Context, x store.Exchange) error {
	ofTask, err := p.to.kept.Callbacks(ctx, p.owner, x.Task)
	if err != nil {
		return err
	}
	if own := ofPeer(ofTask, x.Peer); own >= maxTaskPushes {
		return wire.Errorf(wire.Overloaded, "task %s has %d push notification configs; delete one first", x.Task, own)
	}
	waiting, err := p.to.kept.Callbacks(ctx, p.owner, "")
	if err != nil {
		return err
	}
	if own := ofPeer(waiting, x.Peer); own >= p.perCaller {
		return wire.Errorf(wire.Overloaded, "%d push notification configs of yours wait for their tasks; delete some first", own)
	}
	return nil
}

// ofPeer counts the configs that a peer has set up.
func ofPeer(list []store.Callback, peer string) (n int) {
	for _, c := range list {
		if c.Peer == peer {
			n++
		}
	}
	return n
}

// configOf is what the client is told of a config.
func configOf(c store.Callback, tenant string) (*wire.PushConfig, error) {
	hook, err := webhookOf(c)
	if err != nil {
		return nil, err
	}
	config := &wire.PushConfig{Tenant: tenant, ID: c.ID, TaskID: c.Task, URL: hook.URL, Token: hook.Token}
	if hook.Scheme != "" {
		config.Authentication = &wire.Authentication{Scheme: hook.Scheme, Credentials: hook.Credentials}
	}
	return config, nil
}
