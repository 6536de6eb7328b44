package transcript_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-agents/parley/transcript"
)

// goldenTraces are the traces that the scenarios export, by name.
func goldenTraces(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for name := range scenarios() {
		data, err := os.ReadFile(filepath.Join("testdata", "scenarios", name+".trace.json"))
		must(t, err)
		found[name] = data
	}
	return found
}

func decoded[T any](t *testing.T, data []byte) T {
	t.Helper()
	var value T
	must(t, json.Unmarshal(data, &value))
	return value
}

// spoiled is a trace that is about to be made wrong.
type spoiled map[string]any

func (s spoiled) object(name string) map[string]any { return s[name].(map[string]any) }
func (s spoiled) list(name string) []any            { return s[name].([]any) }
func (s spoiled) first(list string) map[string]any  { return s.list(list)[0].(map[string]any) }

func (s spoiled) add(list string, value any) { s[list] = append(s.list(list), value) }

// message finds one of a kind.
func (s spoiled) message(kind string) (map[string]any, bool) {
	for _, one := range s.list("messages") {
		if m := one.(map[string]any); m["kind"] == kind {
			return m, true
		}
	}
	return nil, false
}

func (s spoiled) completed() bool { return s.object("terminal")["state"] == "COMPLETED" }
func (s spoiled) gathers() bool   { return len(s.list("gathers")) > 0 }

// flaw is one way to spoil a trace. It tells whether it applies to the trace at all.
type flaw struct {
	code transcript.Code
	make func(spoiled) bool
}

// always makes a flaw of something that can be done to every trace.
func always(code transcript.Code, spoil func(spoiled)) flaw {
	return flaw{code, func(s spoiled) bool { spoil(s); return true }}
}

// ofGather makes a flaw of something that can be done to a trace with a gather.
func ofGather(code transcript.Code, spoil func(gather map[string]any)) flaw {
	return flaw{code, func(s spoiled) bool {
		if s.gathers() {
			spoil(s.first("gathers"))
		}
		return s.gathers()
	}}
}

func flaws() map[string]flaw {
	return map[string]flaw{
		"self causation": always(transcript.CodeSelfCausation, func(s spoiled) { m := s.first("messages"); m["causationId"] = m["messageId"] }),
		"forward causation": always(transcript.CodeCausationGap, func(s spoiled) {
			s.first("messages")["causationId"] = s.list("messages")[1].(map[string]any)["messageId"]
		}),
		"an empty message id":            always(transcript.CodeType, func(s spoiled) { s.first("messages")["messageId"] = "" }),
		"a deadline that is no date":     always(transcript.CodeDate, func(s spoiled) { s.object("limits")["deadlineAt"] = "soon" }),
		"an observation that is no date": always(transcript.CodeDate, func(s spoiled) { s.first("messages")["observedAt"] = "2026-13-01T12:00:00Z" }),
		"a late contribution": {transcript.CodeGatherDeadline, func(s spoiled) bool {
			m, there := s.message("CONTRIBUTION")
			if there = there && m["gatherId"] != nil; there {
				m["observedAt"] = s.object("limits")["deadlineAt"]
			}
			return there
		}},
		"completed with an unresolved participant": {transcript.CodeUnresolvedCompleted, func(s spoiled) bool {
			s.object("terminal")["unresolvedParticipants"] = []any{s.first("participants")["principalRef"]}
			return s.completed()
		}},
		"an ack that is declared twice": {transcript.CodeDuplicate, func(s spoiled) bool {
			t := s.object("terminal")
			acks := t["receivedAcknowledgements"].([]any)
			if len(acks) > 0 {
				t["receivedAcknowledgements"] = append(acks, acks[0])
			}
			return len(acks) > 0
		}},
		"an ack of a stranger":           always(transcript.CodeUnknownParticipantRef, func(s spoiled) { s.object("terminal")["receivedAcknowledgements"] = []any{nobody} }),
		"a label of nobody":              always(transcript.CodeAudienceLabel, func(s spoiled) { s.first("messages")["audienceLabels"] = []any{"other"} }),
		"a verification that is no text": always(transcript.CodeType, func(s spoiled) { s.first("messages")["verificationReceiptRef"] = 7 }),
		"a null participant":             always(transcript.CodeShape, func(s spoiled) { s.add("participants", nil) }),
		"messages that are no list":      always(transcript.CodeMessages, func(s spoiled) { s["messages"] = map[string]any{} }),
		"a null terminal":                always(transcript.CodeShape, func(s spoiled) { s["terminal"] = nil }),
		"a protocol that is no text":     always(transcript.CodeType, func(s spoiled) { s["protocolId"] = 7 }),
		"half an epoch":                  always(transcript.CodeType, func(s spoiled) { s["epoch"] = 1.5 }),
		"null limits":                    always(transcript.CodeShape, func(s spoiled) { s["limits"] = nil }),
		"a null gather":                  always(transcript.CodeShape, func(s spoiled) { s.add("gathers", nil) }),
		"a null message":                 always(transcript.CodeShape, func(s spoiled) { s.add("messages", nil) }),
		"an audience that is no list":    always(transcript.CodeType, func(s spoiled) { s.first("messages")["audience"] = planner }),
		"a member too many":              always(transcript.CodeUnknownField, func(s spoiled) { s.first("messages")["note"] = "?" }),
		"a kind that there is not":       always(transcript.CodeKind, func(s spoiled) { s.first("messages")["kind"] = "REMARK" }),
		"a message that is there twice":  always(transcript.CodeDuplicateMessage, func(s spoiled) { s.add("messages", s.first("messages")) }),
		"a message after the fence": always(transcript.CodePostTerminalMessage, func(s spoiled) {
			late := maps.Clone(s.first("messages"))
			late["messageId"] = "late"
			s.add("messages", late)
		}),
		"an ack of another message": {transcript.CodeAckBinding, func(s spoiled) bool {
			ack, there := s.message("ACK")
			if there {
				ack["causationId"] = s.first("messages")["messageId"]
			}
			return there
		}},
		"completed with nothing gathered": {transcript.CodeGatherIncomplete, func(s spoiled) bool {
			for _, m := range s.list("messages") {
				m.(map[string]any)["gatherId"] = nil
			}
			return s.gathers() && s.completed()
		}},
		"a policy that there is not":    ofGather(transcript.CodeGatherPolicy, func(g map[string]any) { g["policy"] = "MOST" }),
		"a reducer that there is not":   ofGather(transcript.CodeReducer, func(g map[string]any) { g["reducer"] = "SUM" }),
		"the first of several in order": ofGather(transcript.CodeNondeterministicReducer, func(g map[string]any) { g["policy"], g["reducer"] = "FIRST_SUCCESS", "ORDERED_LIST" }),
		"a quorum of nobody":            ofGather(transcript.CodeGatherQuorum, func(g map[string]any) { g["policy"], g["quorum"] = "QUORUM", 0 }),
		"authority that is minted":      always(transcript.CodeAuthorityMinting, func(s spoiled) { s["authorityEffect"] = "GRANTED" }),
		"truth that is minted":          always(transcript.CodeTruthMinting, func(s spoiled) { s["truthEffect"] = "ESTABLISHED" }),
	}
}

func TestAnExportedTraceThatIsSpoiledGetsTheCodeOfItsFlaw(t *testing.T) {
	applied := map[string]int{}
	for name, data := range goldenTraces(t) {
		for what, f := range flaws() {
			s := decoded[spoiled](t, data)
			if !f.make(s) {
				continue
			}
			applied[what]++
			if got := codes(transcript.Validate(encode(t, s))); !slices.Contains(got, f.code) {
				t.Errorf("%s with %s: %v, want %s", name, what, got, f.code)
			}
		}
	}
	for what := range flaws() {
		if applied[what] == 0 {
			t.Errorf("no scenario can be spoiled with %s", what)
		}
	}
}

// harmless is a change of one value after which an exported trace is still valid.
type harmless struct {
	path, changes string // the path without its indices; the changes are separated by |
	// when says whether that is so in a trace, at the first index of the path; nil if it always is.
	when func(t transcript.Trace, at int) bool
	why  string
}

// harmlessChanges are all that there are.
func harmlessChanges() []harmless {
	const (
		text  = `longer|padded|in other case|as "?"`
		later = `a day later|by a fast clock|in other case`
		fewer = `as []|without the first|without the last`
	)
	return []harmless{
		{`$.observedAt`, later + `|a day earlier|by a slow clock|as a date only`, nil, "when the trace was taken binds nothing"},
		{`$.limits.maxMessages`, `one more|one less|as 2e+300`, nil, "there are fewer messages still"},
		{`$.limits.deadlineAt`, later, nil, "every message is in time still"},
		{`$.limits.deadlineAt`, `by a slow clock`, func(t transcript.Trace, _ int) bool {
			return every(t, func(m transcript.Message) bool { return !m.ObservedAt.After(t.Limits.DeadlineAt.Add(-time.Minute)) })
		}, "every message is more than a minute early"},
		{`$.participants[].role`, text, nil, "roles are the protocol's affair"},
		{`$.participants[].audiences`, `with a stranger`, nil, "one may accept labels that nobody uses"},
		{`$.participants[].bodyGeneration`, `one more|as 2e+300`, func(t transcript.Trace, at int) bool {
			return every(t, func(m transcript.Message) bool { return m.SenderPrincipalRef != t.Participants[at].PrincipalRef })
		}, "nothing is known of the generation of whoever said nothing"},
		{`$.gathers[].deadlineAt`, later, nil, "every contribution is in time still"},
		{`$.gathers[].membership`, `without the last`, func(t transcript.Trace, at int) bool {
			g := t.Gathers[at]
			last := len(g.Membership) - 1
			return (g.Quorum == nil || *g.Quorum <= int64(last)) && every(t, func(m transcript.Message) bool {
				return m.GatherID == nil || m.SenderPrincipalRef != g.Membership[last]
			})
		}, "that member contributed nothing and was not needed"},
		{`$.gathers[].quorum`, `one less`, nil, "fewer would have been enough"},
		{`$.messages[].messageId`, text, func(t transcript.Trace, at int) bool {
			id := t.Messages[at].MessageID
			return *t.Terminal.FenceMessageID != id && every(t, func(m transcript.Message) bool { return m.CausationID == nil || *m.CausationID != id })
		}, "nothing refers to the message"},
		{`$.messages[].audience`, `without the first|without the last`, func(t transcript.Trace, at int) bool {
			return len(t.Messages[at].Audience) > 1
		}, "somebody has to be addressed, whoever it is"},
		{`$.messages[].correlationId`, text + `|as null`, nil, "correlation is the caller's affair"},
		{`$.messages[].causationId`, `as null`, func(t transcript.Trace, at int) bool { return t.Messages[at].Kind != transcript.Ack }, "only an ACK must have a cause"},
		{`$.messages[].payloadType`, text, nil, "payload types are the protocol's affair"},
		{`$.messages[].verificationReceiptRef`, text, nil, "the receipt is not looked up"},
		{`$.messages[].observedAt`, `a day earlier|by a slow clock|as a date only|in other case`, nil, "clocks differ; order is that of the list"},
		{`$.messages[].observedAt`, `by a fast clock`, func(t transcript.Trace, at int) bool {
			m := t.Messages[at]
			by := m.ObservedAt.Add(time.Minute)
			return by.Before(m.ExpiresAt.Time) && !by.After(t.Limits.DeadlineAt.Time) && (m.GatherID == nil || !by.After(t.Gathers[0].DeadlineAt.Time))
		}, "the message is in time still"},
		{`$.messages[].expiresAt`, later, nil, "the message is observed before it still"},
		{`$.messages[].expiresAt`, `by a slow clock`, func(t transcript.Trace, at int) bool {
			m := t.Messages[at]
			return m.ObservedAt.Before(m.ExpiresAt.Add(-time.Minute))
		}, "the message is more than a minute early"},
		{`$.messages[].gatherId`, `as null`, func(t transcript.Trace, _ int) bool { return t.Terminal.State != transcript.Completed || spare(t) }, "the gather needs it not"},
		{`$.terminal.receivedAcknowledgements`, fewer, func(t transcript.Trace, _ int) bool { return t.Terminal.State != transcript.Completed }, "only what is completed needs every ACK"},
		{`$.terminal.requiredAcknowledgements`, `as []`, func(t transcript.Trace, _ int) bool { return len(t.Terminal.ReceivedAcknowledgements) == 0 }, "who must acknowledge is the runtime's affair, as long as nobody has"},
		{`$.terminal.requiredAcknowledgements`, `without the first`, func(t transcript.Trace, _ int) bool {
			return !slices.Contains(t.Terminal.ReceivedAcknowledgements, t.Terminal.RequiredAcknowledgements[0])
		}, "the first has acknowledged nothing"},
		{`$.terminal.requiredAcknowledgements`, `without the last`, func(t transcript.Trace, _ int) bool {
			return !slices.Contains(t.Terminal.ReceivedAcknowledgements, t.Terminal.RequiredAcknowledgements[len(t.Terminal.RequiredAcknowledgements)-1])
		}, "the last has acknowledged nothing"},
		{`$.terminal.unresolvedParticipants`, fewer, nil, "nobody has to be called unresolved"},
	}
}

func every(t transcript.Trace, ok func(transcript.Message) bool) bool {
	return !slices.ContainsFunc(t.Messages, func(m transcript.Message) bool { return !ok(m) })
}

// spare tells whether the gather of a trace would have what it needs with one contribution less.
func spare(t transcript.Trace) bool {
	contributions, needed := 0, 1
	for _, m := range t.Messages {
		if m.GatherID != nil {
			contributions++
		}
	}
	switch g := t.Gathers[0]; g.Policy {
	case transcript.All:
		needed = len(g.Membership)
	case transcript.Quorum:
		needed = int(*g.Quorum)
	}
	return contributions > needed
}

func TestEachChangeOfOneValueOfAnExportedTraceIsRefusedUnlessItIsHarmless(t *testing.T) {
	list := harmlessChanges()
	met := make([]atomic.Bool, len(list))
	traces := goldenTraces(t)
	if testing.Short() { // the plainest of each protocol
		maps.DeleteFunc(traces, func(name string, _ []byte) bool {
			return !slices.Contains([]string{"request", "query-refused", "subscribe", "propose-accepted", "contract-net", "gather"}, name)
		})
	}
	t.Run("of", func(t *testing.T) {
		for name, data := range traces {
			t.Run(name, func(t *testing.T) { t.Parallel(); changeEachValue(t, data, list, met) })
		}
	})
	for i, h := range list {
		if !met[i].Load() && !testing.Short() {
			t.Errorf("no change of %s is harmless because %s", h.path, h.why)
		}
	}
}

// changeEachValue holds a trace and every change of it to the list, and notes which of its lines were met.
func changeEachValue(t *testing.T, data []byte, list []harmless, met []atomic.Bool) {
	lines := map[string][]int{} // of the list, by path and change
	for i, h := range list {
		for change := range strings.SplitSeq(h.changes, "|") {
			lines[h.path+" "+change] = append(lines[h.path+" "+change], i)
		}
	}
	index := regexp.MustCompile(`\[(\d+)]`)
	root, whole := decoded[map[string]any](t, data), decoded[transcript.Trace](t, data)
	mutate(root, "$", func(what string) {
		path, change, _ := strings.Cut(what, " ")
		at := 0
		if found := index.FindStringSubmatch(path); found != nil {
			at, _ = strconv.Atoi(found[1])
		}
		want := false
		for _, i := range lines[index.ReplaceAllString(path, "[]")+" "+change] {
			if list[i].when == nil || list[i].when(whole, at) {
				want = true
				met[i].Store(true)
			}
		}
		got := transcript.Validate(encode(t, root))
		if got.Valid != want {
			t.Errorf("%s: valid %t, want %t: %v", what, got.Valid, want, got.Errors)
		}
		if change == "removed" && !slices.Contains(codes(got), transcript.CodeRequired) ||
			change == "extra" && !slices.Contains(codes(got), transcript.CodeUnknownField) {
			t.Errorf("%s: %v", what, got.Errors)
		}
	})
	if !transcript.Validate(encode(t, root)).Valid {
		t.Error("a change was not undone")
	}
}
