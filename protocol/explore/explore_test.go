package explore

import (
	"slices"
	"testing"

	"github.com/parley-agents/parley/protocol"
)

// textbook is the request protocol as textbooks draw it: nothing crosses a
// cancel there.
func textbook(t *testing.T) Tables {
	return Tables{Name: "textbook", Participant: shipped(t, protocol.RequestV1).Participant, Initiator: []protocol.Row{
		{From: "start", On: "!request", To: "requested"},
		{From: "requested", On: "?agree", To: "agreed"},
		{From: "requested", On: "?refuse", To: "done:refused"},
		{From: "requested", On: "?not-understood", To: "done:refused"},
		{From: "requested", On: "!cancel", To: "cancelling"},
		{From: "agreed", On: "?inform", To: "done:ok"},
		{From: "agreed", On: "?inform~", To: "agreed"},
		{From: "agreed", On: "?failure", To: "done:failed"},
		{From: "agreed", On: "!cancel", To: "cancelling"},
		{From: "cancelling", On: "?inform", To: "done:ok"},
		{From: "cancelling", On: "?inform.c", To: "done:cancelled"},
		{From: "cancelling", On: "?failure", To: "done:failed"},
	}}
}

func TestTheExplorerFindsTheFaultsOfTheTextbookTable(t *testing.T) {
	r := Explore(textbook(t), FIFO)
	if len(r.UnspecifiedReceptions) == 0 || len(r.Deadlocks) == 0 || len(r.CannotFinish) == 0 {
		t.Errorf("found %d receptions without a row, %d deadlocks, %d that cannot finish", len(r.UnspecifiedReceptions), len(r.Deadlocks), len(r.CannotFinish))
	}
}

func TestAFindingComesWithAShortestRunToIt(t *testing.T) {
	r := Explore(textbook(t), FIFO)
	i := slices.IndexFunc(r.UnspecifiedReceptions, func(u Reception) bool { return u.String() == "initiator cancelling ?agree" })
	if i < 0 {
		t.Fatalf("%v", r.UnspecifiedReceptions)
	}
	var got []string
	for _, step := range r.UnspecifiedReceptions[i].Run {
		got = append(got, step.String())
	}
	want := []string{"initiator !request", "initiator !cancel", "participant ?request", "participant !agree", "initiator ?agree"}
	slices.Sort(got[:4]) // the order of what two sides do at once is of no matter
	slices.Sort(want[:4])
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// sound is a protocol of one question and one answer.
func sound() Tables {
	return Tables{
		Name:        "sound",
		Initiator:   []protocol.Row{{From: "start", On: "!request", To: "asked"}, {From: "asked", On: "?inform", To: "done:ok"}, {From: "asked", On: "?nack!", To: "done:refused"}},
		Participant: []protocol.Row{{From: "start", On: "?request", To: "received"}, {From: "received", On: "!inform", To: "done:ok"}},
	}
}

func TestEachPropertyIsReportedWhenItDoesNotHold(t *testing.T) {
	change := func(edit func(*Tables)) Tables {
		t := sound()
		edit(&t)
		return t
	}
	for _, c := range []struct {
		tables Tables
		want   []Property
	}{
		// Without a timer a lost answer is waited for until the end of time.
		{sound(), []Property{NoDeadlock, CanFinish}},
		{change(func(t *Tables) {
			t.Initiator = append(t.Initiator, protocol.Row{From: "asked", On: "#reply-by", To: "done:unknown"})
		}), nil},
		{change(func(t *Tables) {
			t.Initiator = append(t.Initiator, protocol.Row{From: "asked", On: "#reply-by", To: "done:unknown"}, protocol.Row{From: "asked", On: "?propose", To: "done:ok"})
		}), []Property{NoIdleRow}},
		{change(func(t *Tables) {
			t.Initiator = append(t.Initiator, protocol.Row{From: "asked", On: "#reply-by", To: "done:ok"})
		}), []Property{NoFalseSuccess}},
		{change(func(t *Tables) {
			t.Initiator = append(t.Initiator, protocol.Row{From: "asked", On: "#reply-by", To: "done:unknown"})
			t.Participant = append(t.Participant, protocol.Row{From: "received", On: "!refuse", To: "done:refused"})
		}), []Property{NoSurprise}},
		{change(func(t *Tables) {
			t.Initiator = append(t.Initiator, protocol.Row{From: "asked", On: "#reply-by", To: "done:unknown"})
			t.Participant[1].To = "received"
		}), []Property{CanFinish, NoFalseSuccess}},
	} {
		_, flaws := Check(c.tables)
		got := map[Property]bool{}
		for _, f := range flaws {
			got[f.Property] = true
			if f.Protocol != "sound" || f.What == "" || (f.Channel == "") != (f.Property == NoIdleRow) || (len(f.Run) == 0) != (f.Property == NoIdleRow) {
				t.Errorf("%+v", f)
			}
		}
		for _, p := range []Property{NoDeadlock, CanFinish, NoFalseSuccess, NoSurprise, NoIdleRow} {
			if got[p] != slices.Contains(c.want, p) {
				t.Errorf("%v: %q does not hold: %t", c.tables, p, got[p])
			}
		}
	}
}

func TestDroppingARowLeavesTheTablesThemselvesAlone(t *testing.T) {
	tables := sound()
	for i, row := range tables.Rows() {
		less := tables.Without(row).Rows()
		if want := slices.Delete(tables.Rows(), i, i+1); !slices.Equal(less, want) {
			t.Errorf("without %s: %v", row, less)
		}
	}
	if !slices.Equal(tables.Rows(), sound().Rows()) {
		t.Errorf("%v", tables)
	}
}

func TestALossIsTheOnlyWayToMissAMessage(t *testing.T) {
	for _, c := range every() {
		x := walk(sound(), c)
		fates := map[Fate]int{}
		for _, moves := range x.after {
			for _, m := range moves {
				fates[m.Fate]++
			}
		}
		if (fates[Lost] > 0) != (c == Loss) || fates[TurnedDown] == 0 {
			t.Errorf("%s: %v", c, fates)
		}
	}
}
