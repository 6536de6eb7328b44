package main

import (
	"encoding/json"
	"testing"
)

func TestTwoRunsInTwoStoresSayTheSame(t *testing.T) {
	mine, theirs := speak(t), speak(t)
	for _, c := range []struct {
		mine, theirs string
		args         []string
	}{
		{mine.request, theirs.again, nil},
		{mine.auction, theirs.auction, nil},
		{mine.gather, theirs.gather, nil},
		{mine.request, theirs.request, []string{"--owner", "clerk"}},
	} {
		got := runCommand(t, "", append([]string{"conversation", "diff", "--db", mine.here, "--with", theirs.here, c.mine, c.theirs}, c.args...)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%+v", got)
		}
	}
}

func TestADiffOfOtherConversationsSaysWhoSaidWhat(t *testing.T) {
	s := speak(t)
	for _, c := range []struct{ mine, theirs string }{{s.request, s.live}, {s.auction, s.gather}, {s.gather, s.request}} {
		got := runCommand(t, "", "conversation", "diff", "-o", "json", "--db", s.here, c.mine, c.theirs)
		var out struct{ Differences []difference }
		if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != exitFailed || len(out.Differences) == 0 ||
			got.stderr != "parley: the conversations differ\n" {
			t.Fatalf("%+v: %v", got, err)
		}
		for _, d := range out.Differences {
			if (d.Mine == "") == (d.Theirs == "") || d.Index == 0 {
				t.Errorf("%+v", d)
			}
		}
	}
}

func TestADiffNeedsBothConversationsAndBothStores(t *testing.T) {
	s := speak(t)
	for _, args := range [][]string{
		{"--db", s.here, "nowhere", s.request}, {"--db", s.here, s.request, "nowhere"},
		{"--db", s.here, "--with", s.there, s.request, s.request}, {"--db", s.here, "--with", s.here + ".missing", s.request, s.request},
	} {
		if got := runCommand(t, "", append([]string{"conversation", "diff"}, args...)...); got.code != exitNotFound || got.stdout != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	broken := tampered(t, s.here, `UPDATE log SET envelope = NULL WHERE conversation = ? AND idx = 2`, s.request)
	if got := runCommand(t, "", "conversation", "diff", "--db", broken, s.request, s.again); got.code != exitDiverged || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}
