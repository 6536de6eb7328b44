package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/transcript"
)

// traced is the trace of a review, from the author's log.
func traced(t *testing.T, host *agent.Host, conversation string) transcript.Trace {
	t.Helper()
	const author = "agent://local/author"
	log, err := host.Store().Log(t.Context(), author, conversation, 0)
	if err != nil {
		t.Fatal(err)
	}
	exchanges, err := host.Store().Exchanges(t.Context(), author, conversation)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := transcript.Export(log, exchanges)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// faults are the codes of what is wrong with a trace, each once.
func faults(t *testing.T, trace transcript.Trace) []transcript.Code {
	t.Helper()
	data, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	v := transcript.Validate(data)
	if v.Unreadable != nil {
		t.Fatal(v.Unreadable)
	}
	codes := []transcript.Code{}
	for _, f := range v.Errors {
		codes = append(codes, f.Code)
	}
	return slices.Compact(codes)
}

// golden compares a trace with a file. Ids and digests are named in the order
// in which they appear. Receipts come at once, in any order: they stand by
// sender. In a bubble, times are the same each time.
func golden(t *testing.T, name string, trace transcript.Trace) {
	t.Helper()
	trace.Messages = slices.Clone(trace.Messages)
	acks := trace.Messages[slices.IndexFunc(trace.Messages, func(m transcript.Message) bool { return m.Kind == transcript.Ack }):]
	slices.SortFunc(acks, func(a, b transcript.Message) int { return strings.Compare(a.SenderPrincipalRef, b.SenderPrincipalRef) })
	for i := range acks {
		acks[i].VerificationReceiptRef = "log"
	}
	data, err := json.MarshalIndent(trace, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	got := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b`).ReplaceAllStringFunc(string(data)+"\n", func(found string) string {
		if names[found] == "" {
			names[found] = fmt.Sprintf("name-%d", len(names)+1)
		}
		return names[found]
	})
	file := filepath.Join("testdata", name)
	if os.Getenv(agenttest.UpdateGolden) == "1" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%s differs (%v); got\n%s\n%s=1 writes it anew", file, err, got, agenttest.UpdateGolden)
	}
}

// smallest is a review by one reviewer who approves.
func smallest(t *testing.T) transcript.Trace {
	t.Helper()
	model := says(map[string][]agenttest.Reply{"security": {after(time.Second, passed)}})
	g, hosts := hold(t, round{[]string{"security"}, mended, 1, time.Minute}, model)
	return traced(t, hosts[0], g.Conversation)
}

// said is who said what in a trace, and which message led to it, counted from 1.
func said(trace transcript.Trace) (list []string) {
	at := map[string]int{}
	for i, m := range trace.Messages {
		at[m.MessageID] = i + 1
		cause := 0
		if m.CausationID != nil {
			cause = at[*m.CausationID]
		}
		list = append(list, fmt.Sprintf("m%d %s by %s after m%d", i+1, m.Kind, path.Base(m.SenderPrincipalRef), cause))
	}
	return list
}

func TestTheSmallestReviewIsFourMessagesEachCausedByTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := smallest(t)
		want := []string{"m1 REQUEST by author after m0", "m2 CONTRIBUTION by security after m1",
			"m3 TERMINAL_FENCE by author after m2", "m4 ACK by security after m3"}
		if got := said(trace); !slices.Equal(got, want) {
			t.Errorf("messages %q, want %q", got, want)
		}
		if got := faults(t, trace); len(got) > 0 {
			t.Errorf("the trace breaks %v", got)
		}
		golden(t, "smallest.trace.golden", trace)
	})
}

func TestTheTraceOfAReviewIsValidAndReadsAsWrittenDown(t *testing.T) {
	for range 2 { // from run to run nothing differs
		synctest.Test(t, func(t *testing.T) {
			g, hosts := hold(t, panel(2), everybody())
			trace := traced(t, hosts[0], g.Conversation)
			if got := faults(t, trace); len(got) > 0 {
				t.Errorf("the trace breaks %v", got)
			}
			golden(t, "review.trace.golden", trace)
		})
	}
}

func TestTheTraceOfAnUnmetReviewLeavesTheSilentUnresolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := panel(3)
		r.members, r.within = []string{"correctness", "release", "security"}, 5*time.Second
		g, hosts := hold(t, r, everybody())
		time.Sleep(time.Minute) // until the exchange with the silent one has ended too
		trace := traced(t, hosts[0], g.Conversation)
		if got := faults(t, trace); len(got) > 0 {
			t.Errorf("the trace breaks %v", got)
		}
		got, want := trace.Terminal, transcript.List[string]{"agent://local/release"}
		if got.State != transcript.TimedOut || !slices.Equal(got.UnresolvedParticipants, want) {
			t.Errorf("%s with %v unresolved, want TIMED_OUT with %v", got.State, got.UnresolvedParticipants, want)
		}
	})
}

func TestATraceThatClaimsMoreThanWasSaidIsRefused(t *testing.T) {
	const mallory = "agent://local/mallory"
	for name, tt := range map[string]struct {
		change func(*transcript.Trace)
		want   []transcript.Code
	}{
		"a receipt is claimed that is not there": {func(x *transcript.Trace) {
			x.Messages = x.Messages[:3]
		}, []transcript.Code{transcript.CodeAckEvidence}},
		"a stranger contributes": {func(x *transcript.Trace) {
			x.Participants = append(x.Participants, x.Participants[1])
			x.Participants[2].PrincipalRef = mallory
			m := x.Messages[1]
			m.MessageID, m.SenderPrincipalRef = "mallory-1", mallory
			x.Messages = slices.Insert(x.Messages, 2, m)
		}, []transcript.Code{transcript.CodeGatherContribution}},
		"somebody unheard of contributes": {func(x *transcript.Trace) {
			m := x.Messages[1]
			m.MessageID, m.SenderPrincipalRef = "mallory-1", mallory
			x.Messages = slices.Insert(x.Messages, 2, m)
		}, []transcript.Code{transcript.CodeGatherContribution, transcript.CodeUnknownSender}},
		"something is said after the fence": {func(x *transcript.Trace) {
			m := x.Messages[1]
			m.MessageID, m.SenderSequence, m.CausationID, m.GatherID = "late-1", 3, &x.Messages[3].MessageID, nil
			m.Kind, m.ObservedAt = transcript.Response, x.Messages[3].ObservedAt
			x.Messages = append(x.Messages, m)
		}, []transcript.Code{transcript.CodePostTerminalMessage}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trace := smallest(t)
				tt.change(&trace)
				if got := faults(t, trace); !slices.Equal(got, tt.want) {
					t.Errorf("the validator finds %v, want %v", got, tt.want)
				}
			})
		})
	}
}
