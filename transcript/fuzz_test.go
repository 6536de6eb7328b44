package transcript_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// FuzzNote puts any bytes into the note of any entry of any scenario's log.
func FuzzNote(f *testing.F) {
	fuzzEntries(f, func(e *store.Entry) *[]byte { return &e.Note }, "", "null", "{}", "[]", `{"terminal":"COMPLETED"}`, `{"terminal":"BLOCKED","more":1}`,
		`{"terminal":"COMPLETED"}{}`, `{"protocol":"gather/v1","gather":{}}`, `{"protocol":"gather/v1","gather":{"id":"g-1","members":["agent://local/flights"],`+
			`"policy":"QUORUM","quorum":9223372036854775807,"reducer":"ORDERED_LIST","deadline":"9999-12-31T23:59:59Z"}}`, `{"protocol":"contract-net/v1","awards":-1}`,
		`{"inputs":null,"value":null,"proposed":"","answered":["?"]}`)
}

// FuzzEnvelope puts any bytes into the envelope of any entry of any scenario's log.
func FuzzEnvelope(f *testing.F) {
	fuzzEntries(f, func(e *store.Entry) *[]byte { return &e.Envelope }, "", "null", "{}", `{"v":"1.0","performative":"inform"}`, `{"v":"1.0","receipt":"ack"}`, "\xff")
}

// fuzzEntries replays, exports and compares logs of which one entry was changed. The seeds are what the field holds in
// the scenarios, each in the place of another, and the texts given.
func fuzzEntries(f *testing.F, field func(*store.Entry) *[]byte, seeds ...string) {
	names := slices.Sorted(maps.Keys(scenarios()))
	runs := make([]recorded, len(names))
	for i, name := range names {
		runs[i] = record(name)
		for j := range runs[i].Log {
			f.Add(uint8(i), uint8(j+1), *field(&runs[i].Log[j]), j%2 == 0)
		}
		for j, seed := range seeds {
			f.Add(uint8(i), uint8(j), []byte(seed), true)
		}
	}
	f.Fuzz(func(t *testing.T, run, at uint8, value []byte, relink bool) {
		whole := runs[int(run)%len(runs)]
		log := slices.Clone(whole.Log)
		e := &log[int(at)%len(log)]
		*field(e) = value
		if relink { // whoever can write the file can do that too
			var head [32]byte
			for i := range log {
				log[i].Hash = store.Link(head, log[i])
				head = log[i].Hash
			}
		}
		judge(t, whole, log, relink)
	})
}

// judge holds that a changed log diverges, or else means what it did before. With its chain made anew it may mean
// something else, as long as that holds together.
func judge(t *testing.T, whole recorded, log []store.Entry, relinked bool) {
	was, err := transcript.Replay(whole.Log, whole.Exchanges)
	if err != nil {
		t.Fatal(err)
	}
	is, err := transcript.Replay(log, whole.Exchanges)
	if _, diverged := errors.AsType[*transcript.Divergence](err); err != nil && !diverged {
		t.Errorf("replay: %v", err)
	}
	if err == nil && (is.Terminal != was.Terminal || !relinked && is.Digest != was.Digest) {
		t.Errorf("the log was accepted and came to %s, %s, not to %s, %s", is.Terminal, is.Digest, was.Terminal, was.Digest)
	}
	steps := 0
	for range transcript.Steps(log, whole.Exchanges) {
		steps++
	}
	if err == nil && steps != len(log) {
		t.Errorf("%d steps of %d entries", steps, len(log))
	}
	trace, exported := transcript.Export(log, whole.Exchanges)
	if err != nil && exported == nil || exported == nil && !transcript.Validate(encode(t, trace)).Valid {
		t.Errorf("exported %v of a log with %v", trace.Terminal, err)
	}
	if _, err := transcript.StateOf(log, whole.Exchanges); err != nil {
		if _, diverged := errors.AsType[*transcript.Divergence](err); !diverged {
			t.Errorf("state: %v", err)
		}
	}
	if _, err := transcript.Diff(log, whole.Log); err != nil {
		if _, diverged := errors.AsType[*transcript.Divergence](err); !diverged {
			t.Errorf("diff: %v", err)
		}
	}
}
