package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// hook is a webhook: what came to it, as the words of story.
type hook struct {
	*httptest.Server
	came chan string
}

// listen starts a webhook that wants to be told who calls.
func (s *scene) listen() *hook {
	h := &hook{came: make(chan string, 100)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of good news" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.came <- word(body)
	}))
	s.Cleanup(h.Close)
	return h
}

// word is what a notification says.
func word(body []byte) string {
	type status struct{ State string }
	var got struct {
		Task, StatusUpdate *struct{ Status status }
		ArtifactUpdate     *struct {
			Artifact struct{ Parts []struct{ Text string } }
		}
	}
	switch err := json.Unmarshal(body, &got); {
	case err != nil:
		return err.Error()
	case got.Task != nil:
		return got.Task.Status.State
	case got.StatusUpdate != nil:
		return got.StatusUpdate.Status.State
	case got.ArtifactUpdate != nil && len(got.ArtifactUpdate.Artifact.Parts) == 1:
		return got.ArtifactUpdate.Artifact.Parts[0].Text
	}
	return string(body)
}

// told waits until the webhook was told the word.
func (s *scene) told(h *hook, word string) error {
	var all []string
	for {
		select {
		case <-s.ctx.Done():
			return fmt.Errorf("the webhook was told %q, and not %s", all, word)
		case got := <-h.came:
			if all = append(all, got); got == word {
				return nil
			}
		}
	}
}

// pushing are the scenarios of the operations on push configurations.
func pushing() []scenario {
	set := func(s *scene) (push, *hook, error) {
		t, err := s.begin("wait")
		if err != nil {
			return push{}, nil, err
		}
		h := s.listen()
		asked := push{Task: t.ID, ID: "mine", URL: h.URL, Scheme: "Bearer", Credentials: "of good news"}
		got, err := s.peer.SetPush(s.ctx, asked)
		got.Credentials = asked.Credentials // a server need not show them
		if err == nil && got != asked {
			err = fmt.Errorf("got %+v", got)
		}
		return got, h, err
	}
	same := func(got, want push, err error) error {
		if err == nil && (got.Task != want.Task || got.ID != want.ID || got.URL != want.URL) {
			err = fmt.Errorf("got %+v, want %+v", got, want)
		}
		return err
	}
	return []scenario{
		{"CreateTaskPushNotificationConfig", "plain", func(s *scene) error {
			_, h, err := set(s)
			if err != nil {
				return err
			}
			s.ours.gate.lift()
			return s.told(h, completed)
		}},
		{"CreateTaskPushNotificationConfig", "with the message", func(s *scene) error {
			h := s.listen()
			m := s.say("hello")
			m.Immediately = true
			m.Push = &push{ID: "mine", URL: h.URL, Scheme: "Bearer", Credentials: "of good news"}
			if _, err := s.peer.Send(s.ctx, m); err != nil {
				return err
			}
			return s.told(h, completed)
		}},
		{"CreateTaskPushNotificationConfig", "restart", func(s *scene) error {
			_, h, err := set(s)
			if err != nil {
				return err
			}
			s.ours.restart()
			s.ours.gate.lift()
			return s.told(h, completed)
		}},
		{"CreateTaskPushNotificationConfig", "of a task that is not there", func(s *scene) error {
			_, err := s.peer.SetPush(s.ctx, push{Task: "no-such-task", ID: "mine", URL: "https://hooks.example/here"})
			return refusal(err, "TASK_NOT_FOUND")
		}},
		{"GetTaskPushNotificationConfig", "plain", func(s *scene) error {
			want, _, err := set(s)
			if err != nil {
				return err
			}
			got, err := s.peer.GetPush(s.ctx, want.Task, want.ID)
			return same(got, want, err)
		}},
		{"GetTaskPushNotificationConfig", "restart", func(s *scene) error {
			want, _, err := set(s)
			if err != nil {
				return err
			}
			s.ours.restart()
			got, err := s.peer.GetPush(s.ctx, want.Task, want.ID)
			return same(got, want, err)
		}},
		{"ListTaskPushNotificationConfigs", "plain", func(s *scene) error {
			want, _, err := set(s)
			if err != nil {
				return err
			}
			other := want
			other.ID = "other"
			if _, err := s.peer.SetPush(s.ctx, other); err != nil {
				return err
			}
			got, err := s.peer.ListPush(s.ctx, want.Task)
			var ids []string
			for _, p := range got {
				ids = append(ids, p.ID)
			}
			slices.Sort(ids)
			if err == nil && strings.Join(ids, " ") != "mine other" {
				err = fmt.Errorf("got %+v", got)
			}
			return err
		}},
		{"DeleteTaskPushNotificationConfig", "plain", func(s *scene) error {
			p, _, err := set(s)
			if err != nil {
				return err
			}
			for range 2 { // the second time it is gone already
				if err := s.peer.DeletePush(s.ctx, p.Task, p.ID); err != nil {
					return err
				}
			}
			if got, err := s.peer.GetPush(s.ctx, p.Task, p.ID); err == nil {
				return fmt.Errorf("got %+v", got)
			}
			return nil
		}},
	}
}

// describing are the scenarios of the cards.
func describing() []scenario {
	check := func(c card, err error) error {
		if err == nil && (c.Name != "desk" || len(c.Skills) != 3 || !slices.Contains(c.Extensions, extension)) {
			err = fmt.Errorf("got %+v", c)
		}
		return err
	}
	return []scenario{
		{"the card", "plain", func(s *scene) error { return check(s.peer.Card(s.ctx)) }},
		{"GetExtendedAgentCard", "plain", func(s *scene) error { return check(s.peer.ExtendedCard(s.ctx)) }},
	}
}

// extension is the URI of our extension, as the rest of the world sees it.
const extension = "https://github.com/parley-agents/parley/extensions/envelope/v1"
