package protocol

import "github.com/parley-agents/parley/envelope"

// fire handles the timers whose effect is not a row of the table.
func fire(table *Table, x Exchange, t Timer) (out []Output, handled bool) {
	if _, row := table.Next(x.State, t.Firing()); row {
		return nil, false
	}
	switch {
	case t == TimerAgree:
		return []Output{utter(envelope.Agree)}, true
	case t == TimerReplyBy && x.Role == Initiator:
		return []Output{utter(envelope.Cancel)}, true
	case t == TimerCancelBy && x.Role == Participant:
		return []Output{{Do: Stop}, blame(envelope.Failure, envelope.CodeCancelled, "lapsed")}, true
	case x.Role == Initiator:
		return []Output{{Do: Decide}}, true
	}
	return nil, false
}

func utter(act envelope.Performative) Output {
	return Output{Do: Utter, Act: Utterance{Performative: act}}
}

func blame(act envelope.Performative, code envelope.Code, reason string) Output {
	return Output{Do: Utter, Act: Utterance{Performative: act}, Error: envelope.NewError(code, reason)}
}

// overran is the reason of a failure after work that had begun ran out of time:
// it may yet have its effect.
const overran = "overran"

// follow lists what must be done after x moved from one state to another.
func follow(x Exchange, from State, in Input) []Output {
	var out []Output
	if x.Role == Participant {
		out = followParticipant(x, from, in)
	} else {
		out = followInitiator(x, from)
	}
	if x.Done() {
		out = append(out, Output{Do: End})
	}
	return out
}

func followInitiator(x Exchange, from State) []Output {
	if x.State == from {
		return nil
	}
	switch x.State {
	case "late":
		return []Output{blame(envelope.Refuse, envelope.CodeDeadline, "late")}
	case "expired", "contributed", "abstained", "missing":
		return []Output{{Do: Decide}}
	case "proposed":
		if x.Protocol == ContractNetV1 {
			return []Output{{Do: Decide}}
		}
	}
	return nil
}

func followParticipant(x Exchange, from State, in Input) []Output {
	if in.event == "?cancel" {
		switch from {
		case ackit:
			return nil
		case Start, "proposed", "lapsed", "given":
			// Nothing is running that could answer: the cancel is confirmed at
			// once. A late opening act finds the exchange ended or stopped.
			return []Output{{Do: Utter, Act: Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}}}
		}
		return []Output{{Do: Stop}}
	}
	if x.State == from {
		return nil
	}
	var out []Output
	if in.event.Fires() && !x.Done() && from != "proposed" || in.event == fenced && (from == "asked" || from == stopping) {
		out = append(out, Output{Do: Stop}) // whatever the handler would still say has no place any more
	}
	switch x.State {
	case "received", "called", "awarded", "considering", "asked":
		return append(out, Output{Do: Work})
	case "overdue":
		return append(out, blame(envelope.Refuse, envelope.CodeDeadline, "lapsed"))
	case "lateaward":
		reason := "lapsed" // the proposal had, and nothing was begun
		if from == "awarded" {
			reason = overran
		}
		return append(out, blame(envelope.Failure, envelope.CodeDeadline, reason))
	case "failing":
		return append(out, blame(envelope.Failure, envelope.CodeDeadline, "lapsed"))
	case ackit:
		return append(out, Output{Do: Acknowledge})
	}
	return out
}
