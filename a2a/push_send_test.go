package a2a

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// inPushBubble runs a test of webhooks where time is not real.
func inPushBubble(t *testing.T, f func(t *testing.T, s *pushStage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newPushStage(t)
		defer func() { s.stop() }()
		f(t, s)
	})
}

// wantAt fails the test unless the host was posted that, failed attempts
// included; "a task X" is the task as it is, "X" its new state.
func (s *pushStage) wantAt(host string, want ...string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.hooks.at(host); !slices.Equal(got, want) {
		s.t.Errorf("%s was told %v, want %v", host, got, want)
	}
}

func (s *pushStage) callback(task, id string) store.Callback {
	s.t.Helper()
	c, err := s.records.Callback(s.t.Context(), store.CallbackKey{Owner: pushOwner, Task: task, ID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func TestAWebhookIsToldEverythingInOrderUntilItsTaskHasEnded(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		task := s.open("t1", pushPeer)
		task.move(wire.Working)
		id := s.set("t1", "https://a.example/hook")
		s.wantAt("a.example", "a task WORKING")
		task.move(wire.InputRequired)
		s.wantAt("a.example", "a task WORKING", "INPUT_REQUIRED")
		if c := s.callback("t1", id); c.Place != "3" || c.Done {
			t.Errorf("its place is %q, done %v", c.Place, c.Done)
		}
		task.move(wire.Working)
		task.move(wire.Completed)
		s.wantAt("a.example", "a task WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED")
		if c := s.callback("t1", id); c.Place != "5" || !c.Done {
			t.Errorf("its place is %q, done %v", c.Place, c.Done)
		}
	})
}

func TestAWebhookOfATaskThatHasEndedIsToldAllTheSame(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer).move(wire.Completed)
		time.Sleep(48 * time.Hour)
		id := s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task COMPLETED")
		if !s.callback("t1", id).Done {
			t.Error("it is not done")
		}
	})
}

func TestANotificationSaysWhoItIsFrom(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		_, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", URL: "https://a.example/", Token: "tok",
			Authentication: &wire.Authentication{Scheme: "Bearer", Credentials: "secret"}})
		if err != nil {
			t.Fatal(err)
		}
		s.open("t2", pushPeer)
		s.set("t2", "https://b.example/")
		synctest.Wait()
		for _, p := range s.hooks.posts {
			want := map[string]string{"Content-Type": "application/a2a+json", "Authorization": "Bearer secret", "X-A2A-Notification-Token": "tok"}
			if p.host == "b.example" {
				want["Authorization"], want["X-A2A-Notification-Token"] = "", ""
			}
			for name, value := range want {
				if got := p.head.Get(name); got != value {
					t.Errorf("%s: %s is %q, want %q", p.host, name, got, value)
				}
			}
		}
	})
}

func TestAWebhookThatFailsTwiceIsToldAgainWithinALongerWaitEachTime(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(p post) int {
			if p.n == 2 || p.n == 3 {
				return http.StatusServiceUnavailable
			}
			return http.StatusNoContent
		}
		task := s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task SUBMITTED")
		task.move(wire.Working, wire.Completed)
		s.wantAt("a.example", "a task SUBMITTED", "WORKING")
		if c := s.callback("t1", id); c.Attempt != 1 || c.Place != "1" || time.Until(c.NextAt) > time.Second {
			t.Errorf("after one failure: attempt %d, place %q, next in %s", c.Attempt, c.Place, time.Until(c.NextAt))
		}
		time.Sleep(3 * time.Second)
		// What goes on begins with the task as it is; only then comes what failed.
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task COMPLETED", "a task COMPLETED", "WORKING", "COMPLETED")
		if c := s.callback("t1", id); c.Attempt != 0 || !c.Done {
			t.Errorf("in the end: attempt %d, done %v", c.Attempt, c.Done)
		}
		first, second, third := s.hooks.posts[1].at, s.hooks.posts[2].at, s.hooks.posts[3].at
		if second.Sub(first) > time.Second || third.Sub(second) > 2*time.Second || !first.Before(second) || !second.Before(third) {
			t.Errorf("the waits were %s and %s, want at most 1s and 2s", second.Sub(first), third.Sub(second))
		}
	})
}

func TestTheWaitBetweenAttemptsIsSpreadAndHasABound(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		for _, c := range []struct {
			attempts int
			ceiling  time.Duration
		}{{0, time.Second}, {1, time.Second}, {2, 2 * time.Second}, {9, 256 * time.Second}, {10, 5 * time.Minute}, {1 << 20, 5 * time.Minute}} {
			var least, most time.Duration = c.ceiling, 0
			for range 500 {
				wait := s.to.backoff(c.attempts)
				least, most = min(least, wait), max(most, wait)
			}
			if least <= 0 || most > c.ceiling || least > c.ceiling/4 || most < 3*c.ceiling/4 {
				t.Errorf("after %d failures the waits are %s to %s, want them spread up to %s", c.attempts, least, most, c.ceiling)
			}
		}
	})
}

func TestAWebhookThatAsksForTimeGetsItWithinBounds(t *testing.T) {
	for asked, want := range map[string]time.Duration{"40": 40 * time.Second, "65535": pushRetryMax, "99999999999999999999": pushRetryMax, "-7": 0, "soon": 0} {
		inPushBubble(t, func(t *testing.T, s *pushStage) {
			s.hooks.retryAfter = asked
			s.hooks.answer = func(post) int { return http.StatusTooManyRequests }
			s.open("t1", pushPeer)
			id := s.set("t1", "https://a.example/")
			synctest.Wait()
			wait := time.Until(s.callback("t1", id).NextAt)
			if wait < want-time.Millisecond || wait > max(want, pushRetryFirst) {
				t.Errorf("after Retry-After: %s it waits %s", asked, wait)
			}
		})
	}
}

func TestARestartedHostTellsAWebhookWhatItWasNotTold(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		task := s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task SUBMITTED")
		// The webhook takes the next event, but the host ends before it hears so.
		s.hooks.answer = func(p post) int {
			if p.n == 2 {
				<-p.ctx.Done()
			}
			return http.StatusOK
		}
		task.move(wire.Working)
		s.wantAt("a.example", "a task SUBMITTED", "WORKING")
		s.stop()
		if c := s.callback("t1", id); c.Place != "1" || c.Attempt != 0 {
			t.Fatalf("what was broken off counts: place %q, attempt %d", c.Place, c.Attempt)
		}
		task.move(wire.Completed)
		time.Sleep(72 * time.Hour) // longer than a webhook that fails is tried
		s.start()
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task COMPLETED", "WORKING", "COMPLETED")
		if !s.callback("t1", id).Done {
			t.Error("it is not done")
		}
		s.stop()
		s.start()
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task COMPLETED", "WORKING", "COMPLETED")
	})
}

func TestAPlaceThatCannotBeWrittenCostsASecondPostAndNoEvent(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		var failed atomic.Int32
		s.records.fault = func(c store.Callback) error {
			if c.Place == "2" && failed.Add(1) == 1 {
				return store.ErrFull
			}
			return nil
		}
		task := s.open("t1", pushPeer)
		s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task SUBMITTED")
		task.move(wire.Working, wire.Completed)
		time.Sleep(2 * time.Second)
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task COMPLETED", "WORKING", "COMPLETED")
	})
}

func TestWhatAWebhookTookIsRecordedThoughTheHostStops(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.records.fault = func(store.Callback) error {
			s.cancel()
			return nil
		}
		s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task SUBMITTED")
		if c := s.callback("t1", id); c.Place != "1" {
			t.Errorf("its place is %q", c.Place)
		}
	})
}

func TestASilentWebhookDelaysNeitherItsTaskNorAnother(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(p post) int {
			if p.host == "dead.example" {
				<-p.ctx.Done()
			}
			return http.StatusOK
		}
		begun := time.Now()
		for n := range 50 {
			name := fmt.Sprintf("t%d", n)
			s.open(name, pushPeer)
			s.set(name, "https://dead.example/")
		}
		task := s.open("live", pushPeer)
		s.set("live", "https://dead.example/")
		s.set("live", "https://live.example/")
		s.wantAt("live.example", "a task SUBMITTED")
		task.move(wire.Working, wire.Completed)
		s.wantAt("live.example", "a task SUBMITTED", "WORKING", "COMPLETED")
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %s", took)
		}
		if n := len(s.hooks.at("dead.example")); n != maxPostsPerHost {
			t.Errorf("%d attempts at once at one host, want %d", n, maxPostsPerHost)
		}
		time.Sleep(pushTimeout + time.Millisecond)
		synctest.Wait()
		if n := len(s.hooks.at("dead.example")); n < 2*maxPostsPerHost {
			t.Errorf("%d attempts after the first timed out, want the next ones begun", n)
		}
	})
}

func TestAWebhookIsGivenUpADayAfterItsTaskHasEnded(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(p post) int { return p.n % 2 * http.StatusFound }
		task := s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/?key=secret")
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if s.callback("t1", id).Done {
			t.Fatal("it was given up while its task goes on")
		}
		task.move(wire.Completed)
		time.Sleep(pushPatience - pushRetryMax)
		synctest.Wait()
		if s.callback("t1", id).Done {
			t.Fatal("it was given up before the day was over")
		}
		time.Sleep(pushRetryMax)
		synctest.Wait()
		tried := len(s.hooks.at("a.example"))
		if !s.callback("t1", id).Done {
			t.Error("it was not given up")
		}
		time.Sleep(pushPatience)
		synctest.Wait()
		if n := len(s.hooks.at("a.example")); n != tried {
			t.Errorf("%d attempts after that", n-tried)
		}
		if said := s.said.String(); strings.Contains(said, "secret") || !strings.Contains(said, "given up") {
			t.Errorf("the log says %.300q…", said)
		}
	})
}

func TestManyWebhooksAreAllToldAndNoHostIsFlooded(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		const tasks, hosts = 400, 3
		var now, most [hosts]atomic.Int32
		var all [tasks]*stagedTask
		s.hooks.answer = func(p post) int {
			host := int(p.host[0] - 'a')
			n := now[host].Add(1)
			for m := most[host].Load(); n > m && !most[host].CompareAndSwap(m, n); m = most[host].Load() {
			}
			time.Sleep(10 * time.Millisecond)
			now[host].Add(-1)
			return http.StatusOK
		}
		for n := range tasks {
			name := fmt.Sprintf("t%d", n)
			all[n] = s.open(name, pushPeer)
			s.set(name, fmt.Sprintf("https://%c.example/", 'a'+n%hosts))
		}
		time.Sleep(time.Minute)
		for _, task := range all {
			task.move(wire.Working, wire.Completed)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		told := map[string][]wire.TaskState{}
		for _, p := range s.hooks.posts {
			told[p.task] = append(told[p.task], p.state)
		}
		if len(told) != tasks {
			t.Errorf("%d tasks were told of, want %d", len(told), tasks)
		}
		for task, states := range told {
			if !slices.Equal(states, []wire.TaskState{wire.Submitted, wire.Working, wire.Completed}) {
				t.Errorf("%s: %v", task, states)
			}
		}
		for n := range most {
			if m := most[n].Load(); m != maxPostsPerHost {
				t.Errorf("host %d was called %d times at once, want %d", n, m, maxPostsPerHost)
			}
		}
		if len(s.to.lanes.hosts) != 0 || len(s.to.loops) != 0 {
			t.Errorf("%d lanes and %d loops are left", len(s.to.lanes.hosts), len(s.to.loops))
		}
	})
}
