package a2a

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// receiver is a webhook that listens on this machine.
type receiver struct {
	*httptest.Server
	told []wire.StreamResponse
	// first is closed when it was told anything, whole when it was told the
	// task's end and result.
	first, whole chan struct{}
}

func listen(t *testing.T) *receiver {
	r := &receiver{first: make(chan struct{}), whole: make(chan struct{})}
	var mu sync.Mutex
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if end, result := gist(r.told); end && result {
			return
		}
		told, err := toldBy(req)
		if err != nil {
			t.Error(err)
		}
		if r.told = append(r.told, told); len(r.told) == 1 {
			close(r.first)
		}
		if end, result := gist(r.told); end && result {
			close(r.whole)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// toldBy reads a notification.
func toldBy(r *http.Request) (wire.StreamResponse, error) {
	var told wire.StreamResponse
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = wire.Decode(body, &told)
	}
	return told, err
}

// gist reports whether a webhook was told that its task has ended, and the
// result.
func gist(told []wire.StreamResponse) (end, result bool) {
	for _, r := range told {
		end = end || final(r)
		result = result || r.ArtifactUpdate != nil || r.Task != nil && len(r.Task.Artifacts) > 0
	}
	return end, result
}

// onFile starts the flights on the store of a file, with webhooks on this
// machine, and returns what ends them.
func onFile(t *testing.T, file string, opts ...agent.Option) (*service, *pushes, func()) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	h := agent.NewHost(agent.Config{Store: st, Log: slog.New(slog.DiscardHandler), Drain: -1}, agent.New("flights", opts...))
	s := newService(h, flights)
	to := newPusher(h, st, true, slog.New(slog.DiscardHandler))
	p := to.serve(flights, s.find, s.happening)
	h.Run(to.run)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return s, p, end
}

func TestAWebhookOnThisMachineIsToldOfATaskAcrossARestart(t *testing.T) {
	for name, parley := range map[string]bool{"Parley": true, "another client": false} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "parley.db")
			hook := listen(t)
			begun, free := make(chan struct{}, 2), make(chan struct{})
			work := answers(func(ctx context.Context) (Booking, error) {
				begun <- struct{}{}
				select {
				case <-free:
					return Booking{"R1"}, nil
				case <-ctx.Done():
					return Booking{}, ctx.Err()
				}
			})
			s, p, end := onFile(t, file, work)
			c := client{t, s, planner}
			x := c.open(book, envelope.Request)
			<-begun
			if _, err := p.CreatePushConfig(t.Context(), c.call(parley), &wire.PushConfig{TaskID: x.Task, ID: "hook", URL: hook.URL}); err != nil {
				t.Fatal(err)
			}
			<-hook.first
			end()
			close(free)
			_, p, _ = onFile(t, file, work)
			<-hook.whole
			if first := hook.told[0].Task; first == nil || first.ID != x.Task || first.Status.State.Terminal() {
				t.Errorf("the webhook was told first of %s", wire.Encode(&hook.told[0]))
			}
			got, err := p.GetPushConfig(t.Context(), c.call(parley), &wire.PushConfigRequest{TaskID: x.Task, ID: "hook"})
			if err != nil || got.URL != hook.URL {
				t.Errorf("after the end its config is %+v, %v", got, err)
			}
		})
	}
}

func TestAnAnswerWithoutEndIsNotReadToItsEnd(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				close(gone)
				return
			}
		}
	}))
	defer server.Close()
	p := newPusher(nil, nil, true, nil)
	p.client.Timeout = 0
	if err := p.post(t.Context(), webhook{URL: server.URL}, wire.StreamResponse{Task: &wire.Task{ID: "t1"}}); err != nil {
		t.Error(err)
	}
	<-gone
}

// tripper is a transport that is a function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWhicheverAttemptFailsTheWebhookMissesNothing(t *testing.T) {
	for failing := range 8 {
		for _, parley := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
					time.Sleep(time.Second)
					err := agent.Progress(ctx, Tick{1})
					time.Sleep(time.Second)
					return Booking{"R1"}, err
				})), planner}
				to := newPusher(c.s.host, c.s.host.Store(), false, slog.New(slog.DiscardHandler))
				p := to.serve(flights, c.s.find, c.s.happening)
				var told []wire.StreamResponse
				attempt := 0
				to.client.Transport = tripper(func(r *http.Request) (*http.Response, error) {
					attempt++
					if attempt == failing || attempt == failing+1 {
						return nil, errors.New("no route")
					}
					response, err := toldBy(r)
					told = append(told, response)
					return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, err
				})
				c.s.host.Run(to.run)
				opening := c.opens(book, envelope.Request)
				x := c.take(opening, seat, "")
				if err := p.adoptPush(t.Context(), c.call(parley), x, &wire.PushConfig{URL: "https://hooks.example/"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if end, result := gist(told); !end || !result {
					t.Errorf("attempt %d fails: the webhook was told %v", failing, told)
				}
				if parley {
					equal(t, "the acts that the webhook was told", actsTold(t, told), []int64{1, 2, 3})
				}
				k := store.CallbackKey{Owner: flights, Task: x.Task, ID: taskID(x.Task, planner)}
				if kept, err := c.s.host.Store().Callback(t.Context(), k); err != nil || !kept.Done {
					t.Errorf("attempt %d fails: in the end its webhook is %+v, %v", failing, kept, err)
				}
			})
		}
	}
}

// actsTold are the numbers of the acts in what a webhook was told, each once.
func actsTold(t *testing.T, told []wire.StreamResponse) []int64 {
	t.Helper()
	var list []int64
	add := func(data []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if seq := must(envelope.Decode(data)).Header().Seq; !slices.Contains(list, seq) {
			list = append(list, seq)
		}
	}
	for _, r := range told {
		if r.Task != nil {
			for _, m := range r.Task.History {
				if m.Role == wire.Agent {
					add(envelopeOf(&m))
				}
			}
			for _, a := range r.Task.Artifacts {
				add(envelopeOfArtifact(&a))
			}
		}
		if r.StatusUpdate != nil && r.StatusUpdate.Status.Message != nil {
			add(envelopeOf(r.StatusUpdate.Status.Message))
		}
		if r.ArtifactUpdate != nil {
			add(envelopeOfArtifact(&r.ArtifactUpdate.Artifact))
		}
	}
	slices.Sort(list)
	return list
}

func TestAWebhookStaysWhileItsTaskWaitsForItsClient(t *testing.T) {
	for _, parley := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := client{t, begin(t, nil, bidder()), planner}
			to := newPusher(c.s.host, c.s.host.Store(), false, slog.New(slog.DiscardHandler))
			p := to.serve(flights, c.s.find, c.s.happening)
			var told []wire.Event
			to.client.Transport = tripper(func(r *http.Request) (*http.Response, error) {
				response, err := toldBy(r)
				told = append(told, wire.Event{Response: response})
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, err
			})
			c.s.host.Run(to.run)
			x := c.open(haul, envelope.CFP)
			if err := p.adoptPush(t.Context(), c.call(parley), x, &wire.PushConfig{URL: "https://hooks.example/"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			c.cancel(x, 2)
			time.Sleep(time.Minute)
			synctest.Wait()
			list := states(told)
			if !slices.Contains(list, string(wire.InputRequired)) && list[0] != "task "+string(wire.InputRequired) ||
				list[len(list)-1] != string(wire.Canceled) {
				t.Errorf("the webhook was told %v", list)
			}
			tasks := slices.DeleteFunc(list, func(s string) bool { return !strings.HasPrefix(s, "task ") })
			if len(tasks) != 1 {
				t.Errorf("the webhook was told of the whole task %d times: %v", len(tasks), tasks)
			}
		})
	}
}
