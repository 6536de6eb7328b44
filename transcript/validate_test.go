package transcript_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/transcript"
)

func TestWhatIsNotOneJSONDocumentIsUnreadable(t *testing.T) {
	valid := string(encode(t, trace()))
	for _, text := range []string{
		"", " ", "{", valid[:len(valid)-1], valid + "x", valid + valid, "\ufeff" + valid, "{'a':1}", `{"a":1,}`, `{"a":01}`, "NaN",
		`{"a":"` + "\n" + `"}`, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		if got := transcript.Validate([]byte(text)); got.Valid || got.Unreadable == nil || len(got.Errors) > 0 {
			t.Errorf("%.30q: %+v", text, got)
		}
	}
}

func TestJSONMayBeWrittenInManyWays(t *testing.T) {
	valid := string(encode(t, trace()))
	for from, to := range map[string]string{
		`"maxMessages":8`: `"maxMessages":8.0`,
		`"epoch":3,"sco`:  `"epoch":30e-1,"sco`,
		`"truthEffect":`:  `"truthEffect":"TRUE","truthEffect":`, // the last one counts
		`"REQUEST"`:       `"\u0052EQUEST"`,
		`"INITIATOR"`:     `"\ud800"`,
		`"PARTICIPANT"`:   "\"\xff\"",
		`{"schema`:        " \t\r\n{\"schema",
		`"NONE"}`:         `"NONE"}` + "\n",
	} {
		changed := strings.Replace(valid, from, to, 1)
		if changed == valid {
			t.Errorf("%s is not there", from)
		}
		if got := transcript.Validate([]byte(changed)); !got.Valid {
			t.Errorf("%s: %+v", to, got)
		}
	}
	if got := transcript.Validate([]byte(strings.Replace(valid, `"NONE"}`, `"NONE","authorityEffect":"ALL"}`, 1))); got.Valid {
		t.Error("the first of two members counted")
	}
}

func TestTextsAreComparedByCharacterNotByLook(t *testing.T) {
	text := strings.Replace(string(encode(t, trace())), hotels, "agent://acme/h\u00f4tels", 1)
	text = strings.ReplaceAll(text, hotels, "agent://acme/ho\u0302tels")
	if got := codes(transcript.Validate([]byte(text))); !slices.Contains(got, transcript.CodeUnknownSender) {
		t.Errorf("%v", got)
	}
}

func TestVerdictsAreSortedByCodeThenPath(t *testing.T) {
	root, n := tree(t), 0
	mutate(root, "$", func(what string) {
		if n++; n%8 != 0 {
			return // a sample is enough
		}
		got := transcript.Validate(encode(t, root))
		sorted := slices.IsSortedFunc(got.Errors, func(a, b transcript.Fault) int {
			return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path))
		})
		if !sorted || got.Errors == nil || got.Valid != (len(got.Errors) == 0) {
			t.Errorf("%s: %+v", what, got)
		}
	})
}

func TestTheOrderOfEverythingButMessagesDoesNotMatter(t *testing.T) {
	root, n := tree(t), 0
	mutate(root, "$", func(what string) {
		if n++; n%8 != 0 {
			return // a sample is enough
		}
		want := transcript.Validate(encode(t, root))
		if got := transcript.Validate(backwards(root, false)); !slices.Equal(got.Errors, want.Errors) {
			t.Errorf("%s, members backwards: %v, want %v", what, got.Errors, want.Errors)
		}
		if strings.HasPrefix(what, "$.participants with the first twice") || strings.HasPrefix(what, "$.gathers with the first twice") {
			return // the first one counts
		}
		if got := transcript.Validate(backwards(root, true)); !slices.Equal(codes(got), codes(want)) {
			t.Errorf("%s, lists backwards: %v, want %v", what, codes(got), codes(want))
		}
	})
}

// backwards writes the members of objects backwards, and if asked to, so all lists but that of the messages.
func backwards(value any, lists bool) []byte {
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(v))) {
			parts = append(parts, fmt.Sprintf("%q:%s", name, backwards(v[name], lists)))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case []any:
		for _, element := range v {
			parts = append(parts, string(backwards(element, lists)))
		}
		if len(parts) > 0 && lists && !strings.Contains(strings.Join(parts, ""), `"messageId"`) {
			slices.Reverse(parts)
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	}
	return mustEncode(value)
}

func TestTheOrderOfMessagesMatters(t *testing.T) {
	valid := trace()
	for i := range len(valid.Messages) - 1 {
		swapped := trace()
		swapped.Messages[i], swapped.Messages[i+1] = swapped.Messages[i+1], swapped.Messages[i]
		independent := i == 1 || i == 5 // two contributions, two ACKs
		if got := transcript.Validate(encode(t, swapped)); got.Valid != independent {
			t.Errorf("messages %d and %d swapped: %+v", i, i+1, got)
		}
	}
}

func TestAGapLastsUntilTheExpectedNumberComes(t *testing.T) {
	gapped := trace()
	gapped.Limits.MaxMessages = 20
	gapped.Messages = slices.Insert(gapped.Messages, 4,
		message(10, hotels, 2, 3, transcript.Response, []string{planner}, "m-1"),
		message(11, hotels, 2, 4, transcript.Response, []string{planner}, "m-10"), // the cause counts as seen
	)
	got := transcript.Validate(encode(t, gapped))
	want := []transcript.Fault{
		{Code: transcript.CodeSequenceGap, Path: "$.messages[4].senderSequence"},
		{Code: transcript.CodeSequenceGap, Path: "$.messages[5].senderSequence"},
	}
	if !slices.Equal(got.Errors, want) {
		t.Errorf("%v", got.Errors)
	}
}

func TestWithoutAFenceNothingComesAfterIt(t *testing.T) {
	fenceless := trace()
	fenceless.Terminal.State, fenceless.Terminal.FenceMessageID = transcript.TimedOut, nil
	fenceless.Terminal.ReceivedAcknowledgements = nil
	fenceless.Messages = append(fenceless.Messages[:4:4], message(5, flights, 1, 2, transcript.Ack, []string{planner}, ""))
	got := transcript.Validate(encode(t, fenceless))
	if !slices.Equal(codes(got), []transcript.Code{transcript.CodeTerminalFence}) || len(got.Errors) != 2 {
		t.Errorf("%v", got.Errors)
	}
}

func TestEachRefThatNobodyHasIsReported(t *testing.T) {
	valid := trace()
	valid.Terminal.State = transcript.Blocked
	valid.Terminal.UnresolvedParticipants = []string{nobody, hotels, "agent://acme/other"}
	if got := transcript.Validate(encode(t, valid)); len(got.Errors) != 2 || got.Errors[0].Path != "$.terminal" {
		t.Errorf("%v", got.Errors)
	}
}

func TestOnlyACompletedConversationMustHaveEverything(t *testing.T) {
	for state, want := range map[transcript.State]int{
		transcript.Completed: 2, transcript.Blocked: 0, transcript.TimedOut: 0, transcript.Cancelled: 0, transcript.DissentRecorded: 0,
	} {
		partial := trace()
		partial.Messages[2].GatherID, partial.Terminal.State = nil, state
		partial.Terminal.ReceivedAcknowledgements = partial.Terminal.ReceivedAcknowledgements[:1]
		if got := transcript.Validate(encode(t, partial)); len(got.Errors) != want {
			t.Errorf("%s: %v", state, got.Errors)
		}
	}
}

func TestAPolicySaysHowManyContributionsAreNeeded(t *testing.T) {
	for _, c := range []struct {
		policy  transcript.Policy
		quorum  *int64
		reducer transcript.Reducer
		needed  int
	}{
		{transcript.All, nil, transcript.OrderedList, 2},
		{transcript.Quorum, new(int64(1)), transcript.PreserveDissent, 1},
		{transcript.Quorum, new(int64(2)), transcript.PreserveDissent, 2},
		{transcript.FirstSuccess, nil, transcript.FirstByCanonicalOrder, 1},
	} {
		for count := range 3 {
			x := trace()
			x.Gathers[0].Policy, x.Gathers[0].Quorum, x.Gathers[0].Reducer = c.policy, c.quorum, c.reducer
			for i := range 2 - count {
				x.Messages[1+i].GatherID = nil
			}
			if got := transcript.Validate(encode(t, x)); got.Valid != (count >= c.needed) {
				t.Errorf("%s of %d with %d: %v", c.policy, c.needed, count, got.Errors)
			}
		}
	}
}

// TestValidateSurvivesAnyValueAnywhere puts values of all sorts, also whole parts of the trace, in several places.
func TestValidateSurvivesAnyValueAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		root := tree(t)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		for range rapid.IntRange(1, 6).Draw(r, "changes") {
			scramble(random, root)
		}
		check(t, mustEncode(root))
	})
}

func scramble(random *rand.Rand, value any) {
	parts := []any{nil, true, -1.0, 0.0, 2.0, 1e300, "", "x", "ACK", "QUORUM", "m-5", "g-1", []any{}, []any{nil, 1.0}, map[string]any{}}
	pick := func(old any) any {
		if random.IntN(3) == 0 {
			return old // goes somewhere below
		}
		return parts[random.IntN(len(parts))]
	}
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			return
		}
		name := names[random.IntN(len(names))]
		if random.IntN(2) == 0 {
			scramble(random, v[name])
			return
		}
		v[name] = pick(v[names[random.IntN(len(names))]])
		if random.IntN(4) == 0 {
			delete(v, name)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		i := random.IntN(len(v))
		if random.IntN(3) > 0 {
			scramble(random, v[i])
			return
		}
		v[i] = pick(v[random.IntN(len(v))])
	}
}

// check holds a verdict to what is true of all of them.
func check(t *testing.T, data []byte) {
	t.Helper()
	before := bytes.Clone(data)
	got, again := transcript.Validate(data), transcript.Validate(data)
	if !bytes.Equal(data, before) || !slices.Equal(got.Errors, again.Errors) {
		t.Errorf("%s: not pure", data)
	}
	if (got.Unreadable == nil) != json.Valid(data) || got.Valid != (got.Unreadable == nil && len(got.Errors) == 0) {
		t.Errorf("%s: %+v", data, got)
	}
	for _, f := range got.Errors {
		if !slices.Contains(transcript.Codes(), f.Code) || !strings.HasPrefix(f.Path, "$") {
			t.Errorf("%s: %+v", data, f)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(encode(f, trace()))
	root := tree(f)
	n := 0
	mutate(root, "$", func(string) {
		if n++; n%97 == 0 {
			f.Add(encode(f, root))
		}
	})
	for _, text := range []string{"", "null", "[]", `{"__proto__":{}}`, `{"epoch":1e999}`, `{"terminal":{"requiredAcknowledgements":5}}`, "{} {}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(check)
}
