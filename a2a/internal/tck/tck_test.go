package main

import (
	"os"
	"strings"
	"testing"
)

const root = "../../../"

func TestThePageSaysWhatTheFiguresSay(t *testing.T) {
	r, err := read(root + figures)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(root + page)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := draw(string(old), r)
	if err != nil {
		t.Fatal(err)
	}
	if drawn != string(old) {
		t.Errorf("%s is not drawn from %s: run go run ./a2a/internal/tck at the root", page, figures)
	}
}

func TestEveryTestThatDidNotPassIsExplained(t *testing.T) {
	r, err := read(root + figures)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.final()) < 200 {
		t.Fatalf("there are %d verdicts", len(r.final()))
	}
	if err := unexplained(r); err != nil {
		t.Error(err)
	}
}

func TestAFailureWithoutAnExplanationIsTold(t *testing.T) {
	r := &report{Runs: []kitRun{{Offers: "all", Results: []result{{Test: "new.py::test_new", Level: "MUST", Verdict: failed, Reason: "the sky fell"}}}}}
	if err := unexplained(r); err == nil || !strings.Contains(err.Error(), "test_new has 0 explanations: the sky fell") {
		t.Errorf("got %v", err)
	}
}

func TestASecondRunSpeaksForWhatTheFirstSkipped(t *testing.T) {
	r := &report{Runs: []kitRun{
		{Offers: "all", Results: []result{{Test: "a", Verdict: skipped}, {Test: "b", Verdict: failed}, {Test: "c", Verdict: skipped}}},
		{Offers: "least", Results: []result{{Test: "a", Verdict: passed}, {Test: "b", Verdict: passed}, {Test: "c", Verdict: skipped}}},
	}}
	got := ""
	for _, x := range r.final() {
		got += x.Test + " " + x.Verdict + "; "
	}
	if got != "a passed; b failed; c skipped; " {
		t.Errorf("got %s", got)
	}
}

func TestAPageWithoutAPlaceForATableIsRefused(t *testing.T) {
	if _, err := draw("nothing generated", &report{}); err == nil {
		t.Error("it was drawn")
	}
}

func TestAVerdictThatIsNoneIsRefused(t *testing.T) {
	if _, err := parse([]byte(`{"test":"a","verdict":"maybe"}`)); err == nil {
		t.Error("it was read")
	}
}
