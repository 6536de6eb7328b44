package transcript_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-agents/parley/transcript"
)

// fault is one thing done to a valid trace: a value put at a path of the JSON, or a change of the trace.
type fault struct {
	path, value string
	change      func(*transcript.Trace)
	want        string // every code
}

func faults() []fault {
	return []fault{
		{path: "", value: `[]`, want: "E_SHAPE"},
		{path: "limits", value: `null`, want: "E_SHAPE"},
		{path: "participants.1", value: `null`, want: "E_AUDIENCE_SCOPE E_GATHER_CONTRIBUTION E_GATHER_INCOMPLETE E_GATHER_MEMBERSHIP E_SHAPE E_UNKNOWN_PARTICIPANT_REF E_UNKNOWN_SENDER",
			change: func(t *transcript.Trace) { t.Messages[1].GatherID = new("g-2") }},
		{path: "gathers.0", value: `"g-1"`, want: "E_GATHER_CONTRIBUTION E_SHAPE"},
		{path: "messages.6", value: `7`, want: "E_ACK_EVIDENCE E_SHAPE"},
		{path: "terminal", value: `[]`, want: "E_SHAPE"},
		{path: "terminal", want: "E_REQUIRED E_SHAPE"},
		{path: "messages.0.payloadType", want: "E_REQUIRED E_TYPE"},
		{path: "messages.0.gatherId", want: "E_GATHER_CONTRIBUTION E_REQUIRED E_TYPE"},
		{path: "messages.0.causationId", want: "E_CAUSATION_GAP E_REQUIRED E_TYPE"},
		{path: "messages.0.constructor", value: `{}`, want: "E_UNKNOWN_FIELD"},
		{path: "__proto__", value: `{"epoch":3}`, want: "E_UNKNOWN_FIELD"},
		{path: "Epoch", value: `3`, want: "E_UNKNOWN_FIELD"},
		{path: "schemaVersion", value: `2`, want: "E_TYPE E_VERSION"},
		{path: "schemaVersion", value: `"2.0"`, want: "E_VERSION"},
		{path: "epoch", value: `3.5`, want: "E_STALE_EPOCH E_TYPE"},
		{path: "limits.maxMessages", value: `1e400`, want: "E_TYPE"},
		{path: "limits.maxMessages", value: `-1`, want: "E_MESSAGE_LIMIT E_TYPE"},
		{path: "messages.3.audience", value: `"` + planner + `"`, want: "E_AUDIENCE_SCOPE E_TYPE"},
		{path: "messages.3.audience", value: `["` + hotels + `","` + hotels + `"]`, want: "E_AUDIENCE_SCOPE E_DUPLICATE"},
		{path: "messages.3.audienceLabels", value: `["quote","quote"]`, want: "E_DUPLICATE"},
		{path: "gathers.0.membership", value: `["` + hotels + `","` + hotels + `"]`, want: "E_DUPLICATE E_GATHER_CONTRIBUTION E_GATHER_INCOMPLETE"},
		{path: "observedAt", value: `"noon"`, want: "E_DATE"},
		{path: "messages.3.observedAt", value: `"noon"`, want: "E_DATE E_EXPIRED"},
		{path: "limits.deadlineAt", value: `"noon"`, want: "E_DATE"},
		{path: "gathers.0.deadlineAt", value: `"noon"`, want: "E_DATE"},
		{path: "messages.0.payloadDigest", value: `"sha256:0F"`, want: "E_DIGEST"},
		{path: "terminal.stateDigest", value: `"sha256:` + strings.Repeat("0f", 32) + `\n"`, want: "E_DIGEST"},
		{path: "truthEffect", value: `"TRUE"`, want: "E_TRUTH_MINTING"},
		{path: "authorityEffect", value: `null`, want: "E_AUTHORITY_MINTING"},
		{path: "gathers", value: `null`, want: "E_GATHER_CONTRIBUTION E_TYPE"},
		{path: "participants", value: `[]`, want: "E_AUDIENCE_SCOPE E_GATHER_MEMBERSHIP E_PARTICIPANTS E_UNKNOWN_PARTICIPANT_REF E_UNKNOWN_SENDER"},
		{path: "messages", value: `{}`, want: "E_ACK_EVIDENCE E_GATHER_INCOMPLETE E_MESSAGES E_TERMINAL_FENCE"},
		{path: "limits.maxMessages", value: `6`, want: "E_MESSAGE_LIMIT"},
		{want: "E_DUPLICATE_PARTICIPANT", change: func(t *transcript.Trace) {
			again := t.Participants[0] // of another generation, which does not count
			again.BodyGeneration = 9
			t.Participants = append(t.Participants, again)
		}},
		{path: "gathers.0.membership.1", value: `"` + nobody + `"`, want: "E_GATHER_CONTRIBUTION E_GATHER_INCOMPLETE E_GATHER_MEMBERSHIP"},
		{path: "gathers.0.policy", value: `"MOST"`, want: "E_GATHER_POLICY"},
		{path: "gathers.0.reducer", value: `"COUNT"`, want: "E_REDUCER"},
		{path: "gathers.0.quorum", value: `2`, want: "E_GATHER_QUORUM"},
		{path: "gathers.0.policy", value: `"QUORUM"`, want: "E_GATHER_QUORUM"},
		{want: "E_GATHER_INCOMPLETE E_GATHER_QUORUM", change: func(t *transcript.Trace) {
			t.Gathers[0].Policy, t.Gathers[0].Quorum = transcript.Quorum, new(int64(3))
		}},
		{path: "gathers.0.policy", value: `"FIRST_SUCCESS"`, want: "E_NONDETERMINISTIC_REDUCER"},
		{want: "E_DUPLICATE_GATHER E_GATHER_CONTRIBUTION E_GATHER_INCOMPLETE", change: func(t *transcript.Trace) {
			first := t.Gathers[0]
			first.InputKind = transcript.Dissent
			t.Gathers = []transcript.Gather{first, t.Gathers[0]}
		}},
		{path: "messages.6.messageId", value: `"m-1"`, want: "E_DUPLICATE_MESSAGE"},
		{path: "messages.0.protocolId", value: `"trip.quotes/v2"`, want: "E_PROTOCOL_BINDING"},
		{path: "messages.0.conversationId", value: `"c-2"`, want: "E_PROTOCOL_BINDING"},
		{path: "messages.0.epoch", value: `4`, want: "E_STALE_EPOCH"},
		{path: "messages.0.senderPrincipalRef", value: `"` + nobody + `"`, want: "E_SEQUENCE_GAP E_UNKNOWN_SENDER"},
		{path: "messages.0.senderBodyGeneration", value: `5`, want: "E_STALE_GENERATION"},
		{path: "messages.0.senderSequence", value: `2`, want: "E_SEQUENCE_GAP"},
		{path: "messages.0.scope", value: `"trip:1"`, want: "E_AUDIENCE_SCOPE"},
		{path: "messages.0.audience.0", value: `"` + nobody + `"`, want: "E_AUDIENCE_SCOPE"},
		{path: "messages.0.audienceLabels", value: `["quote","book"]`, want: "E_AUDIENCE_LABEL"},
		{path: "messages.0.kind", value: `"VOTE"`, want: "E_KIND"},
		{path: "messages.0.expiresAt", value: `"2026-03-01T12:01:00Z"`, want: "E_EXPIRED"},
		{path: "limits.deadlineAt", value: `"2026-03-01T12:06:59.999Z"`, want: "E_EXPIRED"},
		{path: "messages.0.causationId", value: `"m-1"`, want: "E_SELF_CAUSATION"},
		{path: "messages.0.causationId", value: `"m-2"`, want: "E_CAUSATION_GAP"},
		{path: "messages.0.gatherId", value: `"g-1"`, want: "E_GATHER_CONTRIBUTION"},
		{path: "gathers.0.deadlineAt", value: `"2026-03-01T12:02:59.999Z"`, want: "E_GATHER_DEADLINE"},
		{want: "E_DUPLICATE_GATHER_CONTRIBUTION", change: func(t *transcript.Trace) {
			again := message(8, flights, 1, 3, transcript.Contribution, []string{planner}, "m-1")
			again.GatherID, again.SenderSequence = new("g-1"), 2
			t.Messages[5].SenderSequence = 3
			t.Messages = slices.Insert(t.Messages, 4, again)
		}},
		{path: "messages.1.gatherId", value: `null`, want: "E_GATHER_INCOMPLETE"},
		{path: "terminal.state", value: `"DONE"`, want: "E_TERMINAL"},
		{path: "terminal.unresolvedParticipants", value: `["` + nobody + `"]`, want: "E_UNKNOWN_PARTICIPANT_REF E_UNRESOLVED_COMPLETED"},
		{path: "terminal.unresolvedParticipants", value: `["` + hotels + `"]`, want: "E_UNRESOLVED_COMPLETED"},
		{path: "terminal.requiredAcknowledgements", value: `["` + hotels + `"]`, want: "E_ACK_DECLARATION"},
		{path: "terminal.fenceMessageId", value: `"m-4"`, want: "E_ACK_BINDING E_ACK_EVIDENCE E_TERMINAL_FENCE"},
		{path: "messages.3.kind", value: `"TERMINAL_FENCE"`, want: "E_POST_TERMINAL_MESSAGE E_TERMINAL_FENCE"},
		{path: "messages.6.kind", value: `"RESPONSE"`, want: "E_ACK_EVIDENCE E_POST_TERMINAL_MESSAGE"},
		{path: "messages.3.kind", value: `"ACK"`, want: "E_ACK_BINDING"},
		{path: "messages.6.causationId", value: `"m-4"`, want: "E_ACK_BINDING E_ACK_EVIDENCE"},
		{path: "terminal.receivedAcknowledgements", value: `["` + hotels + `"]`, want: "E_ACK_REQUIRED"},
		{path: "terminal.receivedAcknowledgements", value: `null`, want: "E_ACK_REQUIRED E_TYPE"},
		{path: "terminal.requiredAcknowledgements", value: `5`, want: "E_TYPE"},
		{path: "terminal.requiredAcknowledgements", value: `{}`, want: "E_TYPE"},
		{path: "terminal.receivedAcknowledgements", value: `true`, want: "E_TYPE"},
		{path: "terminal.unresolvedParticipants", value: `{"length":1}`, want: "E_TYPE"},
		{path: "terminal.requiredAcknowledgements", value: `0`, want: "E_ACK_DECLARATION E_TYPE"},
		{path: "terminal.requiredAcknowledgements", value: `"ab"`, want: "E_ACK_DECLARATION E_TYPE E_UNKNOWN_PARTICIPANT_REF"},
	}
}

func TestEachFaultGetsExactlyItsCodes(t *testing.T) {
	for _, f := range faults() {
		if got := strings.Join(words(codes(transcript.Validate(f.document(t)))), " "); got != f.want {
			t.Errorf("%s %s: got %s, want %s", f.path, f.value, got, f.want)
		}
	}
}

func TestEachCodeHasAFaultThatBringsIt(t *testing.T) {
	var met []string
	for _, f := range faults() {
		met = append(met, strings.Fields(f.want)...)
	}
	slices.Sort(met)
	known := words(transcript.Codes())
	slices.Sort(known)
	if met = slices.Compact(met); !slices.Equal(met, known) || len(known) != 45 {
		t.Errorf("%d codes met, %d known: %v and %v", len(met), len(known), met, known)
	}
}

func words(codes []transcript.Code) []string {
	var list []string
	for _, c := range codes {
		list = append(list, string(c))
	}
	return list
}

// document is the trace with its fault. A path without a value is removed.
func (f fault) document(t *testing.T) []byte {
	t.Helper()
	valid := trace()
	if f.change != nil {
		f.change(&valid)
	}
	if f.path == "" && f.value == "" {
		return encode(t, valid)
	}
	return put(t, encode(t, valid), strings.FieldsFunc(f.path, func(r rune) bool { return r == '.' }), f.value)
}

func put(t *testing.T, document []byte, path []string, value string) []byte {
	t.Helper()
	if len(path) == 0 {
		return []byte(value)
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		var list []json.RawMessage
		must(t, json.Unmarshal(document, &list))
		list[i] = put(t, list[i], path[1:], value)
		return encode(t, list)
	}
	members := map[string]json.RawMessage{}
	must(t, json.Unmarshal(document, &members))
	if len(path) == 1 && value == "" {
		delete(members, path[0])
	} else {
		members[path[0]] = put(t, members[path[0]], path[1:], value)
	}
	text := "{"
	for name, member := range members { // by hand: 1e400 is a number that encoding/json would not check again
		text += string(encode(t, name)) + ":" + string(member) + ","
	}
	return []byte(strings.TrimSuffix(text, ",") + "}")
}
