package a2a

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// updates are events of a task, one for each text.
func updates(texts ...string) events {
	return func(yield func(wire.Event, error) bool) {
		for i, text := range texts {
			if !yield(update(i, text), nil) {
				return
			}
		}
	}
}

func update(i int, text string) wire.Event {
	return wire.Event{ID: fmt.Sprint(i + 1), Response: wire.StreamResponse{StatusUpdate: &wire.StatusUpdate{TaskID: "t1", ContextID: "c",
		Status: wire.TaskStatus{State: wire.Working, Message: &wire.Message{MessageID: "m", Role: wire.Agent, Parts: []wire.Part{{Text: &text}}}}}}}
}

func streaming(e events) func(context.Context, wire.Call) (events, error) {
	return func(context.Context, wire.Call) (events, error) { return e, nil }
}

func TestAStreamHasItsPlaceAndOneLineOfDataForEachEvent(t *testing.T) {
	s := newSite(t, Config{}, &scripted{stream: streaming(updates("a", "b\nc"))})
	r := s.ask("GET", "/tasks/t1:subscribe", "")
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" || r.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s", r.StatusCode, got)
	}
	want := []string{"id: 1", "data: " + string(wire.Encode(&update2("a", 0).Response)), "id: 2", "data: " + string(wire.Encode(&update2("b\nc", 1).Response))}
	if got := lines(t, strings.NewReader(r.body)); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
	r = s.rpc("/", wire.SubscribeToTask, `{"id":"t1"}`)
	var into wire.StreamResponse
	data := strings.TrimPrefix(lines(t, strings.NewReader(r.body))[1], "data: ")
	if err := wire.DecodeAnswer([]byte(strings.Replace(data, `"id":7`, `"id":"7"`, 1)), "7", &into); err != nil || into.StatusUpdate == nil {
		t.Errorf("%q: %v", data, err)
	}
}

func update2(text string, i int) *wire.Event {
	e := update(i, text)
	return &e
}

func TestAnEventOfAMegabyteIsOneLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	s := newSite(t, Config{}, &scripted{stream: streaming(updates(long, "after"))})
	got := lines(t, strings.NewReader(s.ask("GET", "/tasks/t1:subscribe", "").body))
	if len(got) != 4 || !strings.Contains(got[1], long) {
		t.Errorf("got %d lines", len(got))
	}
}

func TestAClientSaysUpToWhereItHasAStream(t *testing.T) {
	var got string
	s := newSite(t, Config{}, &scripted{called: func(_ wire.Method, c wire.Call, _ wire.Object) { got = c.LastEventID }})
	s.ask("GET", "/tasks/t1:subscribe", "", "Last-Event-ID", "41")
	if got != "41" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsWrongBeforeTheFirstEventIsAnOrdinaryAnswer(t *testing.T) {
	s := newSite(t, Config{}, &scripted{stream: func(context.Context, wire.Call) (events, error) {
		return nil, wire.Errorf(wire.UnsupportedOperation, "the task has ended")
	}})
	r := s.ask("GET", "/tasks/t1:subscribe", "")
	r.expect(t, http.StatusBadRequest, wire.UnsupportedOperation)
	if got := r.Header.Get("Content-Type"); got != wire.ContentType {
		t.Errorf("got %s", got)
	}
	r = s.rpc("/", wire.SubscribeToTask, `{"id":"t1"}`)
	r.expect(t, http.StatusOK, wire.UnsupportedOperation)
	if got := r.Header.Get("Content-Type"); got != wire.RPCType {
		t.Errorf("got %s", got)
	}
}

func TestWhatGoesWrongInAStreamIsItsLastEvent(t *testing.T) {
	for name, c := range map[string]struct {
		end  func()
		err  error
		kind wire.Kind
	}{
		"error": {err: wire.Errorf(wire.TaskNotFound, "gone"), kind: wire.TaskNotFound},
		"fault": {err: errors.New("disk on fire"), kind: wire.Internal},
		"panic": {end: func() { panic("disk on fire") }, kind: wire.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, Config{}, &scripted{stream: streaming(func(yield func(wire.Event, error) bool) {
				yield(update(0, "a"), nil)
				if c.end != nil {
					c.end()
				}
				yield(wire.Event{}, c.err)
			})})
			for _, r := range []reply{s.ask("GET", "/tasks/t1:subscribe", ""), s.rpc("/", wire.SubscribeToTask, `{"id":"t1"}`)} {
				i := strings.LastIndex(r.body, "data: ")
				last := reply{r.Response, r.body[i:]}
				last.expect(t, http.StatusOK, c.kind)
				if strings.Contains(r.body, "on fire") {
					t.Errorf("the client sees internals: %s", r.body)
				}
			}
		})
	}
}

func TestAReaderThatStallsDelaysNobodyAndIsLeftBehind(t *testing.T) {
	var cause error
	var left chan struct{}
	s := &scripted{stream: func(ctx context.Context, c wire.Call) (events, error) {
		if c.LastEventID == "" {
			return updates("a", "b", "c"), nil
		}
		return func(yield func(wire.Event, error) bool) {
			for i := 0; yield(update(i, strings.Repeat("x", 8<<10)), nil); i++ {
			}
			cause = ctx.Err()
			close(left)
		}, nil
	}}
	inBubble(t, Config{}, s, func(b *bubble) {
		left = make(chan struct{})
		start := time.Now()
		stalled := b.raw(strings.Replace(rawSubscribe, "\r\n\r\n", "\r\nLast-Event-ID: 1\r\n\r\n", 1))
		if _, err := stalled.Read(make([]byte, 4<<10)); err != nil { // the headers
			t.Fatal(err)
		}
		synctest.Wait() // it has an event to write, and nobody reads it
		_, r := b.open(b.t.Context())
		if got := lines(t, r); len(got) != 6 {
			t.Errorf("the other reader got %q", got)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the other reader was delayed by %v", d)
		}
		<-left
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("the stalled reader was left behind after %v", d)
		}
		if cause == nil {
			t.Error("the stream went on for nobody")
		}
		_ = stalled.Close()
	})
}

func TestAClientThatGoesAwayEndsItsStream(t *testing.T) {
	s := &scripted{stream: func(ctx context.Context, _ wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			if yield(update(0, "a"), nil) {
				<-ctx.Done()
			}
		}, nil
	}}
	inBubble(t, Config{}, s, func(b *bubble) {
		ctx, cancel := context.WithCancel(b.t.Context())
		resp, r := b.open(ctx)
		if _, err := r.ReadString('}'); err != nil {
			t.Error(err)
		}
		cancel()
		_ = resp.Body.Close()
		synctest.Wait() // the bubble fails the test if the stream outlives this
	})
}

func TestASilentStreamHasComments(t *testing.T) {
	s := &scripted{stream: func(ctx context.Context, _ wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			yield(update(0, "a"), nil)
			<-time.After(61 * time.Second)
			yield(update(1, "b"), nil)
		}, nil
	}}
	inBubble(t, Config{}, s, func(b *bubble) {
		_, r := b.open(b.t.Context())
		got := lines(t, r)
		beats := 0
		for _, l := range got {
			if l == ":" {
				beats++
			}
		}
		if beats != 3 || len(got) != 4+beats {
			t.Errorf("got %q", got)
		}
	})
}

func TestClosingEndsStreamsAndRefusesNewOnes(t *testing.T) {
	s := &scripted{stream: func(ctx context.Context, _ wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			yield(update(0, "a"), nil)
			<-ctx.Done()
		}, nil
	}}
	inBubble(t, Config{}, s, func(b *bubble) {
		_, r := b.open(b.t.Context())
		if _, err := r.ReadString('}'); err != nil {
			t.Error(err)
		}
		ended := make(chan error)
		go func() { ended <- b.stop() }()
		rest, err := io.ReadAll(r)
		if err != nil || !strings.Contains(string(rest), string(wire.Unavailable)) {
			t.Errorf("the stream ended with %q, %v", rest, err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	srv := newSite(t, Config{}, s)
	srv.server.Close()
	srv.server.Close()
	srv.ask("GET", "/tasks/t1:subscribe", "").expect(t, http.StatusServiceUnavailable, wire.Unavailable)
}
