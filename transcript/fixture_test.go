package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/transcript"
)

const (
	planner = "agent://local/planner"
	flights = "agent://local/flights"
	hotels  = "agent://acme/hotels"
	nobody  = "agent://acme/nobody"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(minutes int) transcript.Time {
	return transcript.At(noon.Add(time.Duration(minutes) * time.Minute))
}

// trace is a valid one: a request to two participants, a contribution of each, the result, the fence, and two ACKs.
func trace() transcript.Trace {
	t := transcript.Trace{
		SchemaVersion: transcript.Version, ProtocolID: "trip.quotes/v1", ConversationID: "c-1", Epoch: 3, Scope: "trip:8841",
		ObservedAt: after(0), Limits: transcript.Limits{MaxMessages: 8, DeadlineAt: after(40)},
		Participants: []transcript.Participant{
			{PrincipalRef: planner, BodyGeneration: 4, Role: "INITIATOR", Audiences: []string{"plan", "quote"}},
			{PrincipalRef: flights, BodyGeneration: 1, Role: "PARTICIPANT", Audiences: []string{"quote", "book"}},
			{PrincipalRef: hotels, BodyGeneration: 2, Role: "PARTICIPANT", Audiences: []string{"quote"}},
		},
		Gathers: []transcript.Gather{{
			GatherID: "g-1", Membership: []string{hotels, flights}, Policy: transcript.All, InputKind: transcript.Contribution,
			Reducer: transcript.PreserveDissent, DeadlineAt: after(20),
		}},
		TruthEffect: transcript.None, AuthorityEffect: transcript.None,
	}
	both, one := []string{flights, hotels}, []string{planner}
	t.Messages = []transcript.Message{
		message(1, planner, 4, 1, transcript.Request, both, ""),
		message(2, flights, 1, 1, transcript.Contribution, one, "m-1"),
		message(3, hotels, 2, 1, transcript.Contribution, one, "m-1"),
		message(4, planner, 4, 2, transcript.GatherResult, both, "m-3"),
		message(5, planner, 4, 3, transcript.TerminalFence, both, "m-4"),
		message(6, flights, 1, 2, transcript.Ack, one, "m-5"),
		message(7, hotels, 2, 2, transcript.Ack, one, "m-5"),
	}
	t.Messages[1].GatherID, t.Messages[2].GatherID = new("g-1"), new("g-1")
	t.Terminal = transcript.Terminal{
		State: transcript.Completed, FenceMessageID: new("m-5"), RequiredAcknowledgements: both,
		ReceivedAcknowledgements: both, StateDigest: "sha256:" + strings.Repeat("ab", 32),
	}
	return t
}

// message is the n-th one, sent n minutes after noon.
func message(n int, sender string, generation, sequence int64, kind transcript.Kind, audience []string, cause string) transcript.Message {
	m := transcript.Message{
		MessageID: fmt.Sprintf("m-%d", n), ProtocolID: "trip.quotes/v1", ConversationID: "c-1", Epoch: 3,
		SenderPrincipalRef: sender, SenderBodyGeneration: generation, Audience: audience, AudienceLabels: []string{"quote"},
		Scope: "trip:8841", SenderSequence: sequence, Kind: kind, CorrelationID: new("trip-8841"),
		PayloadType: "trip.quote/v1", PayloadDigest: "sha256:" + strings.Repeat("0f", 32), ObservedAt: after(n),
		ExpiresAt: after(n + 10), VerificationReceiptRef: fmt.Sprintf("receipt:%d", n),
	}
	if cause != "" {
		m.CausationID = &cause
	}
	return m
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tree is the valid trace as encoding/json reads it.
func tree(t testing.TB) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(encode(t, trace()), &root); err != nil {
		t.Fatal(err)
	}
	return root
}
