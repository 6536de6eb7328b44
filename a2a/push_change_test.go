package a2a

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestADeletedConfigIsNotPostedToAnyMore(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(p post) int {
			<-p.ctx.Done()
			return http.StatusOK
		}
		task := s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		s.wantAt("a.example", "a task SUBMITTED")
		for range 2 {
			if err := s.DeletePushConfig(t.Context(), s.call("t1"), &wire.PushConfigRequest{TaskID: "t1", ID: id}); err != nil {
				t.Fatal(err)
			}
			if s.hooks.posts[0].ctx.Err() == nil {
				t.Error("the attempt under way goes on")
			}
		}
		task.move(wire.Completed)
		time.Sleep(time.Hour)
		s.wantAt("a.example", "a task SUBMITTED")
		if n := len(s.to.loops); n != 0 || s.said.String() != "" && !strings.Contains(s.said.String(), "webhook removed") {
			t.Errorf("%d loops are left; the log says %s", n, s.said)
		}
	})
}

func TestAWebhookThatIsGoneForGoodIsRemoved(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(post) int { return http.StatusGone }
		task := s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		synctest.Wait()
		_, err := s.GetPushConfig(t.Context(), s.call("t1"), &wire.PushConfigRequest{TaskID: "t1", ID: id})
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.TaskNotFound {
			t.Errorf("getting it: %v", err)
		}
		task.move(wire.Completed)
		time.Sleep(time.Hour)
		s.wantAt("a.example", "a task SUBMITTED")
		if n := len(s.to.loops); n != 0 || s.said.String() != "" && !strings.Contains(s.said.String(), "webhook removed") {
			t.Errorf("%d loops are left; the log says %s", n, s.said)
		}
	})
}

func TestAConfigThatTakesTheRemovedOnesPlaceStays(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		replace := func(url string) {
			if _, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: "mine", URL: url}); err != nil {
				t.Error(err)
			}
		}
		s.hooks.answer = func(p post) int {
			if p.host == "old.example" {
				replace("https://new.example/")
				return http.StatusGone
			}
			return http.StatusOK
		}
		replace("https://old.example/")
		s.wantAt("new.example", "a task SUBMITTED")
		if c := s.callback("t1", "mine"); c.Place != "1" {
			t.Errorf("the new config's place is %q", c.Place)
		}
	})
}

func TestAReplacedConfigGoesOnAtItsURLAndBeginsAnewAtAnother(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		task := s.open("t1", pushPeer)
		replace := func(url, token string) {
			if _, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: "mine", URL: url, Token: token}); err != nil {
				t.Fatal(err)
			}
		}
		s.hooks.answer = func(p post) int {
			if p.n > 1 && p.head.Get("X-A2A-Notification-Token") == "old" {
				return http.StatusForbidden
			}
			return http.StatusOK
		}
		replace("https://a.example/", "old")
		s.wantAt("a.example", "a task SUBMITTED")
		task.move(wire.Working)
		s.wantAt("a.example", "a task SUBMITTED", "WORKING")
		replace("https://a.example/", "new")
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task WORKING", "WORKING")
		replace("https://b.example/", "new")
		s.wantAt("b.example", "a task WORKING")
		replace("https://c.example/", "new")
		task.move(wire.Completed)
		s.wantAt("a.example", "a task SUBMITTED", "WORKING", "a task WORKING", "WORKING")
		s.wantAt("b.example", "a task WORKING")
		if told := s.hooks.at("c.example"); len(told) == 0 || !strings.HasSuffix(told[len(told)-1], "COMPLETED") {
			t.Errorf("the last URL was told %v", told)
		}
	})
}

func TestAConfigThatIsSetUpAgainAsItIsDisturbsNothing(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.hooks.answer = func(p post) int {
			if p.n == 1 {
				time.Sleep(time.Second)
			}
			return http.StatusOK
		}
		task := s.open("t1", pushPeer)
		again := func() {
			if _, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: "mine", URL: "https://a.example/"}); err != nil {
				t.Fatal(err)
			}
		}
		again()
		synctest.Wait()
		again()
		time.Sleep(time.Second)
		task.move(wire.Completed)
		s.wantAt("a.example", "a task SUBMITTED", "COMPLETED")
		again()
		s.wantAt("a.example", "a task SUBMITTED", "COMPLETED")
	})
}

func TestAConfigThatIsSetUpAnewDoesNotWaitForTheNextAttempt(t *testing.T) {
	for _, url := range []string{"https://dead.example/", "https://a.example/"} {
		inPushBubble(t, func(t *testing.T, s *pushStage) {
			up := false
			s.hooks.answer = func(post) int {
				if up {
					return http.StatusOK
				}
				return http.StatusBadGateway
			}
			s.open("t1", pushPeer)
			id := s.set("t1", "https://dead.example/")
			time.Sleep(time.Hour)
			synctest.Wait()
			up = true
			begun, before := time.Now(), len(s.hooks.posts)
			if _, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: id, URL: url}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if took := time.Since(begun); took != 0 || len(s.hooks.posts) != before+1 {
				t.Errorf("%s: it took %s and %d posts", url, took, len(s.hooks.posts)-before)
			}
		})
	}
}
