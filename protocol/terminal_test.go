package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

// ended are exchanges with these outcomes; "failed/deadline" failed over time.
func ended(protocol, outcomes string) (list []Exchange) {
	for i, o := range strings.Fields(outcomes) {
		x := Open(protocol, conversation, planner, "agent://acme/"+string(rune('a'+i)), Initiator)
		o, code, _ := strings.Cut(o, "/")
		x.State = State(donePrefix + o)
		if o == "live" {
			x.State = "open"
		}
		if code != "" {
			x.Error = envelope.NewError(envelope.Code(code), "lapsed")
		}
		list = append(list, x)
	}
	return list
}

func TestTheFirstTerminalThatAppliesIsTaken(t *testing.T) {
	for _, c := range []struct {
		protocol, outcomes string
		awards             int
		cancelAsked        bool
		want               Terminal
	}{
		{RequestV1, "ok", 0, false, TerminalCompleted},
		{QueryV1, "ok", 0, true, TerminalCompleted},
		{ProposeV1, "accepted", 0, false, TerminalCompleted},
		{SubscribeV1, "ended", 0, false, TerminalCompleted},
		{SubscribeV1, "cancelled", 0, true, TerminalCancelled},
		{RequestV1, "cancelled", 0, false, TerminalBlocked},
		{RequestV1, "unknown", 0, true, TerminalCancelled},
		{RequestV1, "unknown", 0, false, TerminalTimedOut},
		{RequestV1, "refused", 0, false, TerminalBlocked},
		{RequestV1, "refused/deadline", 0, false, TerminalTimedOut},
		{RequestV1, "failed/deadline", 0, false, TerminalTimedOut},
		{RequestV1, "failed/permanent", 0, false, TerminalBlocked},
		{ProposeV1, "rejected", 0, false, TerminalBlocked},
		{ContractNetV1, "ok rejected refused", 0, false, TerminalCompleted},
		{ContractNetV1, "ok rejected timed_out", 1, false, TerminalCompleted},
		{ContractNetV1, "ok rejected refused", 2, false, TerminalBlocked},
		{ContractNetV1, "ok ok refused", 2, false, TerminalCompleted},
		{ContractNetV1, "refused timed_out", 0, false, TerminalTimedOut},
		{ContractNetV1, "refused withdrawn", 0, false, TerminalBlocked},
		{ContractNetV1, "cancelled cancelled", 0, true, TerminalCancelled},
		{ContractNetV1, "ok live", 0, false, ""},
		{RequestV1, "", 0, false, ""},
		{GatherV1, "closed closed", 0, false, TerminalBlocked},
	} {
		exchanges := ended(c.protocol, c.outcomes)
		for i := range exchanges {
			exchanges[i].CancelAsked = c.cancelAsked
		}
		got, over := Conclusion{Exchanges: exchanges, Awards: c.awards}.Terminal()
		if got != c.want || over != (c.want != "") {
			t.Errorf("%s %q: %s, %t, want %s", c.protocol, c.outcomes, got, over, c.want)
		}
	}
}

func TestAGatherNeedsTheReceiptsOfThoseWhoAnswered(t *testing.T) {
	all, two := council(PolicyAll, 0, ReducerPreserveDissent), council(PolicyQuorum, 2, ReducerOrderedList)
	for _, c := range []struct {
		gather         Gather
		said, outcomes string
		cancelAsked    bool
		want           Terminal
	}{
		{all, "a b c", "closed closed closed", false, TerminalCompleted},
		{all, "a b c", "closed blocked closed", false, TerminalBlocked},
		{all, "a b! c", "closed closed closed", false, TerminalDissentRecorded},
		{all, "a b! c", "closed blocked closed", false, TerminalBlocked},
		{all, "a b", "closed closed blocked", false, TerminalTimedOut},
		{all, "a b", "closed blocked blocked", false, TerminalTimedOut},
		{all, "a b", "closed closed closed", true, TerminalCancelled},
		{all, "a b- c", "closed closed closed", false, TerminalBlocked},
		{two, "a b", "closed closed blocked", false, TerminalCompleted},
		{two, "a b c-", "closed closed blocked", false, TerminalBlocked},
		{two, "a b", "closed live closed", false, ""},
	} {
		d := c.gather.Decide(says(c.said), c.gather.Deadline)
		r := d.Reduction(Result{}, c.cancelAsked)
		got, over := Conclusion{Exchanges: ended(GatherV1, c.outcomes), Reduction: &r}.Terminal()
		if got != c.want || over != (c.want != "") {
			t.Errorf("%s %q %q: %s, %t, want %s", c.gather.Policy, c.said, c.outcomes, got, over, c.want)
		}
	}
	open := all.Decide(nil, noon).Reduction(Result{}, false)
	if got, _ := (Conclusion{Exchanges: ended(GatherV1, "closed closed closed"), Reduction: &open}).Terminal(); got != TerminalBlocked {
		t.Errorf("a gather that was never decided: %s", got)
	}
}

func TestTheTerminalsAreThoseThatAFenceMayPropose(t *testing.T) {
	s := newSealer(t)
	x := s.in(GatherV1, Initiator, "contributed")
	for _, terminal := range []Terminal{TerminalCompleted, TerminalBlocked, TerminalTimedOut, TerminalCancelled, TerminalDissentRecorded} {
		h := s.header(x, "!fence")
		h.Fence.Proposed = string(terminal)
		if e := s.seal(h); Sending(e) != "!fence" {
			t.Errorf("%s: %s", terminal, Sending(e))
		}
	}
}

func TestTheStateDigestCoversTheStateAndNotTheOrderOfLists(t *testing.T) {
	build := func() Snapshot {
		return Snapshot{
			Protocol: GatherV1, Conversation: conversation,
			Exchanges: []ExchangeSnapshot{
				{Peer: "agent://acme/a", Role: Initiator, State: "done:closed", Sent: []Numbered{{1, envelope.Digest{1}}, {2, envelope.Digest{2}}}},
				{Peer: "agent://acme/b", Role: Initiator, State: "fencing", Received: []Numbered{{1, envelope.Digest{3}}}},
			},
			Gathers: []GatherSnapshot{
				{ID: "g1", Policy: PolicyAll, Contributions: says("a b"), Dissent: []string{"m1", "m2"}, Missing: []string{"agent://acme/c", "agent://acme/d"}, ValueDigest: "ab"},
				{ID: "g2", Policy: PolicyQuorum},
			},
			Fence: &envelope.Fence{ID: "f1", Proposed: "COMPLETED"},
			Acks:  []string{"agent://acme/a", "agent://acme/b"},
		}
	}
	base := build()
	want := StateDigest(base)
	if want.String() != "372ec5c9c9c6bc69d68f850294c4ee8efc560d20bd861c1b0e53fa6e0fbcf382" {
		t.Errorf("the digest of a fixed state is %s", want)
	}
	shuffled := build()
	slices.Reverse(shuffled.Exchanges)
	slices.Reverse(shuffled.Exchanges[1].Sent)
	slices.Reverse(shuffled.Gathers)
	slices.Reverse(shuffled.Gathers[1].Contributions)
	slices.Reverse(shuffled.Gathers[1].Dissent)
	slices.Reverse(shuffled.Gathers[1].Missing)
	slices.Reverse(shuffled.Acks)
	if StateDigest(shuffled) != want {
		t.Error("the order of a list changed the digest")
	}
	for i, change := range []func(*Snapshot){
		func(s *Snapshot) { s.Protocol = QueryV1 },
		func(s *Snapshot) { s.Conversation = "019535d9-3df7-79fb-b466-000000000009" },
		func(s *Snapshot) { s.Exchanges[0].Peer = "agent://acme/z" },
		func(s *Snapshot) { s.Exchanges[0].Role = Participant },
		func(s *Snapshot) { s.Exchanges[0].State = "done:blocked" },
		func(s *Snapshot) { s.Exchanges[0].Sent[0].Digest[0]++ },
		func(s *Snapshot) { s.Exchanges[0].Sent[0].Seq = 3 },
		func(s *Snapshot) { s.Exchanges[1].Received = nil },
		func(s *Snapshot) { s.Gathers = s.Gathers[:1] },
		func(s *Snapshot) { s.Gathers[0].Policy = PolicyQuorum },
		func(s *Snapshot) { s.Gathers[0].Contributions[0].Digest[0]++ },
		func(s *Snapshot) { s.Gathers[0].Dissent[0] = "m3" },
		func(s *Snapshot) { s.Gathers[0].Missing = nil },
		func(s *Snapshot) { s.Gathers[0].ValueDigest = "" },
		func(s *Snapshot) { s.Fence = nil },
		func(s *Snapshot) { s.Fence.Proposed = "BLOCKED" },
		func(s *Snapshot) { s.Acks = s.Acks[:1] },
	} {
		s := build()
		change(&s)
		if StateDigest(s) == want {
			t.Errorf("change %d left the digest", i)
		}
	}
}

func TestTheDigestedDocumentIsCanonicalJSON(t *testing.T) {
	doc := string(canonical(digested{V: 1, Protocol: GatherV1, Conversation: "<&>", Acks: []string{}, Exchanges: []digestedExchange{}, Gathers: []digestedGather{}}))
	if want := `{"acks":[],"conversation":"<&>","exchanges":[],"fence":null,"gathers":[],"protocol":"gather/v1","v":1}`; doc != want {
		t.Errorf("%s", doc)
	}
}
