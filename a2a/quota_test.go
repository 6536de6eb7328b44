package a2a

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestACallerThatAsksTooOftenIsToldWhenToComeBack(t *testing.T) {
	cfg := Config{Rate: 0.5, Burst: 3, Authenticate: []Authenticator{BearerTokens(Secrets(map[string]string{"a": "ann", "b": "bob"}))}}
	s := newSite(t, cfg, &scripted{}) // its time stands still
	for i := range 3 {
		if r := s.ask("GET", "/tasks", "", "Authorization", "Bearer a"); r.StatusCode != http.StatusOK {
			t.Fatalf("request %d: %d", i, r.StatusCode)
		}
	}
	for range 3 { // a refused request costs nothing
		r := s.ask("GET", "/tasks", "", "Authorization", "Bearer a")
		r.expect(t, http.StatusTooManyRequests, wire.Overloaded)
		if got := r.Header.Get("Retry-After"); got != "2" {
			t.Errorf("retry after %q", got)
		}
	}
	s.rpc("/", wire.ListTasks, `{}`, "Authorization", "Bearer a").expect(t, http.StatusTooManyRequests, wire.Overloaded)
	if r := s.ask("GET", "/tasks", "", "Authorization", "Bearer b"); r.StatusCode != http.StatusOK {
		t.Errorf("another caller: %d", r.StatusCode)
	}
}

func TestWhoGuessesSecretsIsSlowedDownByAddress(t *testing.T) {
	cfg := Config{Rate: 1, Burst: 2, Authenticate: []Authenticator{BearerTokens(Secrets(map[string]string{"a": "ann"}))}}
	s := newSite(t, cfg, &scripted{})
	for i, want := range []int{401, 401, 429} {
		if r := s.ask("GET", "/tasks", "", "Authorization", fmt.Sprint("Bearer ", i)); r.StatusCode != want {
			t.Errorf("guess %d: %d, want %d", i, r.StatusCode, want)
		}
	}
}

func TestCardsCountToo(t *testing.T) {
	s := newSite(t, Config{Rate: 1, Burst: 2}, &scripted{})
	for i, want := range []int{200, 200, 429} {
		if r := s.ask("GET", wire.CardPath, ""); r.StatusCode != want {
			t.Errorf("card %d: %d, want %d", i, r.StatusCode, want)
		}
	}
}

func TestAQuotaComesBackWithTime(t *testing.T) {
	q := newQuota(Config{Rate: 2, Burst: 1})
	now := time.Unix(1e9, 0)
	for _, x := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {0, false}, {499 * time.Millisecond, false}, {500 * time.Millisecond, true}, {501 * time.Millisecond, false}} {
		if _, ok := q.take("a", now.Add(x.after)); ok != x.ok {
			t.Errorf("after %v: %v", x.after, ok)
		}
	}
}

func TestAQuotaRemembersSoManyCallers(t *testing.T) {
	q := newQuota(Config{Rate: 1, Burst: 1})
	now := time.Unix(1e9, 0)
	served := 0
	for i := range 2 * maxAccounts {
		q.take(fmt.Sprint(i), now)
		if _, ok := q.take("regular", now); ok {
			served++
		}
	}
	if len(q.accounts) != maxAccounts || q.recent.Len() != maxAccounts {
		t.Errorf("%d and %d accounts", len(q.accounts), q.recent.Len())
	}
	if served != 1 {
		t.Errorf("a caller who comes often was forgotten: served %d times", served)
	}
	for range 100 {
		if _, ok := newQuota(Config{Rate: -1}).take("a", now); !ok {
			t.Error("without a limit a request was refused")
		}
	}
}

func TestACallerHasSoManyStreams(t *testing.T) {
	s := &scripted{stream: func(ctx context.Context, _ wire.Call) (events, error) {
		return func(yield func(wire.Event, error) bool) {
			yield(update(0, "a"), nil)
			<-ctx.Done()
		}, nil
	}}
	inBubble(t, Config{MaxStreams: 2}, s, func(b *bubble) {
		ctx, cancel := context.WithCancel(b.t.Context())
		defer cancel()
		first, _ := b.open(ctx)
		second, _ := b.open(b.t.Context())
		third, _ := b.open(b.t.Context())
		if first.StatusCode != 200 || second.StatusCode != 200 || third.StatusCode != http.StatusTooManyRequests || third.Header.Get("Retry-After") != "1" {
			b.t.Errorf("got %d, %d, %d", first.StatusCode, second.StatusCode, third.StatusCode)
		}
		_ = third.Body.Close()
		cancel()
		_ = first.Body.Close()
		time.Sleep(time.Second) // of the bubble's time: the server learns that the first is gone
		fourth, _ := b.open(b.t.Context())
		if fourth.StatusCode != 200 {
			b.t.Errorf("after one has gone: %d", fourth.StatusCode)
		}
		_ = second.Body.Close()
		_ = fourth.Body.Close()
	})
}

func TestACallerHasSoManyCallsInProgress(t *testing.T) {
	q := newQuota(Config{MaxCalls: 2, MaxStreams: 1}.withDefaults())
	first, ok := q.call("ann")
	_, alsoOK := q.call("ann")
	if !ok || !alsoOK {
		t.Fatal("two calls are not let in")
	}
	if _, ok := q.call("ann"); ok {
		t.Error("a third call is let in")
	}
	for name, ok := range map[string]bool{"a stream": letIn(q.stream("ann")), "somebody else's call": letIn(q.call("bob"))} {
		if !ok {
			t.Errorf("%s is not let in", name)
		}
	}
	first()
	first()
	if !letIn(q.call("ann")) || letIn(q.call("ann")) {
		t.Error("one that has ended gives its place to one other")
	}
}

func letIn(_ func(), ok bool) bool { return ok }

func TestACallThatIsOneTooManyIsToldToComeBack(t *testing.T) {
	begun, free := make(chan struct{}), make(chan struct{})
	s := newSite(t, Config{MaxCalls: 1}, &scripted{get: func(context.Context, *wire.GetTaskRequest) (*wire.Task, error) {
		close(begun)
		<-free
		return aTask("t1"), nil
	}})
	first := make(chan reply)
	go func() { first <- s.rpc("/", wire.GetTask, `{"id":"t1"}`) }()
	<-begun
	second := s.rpc("/", wire.GetTask, `{"id":"t1"}`)
	if second.expect(t, http.StatusTooManyRequests, wire.Overloaded); second.Header.Get("Retry-After") != "1" {
		t.Errorf("it is told to come back after %q", second.Header.Get("Retry-After"))
	}
	close(free)
	if r := <-first; r.StatusCode != http.StatusOK {
		t.Errorf("the first call ended with %d", r.StatusCode)
	}
}

func TestWhoIsNotKnownCountsByAddress(t *testing.T) {
	for want, c := range map[string]struct {
		access Access
		from   string
	}{
		"192.0.2.1":           {Access{Caller: "agent://local/anonymous"}, "192.0.2.1:99"},
		"2001:db8::1":         {Access{}, "[2001:db8::1]:99"},
		"@":                   {Access{}, "@"},
		"agent://local/x-123": {Access{Caller: "agent://local/x-123", Identity: &Identity{}}, "192.0.2.1:99"},
	} {
		if got := payer(c.access, &http.Request{RemoteAddr: c.from}); got != want {
			t.Errorf("%+v from %s: %q, want %q", c.access, c.from, got, want)
		}
	}
}
