package agent_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// dies reads where a process dies, as in "clerk before reply 2": before or
// after the n-th commit of that name takes effect, or at a place in its code.
func dies(t *testing.T, where string) kill {
	t.Helper()
	words := strings.Fields(where)
	n, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		t.Fatal(err)
	}
	return kill{words[0], strings.Join(words[2:len(words)-1], " "), n, words[1] == "after"}
}

// point is a named place between an effect and its record, and what comes of it
// that a process dies there.
type point struct {
	where string
	// effects is how often the effect was made, under one key; models how often
	// the model was asked.
	effects, models int
	// told is what the model is shown in the end.
	told  string
	ended string
}

const (
	charged = `"outcome":"ok","result":"Charged."`
	unheard = `"outcome":"unknown","reason":"outcome-unknown"`
	unclear = "failed permanent outcome-unknown"
)

// atModel are the places around the model's two requests, and those that every
// exchange has.
func atModel(told string) []point {
	return []point{
		{"clerk before ?request 1", 1, 2, told, "ok R1"},
		{"clerk after ?request 1", 1, 2, told, "ok R1"},
		{"clerk at request 1", 1, 2, told, "ok R1"},
		{"clerk at response 1", 1, 3, told, "ok R1"},
		{"clerk before reply 1", 1, 3, told, "ok R1"},
		{"clerk after reply 1", 1, 2, told, "ok R1"},
		{"clerk before !agree 1", 1, 2, told, "ok R1"},
		{"clerk after !agree 1", 1, 2, told, "ok R1"},
		{"clerk at request 2", 1, 2, told, "ok R1"},
		{"clerk at response 2", 1, 3, told, "ok R1"},
		{"clerk before reply 2", 1, 3, told, "ok R1"},
		{"clerk after reply 2", 1, 2, told, "ok R1"},
		{"clerk before !inform 1", 1, 2, told, "ok R1"},
		{"clerk after !inform 1", 1, 2, told, "ok R1"},
		{"planner before !request 1", 1, 2, told, "ok R1"},
		{"planner after !request 1", 1, 2, told, "ok R1"},
		{"planner before pending 1", 1, 2, told, "ok R1"}, // the attempt is recorded, then the bytes leave
		{"planner after pending 1", 1, 2, told, "ok R1"},
		{"planner before delivered 1", 1, 2, told, "ok R1"},
		{"planner after delivered 1", 1, 2, told, "ok R1"},
		{"planner before ?agree 1", 1, 2, told, "ok R1"},
		{"planner after ?agree 1", 1, 2, told, "ok R1"},
		{"planner before ?inform 1", 1, 2, told, "ok R1"},
		{"planner after ?inform 1", 1, 2, told, "ok R1"},
	}
}

// ofMarked are the places around an effect that may be made again.
func ofMarked(models int, told string) []point {
	return []point{
		{"clerk at effect begins 1", 1, models, told, "ok R1"},
		{"clerk at effect ends 1", 2, models, told, "ok R1"},
		{"clerk before result 1", 2, models, told, "ok R1"},
		{"clerk after result 1", 1, models, told, "ok R1"},
	}
}

// ofUnmarked are those around one that may not.
func ofUnmarked(models int, told, untold string) []point {
	return []point{
		{"clerk before called 1", 1, models, told, "ok R1"},
		{"clerk after called 1", 0, models, untold, unclear},
		{"clerk at effect begins 1", 0, models, untold, unclear},
		{"clerk at effect ends 1", 1, models, untold, unclear},
		{"clerk before result 1", 1, models, untold, unclear},
		{"clerk after result 1", 1, models, told, "ok R1"},
	}
}

// ofCode are those of an exchange that Go code answers.
var ofCode = []point{
	{"clerk before ?request 1", 1, 0, "", "ok R1"},
	{"clerk after ?request 1", 1, 0, "", "ok R1"},
	{"planner before !request 1", 1, 0, "", "ok R1"},
	{"planner after !request 1", 1, 0, "", "ok R1"},
	{"planner before ?agree 1", 1, 0, "", "ok R1"},
	{"planner after ?agree 1", 1, 0, "", "ok R1"},
	{"planner before ?inform 1", 1, 0, "", "ok R1"},
	{"planner after ?inform 1", 1, 0, "", "ok R1"},
}

// together are those of an exchange whose agreement goes with its end, beforehand
// those of one that agrees before a step that may not be taken again for
// nothing.
var (
	together = []point{
		{"clerk before !agree !inform 1", 1, 0, "", "ok R1"},
		{"clerk after !agree !inform 1", 1, 0, "", "ok R1"},
	}
	beforehand = []point{
		{"clerk before !agree 1", 1, 0, "", "ok R1"},
		{"clerk after !agree 1", 1, 0, "", "ok R1"},
		{"clerk before !inform 1", 1, 0, "", "ok R1"},
		{"clerk after !inform 1", 1, 0, "", "ok R1"},
	}
)

// ofNested are those of an exchange inside another, whose initiator is the clerk.
// The bank's handler makes its effect in no step of its own, so it makes it anew
// when it dies before its end is durable.
func ofNested(models int, told string) []point {
	return []point{
		{"clerk before !agree 1", 1, models, told, "ok R1"},
		{"clerk after !agree 1", 1, models, told, "ok R1"},
		{"clerk before !request 1", 1, models, told, "ok R1"},
		{"clerk after !request 1", 1, models, told, "ok R1"},
		{"clerk before ?agree 1", 1, models, told, "ok R1"},
		{"clerk after ?agree 1", 1, models, told, "ok R1"},
		{"clerk before ?inform 1", 1, models, told, "ok R1"},
		{"clerk after ?inform 1", 1, models, told, "ok R1"},
		{"clerk before !inform 1", 1, models, told, "ok R1"},
		{"clerk after !inform 1", 1, models, told, "ok R1"},
		{"bank before ?request 1", 1, models, told, "ok R1"},
		{"bank after ?request 1", 1, models, told, "ok R1"},
		{"bank at effect begins 1", 1, models, told, "ok R1"},
		{"bank at effect ends 1", 2, models, told, "ok R1"},
		{"bank before !agree !inform 1", 2, models, told, "ok R1"},
		{"bank after !agree !inform 1", 1, models, told, "ok R1"},
		{"planner before ?inform 1", 1, models, told, "ok R1"},
		{"planner after ?inform 1", 1, models, told, "ok R1"},
	}
}

func TestAProcessThatDiesAtANamedPointLeavesWhatItsKindPromises(t *testing.T) {
	const booked = `"outcome":"ok","result":{"reference":"R1"}`
	for name, points := range map[string][][]point{
		"read-only tool": {atModel(charged), ofMarked(2, charged)},
		"keyed tool":     {atModel(charged), ofMarked(2, charged)},
		"unmarked tool":  {atModel(charged), ofUnmarked(2, charged, unheard)},
		"read-only step": {ofCode, together, ofMarked(0, "")},
		"keyed step":     {ofCode, beforehand, ofMarked(0, "")},
		"unmarked step":  {ofCode, beforehand, ofUnmarked(0, "", "")},
		"mended tool": {ofUnmarked(3, charged, unheard), {
			{"clerk at request 2", 1, 3, charged, "ok R1"},
			{"clerk at response 2", 1, 4, charged, "ok R1"},
			{"clerk before mended 1", 1, 4, charged, "ok R1"},
			{"clerk after mended 1", 1, 3, charged, "ok R1"},
		}},
		"dated step": {{
			{"clerk before result 1", 1, 0, "", "ok R1"}, // of the time
			{"clerk after result 1", 1, 0, "", "ok R1"},
			{"clerk before result 2", 1, 0, "", "ok R1"}, // of the id
			{"clerk after result 2", 1, 0, "", "ok R1"},
			{"clerk before result 3", 2, 0, "", "ok R1"}, // of the effect
			{"clerk after result 3", 1, 0, "", "ok R1"},
		}},
		"nested ask":            {ofNested(0, "")},
		"nested ask of a model": {atModel(booked), ofNested(2, booked)},
	} {
		for _, list := range points {
			for _, p := range list {
				t.Run(name+", "+p.where, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w, s, ended := perform(t, ways[name], dies(t, p.where))
						defer s.stop()
						if !s.fired() {
							t.Fatal("nobody came there")
						}
						upheld(t, w, s, ways[name], ended)
						if ended != p.ended {
							t.Errorf("it ended %s, want %s", ended, p.ended)
						}
						if len(w.effects) != p.effects || w.models != p.models {
							t.Errorf("the effect was made %d times and the model asked %d times, want %d and %d", len(w.effects), w.models, p.effects, p.models)
						}
						if p.told != "" && !strings.Contains(w.told, p.told) {
							t.Errorf("the model was shown %s, want %s", w.told, p.told)
						}
					})
				})
			}
		}
	}
}
