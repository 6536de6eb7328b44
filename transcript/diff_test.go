package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

func TestTwoRunsOfTheSameThingDoNotDiffer(t *testing.T) {
	for name := range scenarios() {
		a, b := played(t, name).sides[planner].log, played(t, name).sides[planner].log
		if d, err := transcript.Diff(a, b); err != nil || len(d) > 0 {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}

func TestADifferenceIsWhatOnlyOneLogHas(t *testing.T) {
	for _, c := range []struct {
		mine, theirs string
		want         []string // of each line, where it is and how it begins
	}{
		{"request", "request-failed", []string{"-? concluded COMPLETED", "+? concluded BLOCKED", "-flights ?inform~", "-flights ?inform", "+flights ?failure"}},
		{"propose-accepted", "propose-rejected", []string{"-? concluded COMPLETED", "+? concluded BLOCKED", "-flights ?agree", "+flights ?refuse"}},
	} {
		d, err := transcript.Diff(played(t, c.mine).sides[planner].log, played(t, c.theirs).sides[planner].log)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range d {
			peer := strings.TrimPrefix(one.Peer, "agent://local/")
			if peer == "" {
				peer = "?"
			}
			if one.Mine != "" {
				got = append(got, "-"+peer+" "+one.Mine)
			} else {
				got = append(got, "+"+peer+" "+one.Theirs)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s against %s: %q", c.mine, c.theirs, got)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s against %s: line %d is %q, want %q", c.mine, c.theirs, i, got[i], want)
			}
		}
	}
}

// Whoever drops entries of one log finds exactly those.
func TestEveryDroppedEntryIsADifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawWorld(t).sides[planner].log
		i := rapid.IntRange(0, len(log)-1).Draw(t, "entry")
		d, err := transcript.Diff(log, slices.Concat(log[:i], log[i+1:]))
		if err != nil || len(d) != 1 || d[0].Peer != log[i].Peer || d[0].Mine == "" {
			t.Fatalf("without entry %d: %v, %v", i, d, err)
		}
		back, err := transcript.Diff(slices.Concat(log[:i], log[i+1:]), log)
		if err != nil || len(back) != 1 || back[0].Theirs != d[0].Mine {
			t.Fatalf("the other way round: %v, %v", back, err)
		}
	})
}

func TestADiffOfAMessageThatCannotBeReadNamesIt(t *testing.T) {
	log := slices.Clone(played(t, "request").sides[planner].log)
	log[1].Envelope = []byte(`{`)
	if _, err := transcript.Diff(log, log); err == nil || !strings.Contains(err.Error(), "entry 2") {
		t.Errorf("error %v", err)
	}
	if _, err := transcript.Diff([]store.Entry{{Index: 4, Kind: store.Bound, Note: []byte(`[]`)}}, nil); err == nil || !strings.Contains(err.Error(), "entry 4") {
		t.Errorf("error %v", err)
	}
}
