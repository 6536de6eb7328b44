package peers

import "fmt"

// reading are the scenarios of GetTask and ListTasks.
func reading() []scenario {
	read := func(s *scene, between func()) error {
		sent, err := s.peer.Send(s.ctx, s.say("hello"))
		if err != nil {
			return err
		}
		between()
		t, err := s.peer.Get(s.ctx, sent.ID)
		if err == nil && (t.Context != sent.Context || t.History == 0) {
			err = fmt.Errorf("got %+v after %+v", t, sent)
		}
		return want(t, err, completed, "hello to you")
	}
	list := func(s *scene, between func()) error {
		first, err := s.peer.Send(s.ctx, s.say("hello"))
		if err != nil {
			return err
		}
		m := s.say("good day")
		m.Context = first.Context
		second, err := s.peer.Send(s.ctx, m)
		if err != nil {
			return err
		}
		if _, err := s.peer.Send(s.ctx, s.say("of another context")); err != nil {
			return err
		}
		between()
		got, err := s.peer.List(s.ctx, first.Context)
		if err == nil && (len(got) != 2 || got[0].ID != second.ID || got[1].ID != first.ID) {
			err = fmt.Errorf("got %+v, want %s and %s", got, second.ID, first.ID)
		}
		return err
	}
	return []scenario{
		{"GetTask", "plain", func(s *scene) error { return read(s, func() {}) }},
		{"GetTask", "restart", func(s *scene) error { return read(s, s.ours.restart) }},
		{"GetTask", "that is not there", func(s *scene) error {
			_, err := s.peer.Get(s.ctx, "no-such-task")
			return refusal(err, "TASK_NOT_FOUND")
		}},
		{"ListTasks", "plain", func(s *scene) error { return list(s, func() {}) }},
		{"ListTasks", "restart", func(s *scene) error { return list(s, s.ours.restart) }},
		{"ListTasks", "none", func(s *scene) error {
			got, err := s.peer.List(s.ctx, "no-such-context")
			if err == nil && len(got) > 0 {
				err = fmt.Errorf("got %+v", got)
			}
			return err
		}},
	}
}

// cancelling are the scenarios of CancelTask.
func cancelling() []scenario {
	const op = "CancelTask"
	cancel := func(s *scene, id string) error {
		if _, err := s.peer.Cancel(s.ctx, id); err != nil {
			return err
		}
		t, err := s.until(id, canceled)
		return want(t, err, canceled)
	}
	return []scenario{
		{op, "cancel", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			if _, err := s.until(t.ID, working); err != nil {
				return err
			}
			return cancel(s, t.ID)
		}},
		{op, "while it asks", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("ask"))
			if err := want(t, err, inputRequired); err != nil {
				return err
			}
			return cancel(s, t.ID)
		}},
		{op, "that is finished", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("hello"))
			if err != nil {
				return err
			}
			_, err = s.peer.Cancel(s.ctx, t.ID)
			return refusal(err, "TASK_NOT_CANCELABLE")
		}},
		{op, "that is not there", func(s *scene) error {
			_, err := s.peer.Cancel(s.ctx, "no-such-task")
			return refusal(err, "TASK_NOT_FOUND")
		}},
		{op, "restart", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			if _, err := s.until(t.ID, working); err != nil {
				return err
			}
			s.ours.restart()
			return cancel(s, t.ID)
		}},
	}
}

// subscribing are the scenarios of SubscribeToTask.
func subscribing() []scenario {
	const op = "SubscribeToTask"
	follow := func(s *scene, between func()) error {
		t, err := s.begin("wait")
		if err != nil {
			return err
		}
		between()
		told, err := story(s.peer.Subscribe(s.ctx, t.ID), func(event) { s.ours.gate.lift() })
		return ends(told, err, completed, "it was lifted")
	}
	return []scenario{
		{op, "stream", func(s *scene) error { return follow(s, func() {}) }},
		{op, "restart", func(s *scene) error { return follow(s, s.ours.restart) }},
		{op, "while it asks, follow-up meanwhile", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("ask"))
			if err := want(t, err, inputRequired); err != nil {
				return err
			}
			answered := false
			told, err := story(s.peer.Subscribe(s.ctx, t.ID), func(event) {
				if answered {
					return
				}
				answered = true
				answer := s.say("Oulu")
				answer.Task, answer.Immediately = t.ID, true
				if _, err := s.peer.Send(s.ctx, answer); err != nil {
					s.Error(err)
				}
			})
			return ends(told, err, completed, "you said Oulu")
		}},
		{op, "cancel meanwhile", func(s *scene) error {
			t, err := s.begin("wait")
			if err != nil {
				return err
			}
			cancelled := false
			told, err := story(s.peer.Subscribe(s.ctx, t.ID), func(event) {
				if cancelled {
					return
				}
				cancelled = true
				if _, err := s.peer.Cancel(s.ctx, t.ID); err != nil {
					s.Error(err)
				}
			})
			return ends(told, err, canceled, "")
		}},
		{op, "that is finished", func(s *scene) error {
			t, err := s.peer.Send(s.ctx, s.say("hello"))
			if err != nil {
				return err
			}
			_, err = story(s.peer.Subscribe(s.ctx, t.ID), nil)
			return refusal(err, "UNSUPPORTED_OPERATION")
		}},
		{op, "that is not there", func(s *scene) error {
			_, err := story(s.peer.Subscribe(s.ctx, "no-such-task"), nil)
			return refusal(err, "TASK_NOT_FOUND")
		}},
	}
}
