package protocol

import "time"

// Timers are the timers that run in the exchange's present state, by when
// each is due. They follow from the exchange alone, so a store that writes
// them beside it can never hold one that belongs to a state left behind.
func (x Exchange) Timers() map[Timer]time.Time {
	p, err := Lookup(x.Protocol)
	if err != nil || x.Done() {
		return nil
	}
	due := map[Timer]time.Time{}
	run := func(t Timer, at time.Time) {
		if !at.IsZero() {
			due[t] = at
		}
	}
	table := p.Table(x.Role)
	rows := false
	for _, t := range timers() {
		if _, row := table.Next(x.State, t.Firing()); row {
			rows = true
			run(t, x.due(t))
		}
	}
	switch {
	case x.Role == Participant && (x.State == cancelling || x.State == stopping):
		run(TimerCancelBy, x.CancelBy)
	case x.Role == Participant && p.runtimeAgrees:
		if _, agrees := table.Next(x.State, "!agree"); agrees {
			run(TimerAgree, x.AgreeBy)
		}
	case x.Role == Initiator && !rows:
		t := implied(table, x)
		run(t, x.due(t))
	}
	return due
}

func timers() [6]Timer {
	return [...]Timer{TimerReplyBy, TimerCancelBy, TimerGrace, TimerLease, TimerGatherBy, TimerAckBy}
}

// implied is the timer of an initiator's state that has none in the table: a
// gather that has waited long enough is fenced, everything else is cancelled.
func implied(table *Table, x Exchange) Timer {
	if _, fences := table.Next(x.State, "!"+fence); fences {
		if !x.CancelBy.IsZero() {
			return TimerCancelBy
		}
		return TimerGatherBy
	}
	if _, cancels := table.Next(x.State, "!cancel"); cancels {
		return TimerReplyBy
	}
	return ""
}

// due is when the timer fires, if it runs; zero if that is not known yet.
func (x Exchange) due(t Timer) time.Time {
	switch t {
	case TimerReplyBy, TimerGatherBy:
		return x.ReplyBy
	case TimerGrace:
		return after(x.ReplyBy, Grace)
	case TimerCancelBy:
		return x.CancelBy
	case TimerAckBy:
		return x.AckBy
	case TimerLease:
		if x.Protocol != GatherV1 {
			return x.LeaseBy
		}
		// Until the gather's deadline the coordinator has nothing to say to a
		// member that has answered.
		if last := after(x.ReplyBy, Lease); last.After(x.LeaseBy) {
			return last
		}
		return x.LeaseBy
	}
	return time.Time{}
}

func after(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}
