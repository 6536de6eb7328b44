package a2a

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// clients are one client for each binding, which call the scripted service over
// the wires.
func (w *wires) clients(t *testing.T, s *scripted, cfg ClientConfig) map[string]*Client {
	t.Helper()
	serve := Config{}
	if cfg.Authorize != nil {
		serve.Authenticate = []Authenticator{BearerTokens(Secrets(map[string]string{"secret": "me"}))}
		serve.ExtendedCard = func(_ context.Context, _, _ string, public *wire.AgentCard) (*wire.AgentCard, error) {
			return public, nil
		}
	}
	srv := scriptedServer(t, serve, s)
	t.Cleanup(srv.Close)
	w.serve("localhost", srv.Handler())
	cfg.Transport = w
	list := map[string]*Client{}
	for _, binding := range []string{wire.JSONRPC, wire.HTTPJSON} {
		c, err := NewClient(wire.AgentInterface{URL: "http://localhost/flights", ProtocolBinding: binding, ProtocolVersion: "1.0"}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		list[binding] = c
	}
	return list
}

func aRequest() *wire.SendMessageRequest {
	return &wire.SendMessageRequest{Message: wire.Message{MessageID: "m1", Role: wire.User, Parts: []wire.Part{{Text: new("hello")}}}}
}

func TestEveryOperationArrivesInBothBindingsWithWhatTheCallCarries(t *testing.T) {
	call := wire.Call{Extensions: []string{"urn:known"}, Token: "a.b.c", LastEventID: "7",
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Tracestate: "acme=1"}
	one := 1
	w := newWires()
	var got []string
	note := func(m wire.Method, c wire.Call, r wire.Object) {
		if c.Token != call.Token || c.Traceparent != call.Traceparent || c.Tracestate != call.Tracestate || len(c.Extensions) != 1 ||
			m.Streams() && c.LastEventID != call.LastEventID {
			t.Errorf("%s was called with %+v", m, c)
		}
		got = append(got, string(m)+" "+string(wire.Encode(r)))
	}
	for binding, c := range w.clients(t, &scripted{called: note}, ClientConfig{Authorize: func(r *http.Request) error {
		return errors.Join(Bearer("secret")(r), APIKey("X-API-Key", "key")(r))
	}}) {
		got = nil
		w.spoil(func(r *http.Request, _ string, _ func() *http.Response) (*http.Response, error) {
			if r.Header.Get("A2A-Version") != "1.0" || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("X-API-Key") != "key" {
				t.Errorf("%s %s has the headers %v", r.Method, r.URL, r.Header)
			}
			return nil, nil
		})
		ctx := t.Context()
		calls := []func() error{
			func() error { _, err := c.SendMessage(ctx, call, aRequest()); return err },
			func() error { return drained(c.SendStreamingMessage(ctx, call, aRequest())) },
			func() error {
				_, err := c.GetTask(ctx, call, &wire.GetTaskRequest{ID: "t/1", HistoryLength: &one})
				return err
			},
			func() error {
				_, err := c.ListTasks(ctx, call, &wire.ListTasksRequest{ContextID: "c", Status: wire.Working, PageSize: 3, PageToken: "p", HistoryLength: &one,
					StatusTimestampAfter: time.Date(2026, 11, 30, 12, 0, 0, 5e6, time.UTC), IncludeArtifacts: true})
				return err
			},
			func() error {
				_, err := c.CancelTask(ctx, call, &wire.CancelTaskRequest{ID: "t1", Metadata: wire.Metadata{"x": []byte(`{"y":1}`)}})
				return err
			},
			func() error { return drained(c.SubscribeToTask(ctx, call, &wire.SubscribeRequest{ID: "t1"})) },
			func() error {
				_, err := c.CreatePushConfig(ctx, call, &wire.PushConfig{TaskID: "t1", URL: "https://hook.example", Token: "z"})
				return err
			},
			func() error {
				_, err := c.GetPushConfig(ctx, call, &wire.PushConfigRequest{TaskID: "t1", ID: "c1"})
				return err
			},
			func() error {
				_, err := c.ListPushConfigs(ctx, call, &wire.ListPushConfigsRequest{TaskID: "t1", PageSize: 2, PageToken: "p"})
				return err
			},
			func() error { return c.DeletePushConfig(ctx, call, &wire.PushConfigRequest{TaskID: "t1", ID: "c1"}) },
			func() error {
				card, err := c.GetExtendedAgentCard(ctx, call, &wire.ExtendedCardRequest{})
				if err == nil {
					got = append(got, card.Name)
				}
				return err
			},
		}
		for i, f := range calls {
			if err := f(); err != nil {
				t.Errorf("%s, call %d: %v", binding, i, err)
			}
		}
		equal(t, binding, got, []string{
			`SendMessage {"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`,
			`SendStreamingMessage {"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`,
			`GetTask {"id":"t/1","historyLength":1}`,
			`ListTasks {"contextId":"c","status":"TASK_STATE_WORKING","pageSize":3,"pageToken":"p","historyLength":1,"statusTimestampAfter":"2026-11-30T12:00:00.005Z","includeArtifacts":true}`,
			`CancelTask {"id":"t1","metadata":{"x":{"y":1}}}`,
			`SubscribeToTask {"id":"t1"}`,
			`CreateTaskPushNotificationConfig {"taskId":"t1","url":"https://hook.example","token":"z"}`,
			`GetTaskPushNotificationConfig {"taskId":"t1","id":"c1"}`,
			`ListTaskPushNotificationConfigs {"taskId":"t1","pageSize":2,"pageToken":"p"}`,
			`DeleteTaskPushNotificationConfig {"taskId":"t1","id":"c1"}`,
			"flights",
		})
	}
}

// drained reads a stream to its end.
func drained(events events, err error) error {
	if err != nil {
		return err
	}
	for _, err := range events {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestTheErrorsOfAServerAreReadInBothBindings(t *testing.T) {
	told := &wire.Error{Kind: wire.Overloaded, Message: "busy", RetryAfter: 3 * time.Second,
		Details: []wire.Metadata{{"@type": raw(structType), "value": raw(map[string]int{"a": 1})}}}
	for binding, c := range newWires().clients(t, &scripted{send: func(context.Context, *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
		return nil, told
	}, stream: func(context.Context, wire.Call) (events, error) { return nil, told }}, ClientConfig{}) {
		_, sent := c.SendMessage(t.Context(), wire.Call{}, aRequest())
		for _, err := range []error{sent, drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"}))} {
			e, ok := errors.AsType[*wire.Error](err)
			if !ok || e.Kind != told.Kind || e.RetryAfter != told.RetryAfter || len(e.Details) != 1 || string(e.Details[0]["value"]) != `{"a":1}` {
				t.Errorf("%s: %#v", binding, err)
			}
		}
	}
}

func TestWhatIsNoAnswerOfTheProtocolIsRefused(t *testing.T) {
	const limit = 1000
	html := http.Header{"Content-Type": {"text/html"}}
	for name, tt := range map[string]struct {
		answer *http.Response
		err    error
		want   wire.Kind
		is     error
		after  time.Duration
	}{
		"a redirect":        {answer: canned(302, http.Header{"Location": {"http://localhost/elsewhere"}}, ""), want: wire.InvalidAgentResponse},
		"a page":            {answer: canned(200, html, "<html>"), want: wire.InvalidAgentResponse},
		"a page of a proxy": {answer: canned(502, html, "<html>"), want: wire.Unavailable},
		"a wall":            {answer: canned(401, html, "<html>"), want: wire.Unauthenticated},
		"a wait":            {answer: canned(503, http.Header{"Retry-After": {"7"}}, ""), want: wire.Unavailable, after: 7 * time.Second},
		"a wait until":      {answer: canned(429, http.Header{"Retry-After": {"Mon, 30 Nov 2026 12:00:09 GMT"}, "Date": {"Mon, 30 Nov 2026 12:00:00 GMT"}}, ""), want: wire.Overloaded, after: 9 * time.Second},
		"a wait for ever":   {answer: canned(503, http.Header{"Retry-After": {"999999999"}}, ""), want: wire.Unavailable, after: time.Hour},
		"too much":          {answer: canned(200, nil, `{"task":"`+strings.Repeat("x", limit)), is: errTooLarge},
		"nobody":            {err: errRefused, is: errRefused},
		"half an answer":    {answer: canned(200, nil, `{"task":{"id":`), want: wire.InvalidAgentResponse},
		"another one's":     {answer: canned(200, nil, `{"jsonrpc":"2.0","id":"no","result":{"task":{"id":"t1"}}}`), want: wire.InvalidAgentResponse},
	} {
		w := newWires()
		for binding, c := range w.clients(t, &scripted{}, ClientConfig{MaxResponse: limit}) {
			hops := 0
			w.spoil(func(*http.Request, string, func() *http.Response) (*http.Response, error) {
				hops++
				if tt.answer == nil {
					return nil, tt.err
				}
				body, _ := io.ReadAll(tt.answer.Body)
				tt.answer.Body = io.NopCloser(strings.NewReader(string(body)))
				again := *tt.answer
				again.Body = io.NopCloser(strings.NewReader(string(body)))
				return &again, nil
			})
			_, sent := c.SendMessage(t.Context(), wire.Call{}, aRequest())
			streamed := drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"}))
			for _, err := range []error{sent, streamed} {
				e, _ := errors.AsType[*wire.Error](err)
				if tt.is != nil && !errors.Is(err, tt.is) || tt.want != "" && (e == nil || e.Kind != tt.want || e.RetryAfter != tt.after) {
					t.Errorf("%s, %s: %v (%#v)", name, binding, err, e)
				}
			}
			if hops != 2 {
				t.Errorf("%s, %s: %d requests were made of 2 calls", name, binding, hops)
			}
		}
	}
}

// ticker streams events with ids from after the given one up to n.
func ticker(n int) func(context.Context, wire.Call) (events, error) {
	return func(_ context.Context, c wire.Call) (events, error) {
		from := 0
		fmt.Sscan(c.LastEventID, &from)
		return func(yield func(wire.Event, error) bool) {
			for i := from + 1; i <= n; i++ {
				u := &wire.StatusUpdate{TaskID: "t1", ContextID: "c", Status: wire.TaskStatus{State: wire.Working}}
				if !yield(wire.Event{ID: fmt.Sprint(i), Response: wire.StreamResponse{StatusUpdate: u}}, nil) {
					return
				}
			}
		}, nil
	}
}

// breaking ends the body after so many bytes as a connection that is cut.
type breaking struct {
	io.ReadCloser
	left int
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func TestAStreamThatBreaksGoesOnWhereItBrokeAndOneThatBringsNothingEnds(t *testing.T) {
	for _, room := range []int{50, 300, 701} {
		w := newWires()
		for binding, c := range w.clients(t, &scripted{stream: ticker(20)}, ClientConfig{}) {
			w.spoil(func(_ *http.Request, _ string, done func() *http.Response) (*http.Response, error) {
				resp := done()
				resp.Body = &breaking{resp.Body, room}
				return resp, nil
			})
			events, err := c.SendStreamingMessage(t.Context(), wire.Call{}, aRequest())
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for e, broke := range events {
				if err = broke; err == nil {
					ids = append(ids, e.ID)
				}
			}
			want := 20
			if room == 50 {
				want = 0 // not even one event fits
			}
			if (err == nil) != (want == 20) || len(ids) != want || want == 20 && ids[19] != "20" {
				t.Errorf("%s, cut after %d bytes: %v, %v", binding, room, ids, err)
			}
		}
	}
}

func TestAnEventOfMegabytesPassesAndATooLargeOneEndsTheStream(t *testing.T) {
	const size = 6 << 20
	large := strings.Repeat("x", size)
	serve := func(context.Context, wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			a := wire.Artifact{ArtifactID: "a", Parts: []wire.Part{{Text: &large}}}
			yield(wire.Event{ID: "1", Response: wire.StreamResponse{ArtifactUpdate: &wire.ArtifactUpdate{TaskID: "t1", Artifact: a}}}, nil)
		}, nil
	}
	for _, limit := range []int{size + 1<<10, size} {
		for binding, c := range newWires().clients(t, &scripted{stream: serve}, ClientConfig{MaxResponse: limit}) {
			got := 0
			events, err := c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"})
			if err != nil {
				t.Fatal(err)
			}
			for e, broke := range events {
				if err = broke; err == nil {
					got = len(*e.Response.ArtifactUpdate.Artifact.Parts[0].Text)
				}
			}
			if fits := limit > size; fits && (err != nil || got != size) || !fits && !errors.Is(err, errEventTooLarge) {
				t.Errorf("%s, at most %d bytes: got %d, %v", binding, limit, got, err)
			}
		}
	}
}

func TestAServerThatSaysNothingIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		w := newWires()
		for binding, c := range w.clients(t, &scripted{
			send: func(ctx context.Context, _ *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
				return nil, hang(ctx)
			},
		}, ClientConfig{Timeout: 20 * time.Second, Silence: 40 * time.Second}) {
			began := time.Now()
			if _, err := c.SendMessage(t.Context(), wire.Call{}, aRequest()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 20*time.Second {
				t.Errorf("%s: after %s a send ended with %v", binding, time.Since(began), err)
			}
			// The heart of the server's stream stands still.
			w.spoil(func(r *http.Request, _ string, _ func() *http.Response) (*http.Response, error) {
				body, _ := io.Pipe()
				context.AfterFunc(r.Context(), func() { body.CloseWithError(r.Context().Err()) })
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
			})
			began = time.Now()
			err := drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"}))
			if !errors.Is(err, errSilent) || time.Since(began) != 40*time.Second {
				t.Errorf("%s: after %s a stream ended with %v", binding, time.Since(began), err)
			}
			w.spoil(nil)
		}
	})
}

func TestThatAWebhookIsGoneIsBelievedOnlyOfAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		rpc, rest string
		good      bool
	}{
		"nothing more":       {`{"jsonrpc":"2.0","id":"1","result":{}}`, `{}`, true},
		"null":               {`{"jsonrpc":"2.0","id":"1","result":null}`, `null`, true},
		"a page":             {`<html>`, `<html>`, false},
		"half an answer":     {`{"jsonrpc":"2.0","id":"1","res`, `{`, false},
		"another's":          {`{"jsonrpc":"2.0","id":"2","result":{}}`, `[`, false},
		"an error of a kind": {`{"jsonrpc":"2.0","id":"1","result":{},"Error":1}`, ` `, true},
	} {
		w := newWires()
		for binding, c := range w.clients(t, &scripted{}, ClientConfig{}) {
			w.spoil(func(*http.Request, string, func() *http.Response) (*http.Response, error) {
				return canned(200, nil, map[string]string{wire.JSONRPC: tt.rpc, wire.HTTPJSON: tt.rest}[binding]), nil
			})
			err := c.DeletePushConfig(t.Context(), wire.Call{}, &wire.PushConfigRequest{TaskID: "t1", ID: "c1"})
			if e, ok := errors.AsType[*wire.Error](err); tt.good != (err == nil) || err != nil && (!ok || e.Kind != wire.InvalidAgentResponse) {
				t.Errorf("%s, %s: %v", name, binding, err)
			}
		}
	}
}

func TestNoServerIsBelievedToWantALongerWaitThanAnHourHoweverItSaysSo(t *testing.T) {
	told := &wire.Error{Kind: wire.Unavailable, Message: "later", RetryAfter: 1000 * time.Hour}
	serve := func(context.Context, wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) { yield(wire.Event{}, told) }, nil
	}
	for binding, c := range newWires().clients(t, &scripted{stream: serve, send: func(context.Context, *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
		return nil, told
	}}, ClientConfig{}) {
		_, sent := c.SendMessage(t.Context(), wire.Call{}, aRequest())
		for _, err := range []error{sent, drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"}))} {
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.RetryAfter != time.Hour {
				t.Errorf("%s: %v, again after %v", binding, err, e)
			}
		}
	}
}

func TestWhatIsOfAnotherTaskIsNoAnswer(t *testing.T) {
	other := func(ctx context.Context, _ *wire.GetTaskRequest) (*wire.Task, error) { return aTask("t2"), nil }
	serve := func(context.Context, wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			_ = yield(wire.Event{Response: wire.StreamResponse{Task: aTask("t1")}}, nil) &&
				yield(wire.Event{Response: wire.StreamResponse{StatusUpdate: &wire.StatusUpdate{TaskID: "t2", Status: wire.TaskStatus{State: wire.Completed}}}}, nil)
		}, nil
	}
	for binding, c := range newWires().clients(t, &scripted{get: other, stream: serve}, ClientConfig{}) {
		_, got := c.GetTask(t.Context(), wire.Call{}, &wire.GetTaskRequest{ID: "t1"})
		sent, err := c.SendStreamingMessage(t.Context(), wire.Call{}, aRequest())
		for what, err := range map[string]error{
			"a task":                       got,
			"a stream":                     drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"})),
			"a stream of another":          drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t3"})),
			"what becomes of what is sent": drained(sent, err),
		} {
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.InvalidAgentResponse {
				t.Errorf("%s, %s: %v", binding, what, err)
			}
		}
	}
}

func TestACancelThatIsAnsweredWithAnotherTaskIsNotDone(t *testing.T) {
	w := newWires()
	for binding, c := range w.clients(t, &scripted{}, ClientConfig{}) {
		w.spoil(func(_ *http.Request, _ string, done func() *http.Response) (*http.Response, error) {
			return reworded(done(), `"t1"`, `"t2"`)
		})
		_, err := c.CancelTask(t.Context(), wire.Call{}, &wire.CancelTaskRequest{ID: "t1"})
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.InvalidAgentResponse {
			t.Errorf("%s: %v", binding, err)
		}
	}
}

func TestAConnectionThatTellsNothingNewIsNotFollowedByAnother(t *testing.T) {
	w := newWires()
	for binding, c := range w.clients(t, &scripted{stream: func(context.Context, wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			yield(wire.Event{ID: "7", Response: wire.StreamResponse{Task: aTask("t1")}}, nil)
		}, nil
	}}, ClientConfig{}) {
		tries := 0
		w.spoil(func(_ *http.Request, _ string, done func() *http.Response) (*http.Response, error) {
			if tries++; tries > 5 {
				return nil, errRefused
			}
			resp := done()
			body, err := io.ReadAll(resp.Body)
			resp.Body = &breaking{io.NopCloser(strings.NewReader(string(body))), len(body)}
			return resp, err
		})
		if err := drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"})); !errors.Is(err, io.ErrUnexpectedEOF) || tries != 2 {
			t.Errorf("%s: after %d requests it ended in %v", binding, tries, err)
		}
	}
}

func TestAStreamThatSaysNothingAtAllIsNoAnswer(t *testing.T) {
	none := func(context.Context, wire.Call) (events, error) {
		return func(func(wire.Event, error) bool) {}, nil
	}
	for binding, c := range newWires().clients(t, &scripted{stream: none}, ClientConfig{}) {
		sent, err := c.SendStreamingMessage(t.Context(), wire.Call{}, aRequest())
		for _, err := range []error{drained(sent, err), drained(c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: "t1"}))} {
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.InvalidAgentResponse {
				t.Errorf("%s: %v", binding, err)
			}
		}
		if err := drained(c.SubscribeToTask(t.Context(), wire.Call{LastEventID: "7"}, &wire.SubscribeRequest{ID: "t1"})); err != nil {
			t.Errorf("%s: where nothing came since: %v", binding, err)
		}
	}
}

func TestHeadersOfMegabytesAreNoAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 2<<20))
		_, _ = w.Write([]byte(`{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`))
	}))
	defer server.Close()
	c, err := NewClient(wire.AgentInterface{URL: server.URL, ProtocolBinding: wire.HTTPJSON, ProtocolVersion: "1.0"}, ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.GetTask(t.Context(), wire.Call{}, &wire.GetTaskRequest{ID: "t1"}); err == nil {
		t.Error("they were read")
	}
}
