package peers

import (
	"fmt"
	"strings"
)

// sending are the scenarios of SendMessage.
func sending() []scenario {
	const op = "SendMessage"
	return []scenario{
		{op, "blocking", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("hello"))
			return want(t, err, completed, "hello to you")
		}},
		{op, "blocking, data", func(s *scene) error {
			m := s.say("")
			m.Data = `{"a":2,"b":3}`
			t, err := s.peer.Send(s.ctx, m)
			if err == nil && (len(t.Data) != 1 || t.Data[0] != `{"sum":5}`) {
				err = fmt.Errorf("the data is %q", t.Data)
			}
			return want(t, err, completed)
		}},
		{op, "blocking, failing", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("fail"))
			return want(t, err, failed)
		}},
		{op, "blocking, refused", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("refuse"))
			return want(t, err, rejected)
		}},
		{op, "plain", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			if t.State != submitted && t.State != working {
				return fmt.Errorf("the task is %s at once", t.State)
			}
			s.ours.gate.lift()
			t, err = s.until(t.ID, completed)
			return want(t, err, completed, "it was lifted")
		}},
		{op, "twice the same", func(s *scene) error {
			m := s.say("hello")
			first, err := s.peer.Send(s.ctx, m)
			if err != nil {
				return err
			}
			second, err := s.peer.Send(s.ctx, m)
			if err == nil && first.ID != second.ID {
				err = fmt.Errorf("the tasks %s and %s came of one message", first.ID, second.ID)
			}
			return want(second, err, completed, "hello to you")
		}},
		{op, "follow-up to a question", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("ask"))
			if err := want(t, err, inputRequired); err != nil {
				return err
			}
			if t.Said != "which city?" {
				return fmt.Errorf("the question is %q", t.Said)
			}
			answer := s.say("Oulu")
			answer.Task = t.ID
			t, err = s.peer.Send(s.ctx, answer)
			return want(t, err, completed, "you said Oulu")
		}},
		{op, "follow-up to a running task", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			if _, err := s.until(t.ID, working); err != nil {
				return err
			}
			more := s.say("and quickly, please")
			more.Task, more.Context, more.Immediately = t.ID, t.Context, true
			got, err := s.peer.Send(s.ctx, more)
			if err == nil && got.ID != t.ID {
				err = fmt.Errorf("it came to task %s, not %s", got.ID, t.ID)
			}
			if err := want(got, err, working); err != nil {
				return err
			}
			s.ours.gate.lift()
			t, err = s.until(t.ID, completed)
			return want(t, err, completed, "it was lifted")
		}},
		{op, "follow-up to a finished task", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("hello"))
			if err != nil {
				return err
			}
			more := s.say("and more")
			more.Task = t.ID
			_, err = s.peer.Send(s.ctx, more)
			return refusal(err, "UNSUPPORTED_OPERATION")
		}},
		{op, "to a task that is not there", func(s *scene) error {
			m := s.say("hello")
			m.Task = "no-such-task"
			_, err := s.peer.Send(s.ctx, m)
			return refusal(err, "TASK_NOT_FOUND")
		}},
		{op, "restart", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			s.ours.restart()
			s.ours.gate.lift()
			t, err = s.until(t.ID, completed)
			return want(t, err, completed, "it was lifted")
		}},
		{op, "twice the same, restart between", func(s *scene) error {
			m := s.say("hello")
			first, err := s.peer.Send(s.ctx, m)
			if err != nil {
				return err
			}
			s.ours.restart()
			second, err := s.peer.Send(s.ctx, m)
			if err == nil && first.ID != second.ID {
				err = fmt.Errorf("the tasks %s and %s came of one message", first.ID, second.ID)
			}
			return want(second, err, completed, "hello to you")
		}},
		{op, "follow-up to a question, restart before", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("ask"))
			if err := want(t, err, inputRequired); err != nil {
				return err
			}
			s.ours.restart()
			answer := s.say("Oulu")
			answer.Task = t.ID
			t, err = s.peer.Send(s.ctx, answer)
			return want(t, err, completed, "you said Oulu")
		}},
	}
}

// streaming are the scenarios of SendStreamingMessage.
func streaming() []scenario {
	const op = "SendStreamingMessage"
	return []scenario{
		{op, "stream", func(s *scene) error {
			told, err := story(s.peer.Stream(s.ctx, s.say("hello")), nil)
			return ends(told, err, completed, "hello to you")
		}},
		{op, "stream, failing", func(s *scene) error {
			told, err := story(s.peer.Stream(s.ctx, s.say("fail")), nil)
			return ends(told, err, failed, "failed: permanent (no-luck)")
		}},
		{op, "stream, a line of 200 kB", func(s *scene) error {
			m := s.say("")
			word := `"` + strings.Repeat("x", 50_000) + `"`
			m.Data = fmt.Sprintf(`{"echo":[%s,%s,%s,%s]}`, word, word, word, word)
			told, err := story(s.peer.Stream(s.ctx, m), nil)
			return ends(told, err, completed, m.Data)
		}},
		{op, "follow-up", func(s *scene) error {
			id := ""
			told, err := story(s.peer.Stream(s.ctx, s.say("ask")), func(e event) { id = e.Task })
			if err := ends(told, err, inputRequired, "which city?"); err != nil {
				return err
			}
			answer := s.say("Oulu")
			answer.Task = id
			told, err = story(s.peer.Stream(s.ctx, answer), nil)
			return ends(told, err, completed, "you said Oulu")
		}},
		{op, "cancel", func(s *scene) error {
			told, err := story(s.peer.Stream(s.ctx, s.say("wait")), func(e event) {
				if e.State == working {
					if _, err := s.peer.Cancel(s.ctx, e.Task); err != nil {
						s.Error(err)
					}
				}
			})
			return ends(told, err, canceled, "")
		}},
		{op, "restart", func(s *scene) error {
			id := ""
			_, _ = story(s.peer.Stream(s.ctx, s.say("wait")), func(e event) { // it breaks, as the server does
				if e.State == working {
					id = e.Task
					s.ours.restart()
				}
			})
			told, err := story(s.peer.Subscribe(s.ctx, id), func(event) { s.ours.gate.lift() })
			return ends(told, err, completed, "it was lifted")
		}},
	}
}
