package protocol

import "time"

// Alarm is a timer that runs, and when it is due.
type Alarm struct {
	Timer Timer
	At    time.Time
}

// Timers are the timers that run in the exchange's present state, by when
// each is due. They follow from the exchange alone, so a store that writes
// them beside it can never hold one that belongs to a state left behind.
func (x Exchange) Timers() map[Timer]time.Time {
	if _, err := Lookup(x.Protocol); err != nil || x.Done() {
		return nil
	}
	due := map[Timer]time.Time{}
	for _, a := range x.appendAlarms(nil) {
		due[a.Timer] = a.At
	}
	return due
}

// NextAlarm is the earliest of Timers, the first by name if several are due at one
// time. It is false if none runs.
func (x Exchange) NextAlarm() (next Alarm, runs bool) {
	var room allAlarms
	for _, a := range x.appendAlarms(room[:0]) {
		if !runs || a.At.Before(next.At) {
			next, runs = a, true
		}
	}
	return next, runs
}

// appendAlarms appends what Timers has to a list, in the order of the names.
func (x Exchange) appendAlarms(list []Alarm) []Alarm {
	p, err := Lookup(x.Protocol)
	if err != nil || x.Done() {
		return list
	}
	table := p.Table(x.Role)
	rows := false
	for _, t := range timers() {
		_, row := table.Next(x.State, t.Firing())
		rows = rows || row
		if row || x.unwritten(p, table) == t {
			list = x.appendAlarm(list, t)
		}
	}
	if x.Role == Initiator && !rows {
		list = x.appendAlarm(list, implied(table, x))
	}
	return list
}

func (x Exchange) appendAlarm(list []Alarm, t Timer) []Alarm {
	if at := x.due(t); !at.IsZero() {
		return append(list, Alarm{t, at})
	}
	return list
}

// unwritten is the timer of a participant's state that has no row in the table,
// "" if none.
func (x Exchange) unwritten(p *Protocol, table *Table) Timer {
	if x.Role != Participant {
		return ""
	}
	if x.State == cancelling || x.State == stopping {
		return TimerCancelBy
	}
	if _, agrees := table.Next(x.State, "!agree"); agrees && p.runtimeAgrees {
		return TimerAgree
	}
	return ""
}

type (
	allTimers [7]Timer
	allAlarms [len(allTimers{})]Alarm
)

// timers are all of them, in the order of their names.
func timers() allTimers {
	return allTimers{TimerAckBy, TimerAgree, TimerCancelBy, TimerGatherBy, TimerGrace, TimerLease, TimerReplyBy}
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
	case TimerAgree:
		return x.AgreeBy
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
