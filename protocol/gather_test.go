package protocol

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/envelope"
)

// council is a gather of three members under a policy.
func council(p Policy, quorum int, r Reducer) Gather {
	return Gather{ID: "g1", Members: []string{"agent://acme/a", "agent://acme/b", "agent://acme/c"}, Policy: p, Quorum: quorum, Reducer: r,
		Deadline: noon.Add(time.Minute)}
}

func TestAGatherIsHeldToItsRules(t *testing.T) {
	for _, c := range []struct {
		change func(*Gather)
		rule   string
	}{
		{func(*Gather) {}, ""},
		{func(g *Gather) { g.ID = "" }, "id"},
		{func(g *Gather) { g.ID = strings.Repeat("x", 129) }, "id"},
		{func(g *Gather) { g.Members = nil }, "membership"},
		{func(g *Gather) { g.Members[1] = "b" }, "membership"},
		{func(g *Gather) { g.Members[0], g.Members[1] = g.Members[1], g.Members[0] }, "unsorted"},
		{func(g *Gather) { g.Members[1] = g.Members[0] }, "duplicate"},
		{func(g *Gather) { g.Deadline = time.Time{} }, "deadline"},
		{func(g *Gather) { g.Policy = "MOST" }, "policy"},
		{func(g *Gather) { g.Policy = "" }, "policy"},
		{func(g *Gather) { g.Reducer = "SUM" }, "reducer"},
		{func(g *Gather) { g.Policy, g.Quorum = PolicyQuorum, 0 }, "quorum"},
		{func(g *Gather) { g.Policy, g.Quorum = PolicyQuorum, -1 }, "quorum"},
		{func(g *Gather) { g.Policy, g.Quorum = PolicyQuorum, 4 }, "quorum"},
		{func(g *Gather) { g.Policy, g.Quorum = PolicyQuorum, 3 }, ""},
		{func(g *Gather) { g.Quorum = 3 }, "quorum"},
		{func(g *Gather) { g.Policy = PolicyFirstSuccess }, "nondeterministic"},
		{func(g *Gather) { g.Policy, g.Reducer = PolicyFirstSuccess, ReducerFirstByCanonicalOrder }, ""},
		{func(g *Gather) { g.Policy, g.Reducer, g.Quorum = PolicyFirstSuccess, ReducerFirstByCanonicalOrder, 1 }, "quorum"},
		{func(g *Gather) {
			g.Policy, g.Reducer, g.Effects = PolicyFirstSuccess, ReducerFirstByCanonicalOrder, true
		}, "effects"},
		{func(g *Gather) { g.Effects = true }, ""},
	} {
		g := council(PolicyAll, 0, ReducerOrderedList)
		c.change(&g)
		err := g.Validate()
		fault, is := errors.AsType[*GatherError](err)
		if (c.rule == "") != (err == nil) || err != nil && (!is || fault.Rule != c.rule || !strings.HasPrefix(err.Error(), fmt.Sprintf("gather %q: ", g.ID))) {
			t.Errorf("%+v: %v, want %q", g, err, c.rule)
		}
	}
}

// says is what a member said: "a" contributes, "a!" dissents, "a-" abstains
// and "a-!" refuses in dissent.
func says(words string) (list []Contribution) {
	for i, w := range strings.Fields(words) {
		list = append(list, Contribution{
			Sender: "agent://acme/" + w[:1], Seq: int64(i + 1), Message: "m" + w[:1], Digest: envelope.Digest{w[0]},
			Dissents: strings.Contains(w, "!"), Abstains: strings.Contains(w, "-"), Value: []byte(fmt.Sprintf("%q", w[:1])),
		})
	}
	return list
}

func TestAGatherIsDecidedByItsPolicy(t *testing.T) {
	all, kept := council(PolicyAll, 0, ReducerOrderedList), council(PolicyAll, 0, ReducerPreserveDissent)
	two, first := council(PolicyQuorum, 2, ReducerOrderedList), council(PolicyFirstSuccess, 0, ReducerFirstByCanonicalOrder)
	for _, c := range []struct {
		gather   Gather
		said     string
		late     bool
		standing Standing
		proposed Terminal
		missing  int
	}{
		{all, "", false, StandingOpen, "", 3},
		{all, "a b", false, StandingOpen, "", 1},
		{all, "a b c", false, StandingSatisfied, TerminalCompleted, 0},
		{all, "a b c", true, StandingSatisfied, TerminalCompleted, 0},
		{all, "a b", true, StandingPartial, TerminalTimedOut, 1},
		{all, "", true, StandingPartial, TerminalTimedOut, 3},
		{all, "a b-", false, StandingOpen, "", 1},
		{all, "a b- c", false, StandingPartial, TerminalBlocked, 0},
		{all, "a b! c", false, StandingPartial, TerminalBlocked, 0},
		{kept, "a b! c", false, StandingSatisfied, TerminalDissentRecorded, 0},
		{kept, "a b-! c", false, StandingSatisfied, TerminalDissentRecorded, 0},
		{kept, "a b c", false, StandingSatisfied, TerminalCompleted, 0},
		{kept, "a b! c-", false, StandingPartial, TerminalBlocked, 0},
		{two, "a", false, StandingOpen, "", 2},
		{two, "a b!", false, StandingOpen, "", 1},
		{two, "a c", false, StandingSatisfied, TerminalCompleted, 1},
		{two, "a b! c", false, StandingSatisfied, TerminalDissentRecorded, 0},
		{two, "a b!", true, StandingPartial, TerminalTimedOut, 1},
		{two, "a b! c-", false, StandingPartial, TerminalBlocked, 0},
		{first, "", false, StandingOpen, "", 3},
		{first, "c", false, StandingSatisfied, TerminalCompleted, 2},
		{first, "a- b-", false, StandingOpen, "", 1},
		{first, "a- b! c", false, StandingSatisfied, TerminalCompleted, 0},
		{first, "a- b- c-", false, StandingPartial, TerminalBlocked, 0},
	} {
		now := noon
		if c.late {
			now = c.gather.Deadline
		}
		d := c.gather.Decide(says(c.said), now)
		if d.Standing != c.standing || d.Proposed(false) != c.proposed || len(d.Missing) != c.missing {
			t.Errorf("%s %s, %q: %s, %s, missing %v", c.gather.Policy, c.gather.Reducer, c.said, d.Standing, d.Proposed(false), d.Missing)
		}
		if met := d.Standing == StandingSatisfied; met != (d.Proposed(true) != TerminalCancelled) || met && d.Unresolved() != nil || !met && len(d.Unresolved()) != c.missing {
			t.Errorf("%s %q: cancelled %s, unresolved %v", c.gather.Policy, c.said, d.Proposed(true), d.Unresolved())
		}
		if len(d.Answered())+len(d.Missing) != 3 || !slices.IsSorted(d.Answered()) {
			t.Errorf("%s %q: answered %v", c.gather.Policy, c.said, d.Answered())
		}
	}
}

func TestWhoIsNoMemberOrSpeaksTwiceOrLateIsNotAdmitted(t *testing.T) {
	g := council(PolicyAll, 0, ReducerOrderedList)
	for _, c := range []struct {
		said string
		now  time.Time
		rule string
	}{
		{"b", noon, ""}, {"b", g.Deadline, ""}, {"b", g.Deadline.Add(1), "late"}, {"a", noon, "twice"}, {"d", noon, "member"},
		{"a-", noon, "twice"}, {"b!", noon, ""},
	} {
		err := g.Admit(says("a"), says(c.said)[0], c.now)
		fault, _ := errors.AsType[*GatherError](err)
		if (err == nil) != (c.rule == "") || err != nil && fault.Rule != c.rule {
			t.Errorf("%q at %v: %v", c.said, c.now, err)
		}
	}
	if d := g.Decide(append(says("a b"), says("d x a")...), noon); len(d.Inputs) != 2 || len(d.Missing) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestEachReducerMakesItsOwnValue(t *testing.T) {
	for _, c := range []struct {
		policy  Policy
		reducer Reducer
		said    string
		value   string
		inputs  string
		dissent string
	}{
		{PolicyAll, ReducerOrderedList, "c a b", `["a","b","c"]`, "ma mb mc", ""},
		{PolicyAll, ReducerOrderedList, "", `[]`, "", ""},
		{PolicyAll, ReducerOrderedList, "c a!", `["c"]`, "mc", "ma"},
		{PolicyAll, ReducerPreserveDissent, "c a! b", `{"contributions":["b","c"],"dissent":["a"]}`, "mb mc", "ma"},
		{PolicyAll, ReducerPreserveDissent, "", `{"contributions":[],"dissent":[]}`, "", ""},
		{PolicyFirstSuccess, ReducerFirstByCanonicalOrder, "c b", `"b"`, "mb mc", ""},
		{PolicyFirstSuccess, ReducerFirstByCanonicalOrder, "a!", `null`, "", "ma"},
	} {
		g := council(c.policy, 0, c.reducer)
		r, err := g.Reduce(g.Decide(says(c.said), noon))
		if err != nil || string(r.Value) != c.value || strings.Join(r.Inputs, " ") != c.inputs || strings.Join(r.Dissent, " ") != c.dissent {
			t.Errorf("%s %q: %v, %+v", c.reducer, c.said, err, r)
		}
		if len(r.ValueDigest) != 64 || r.Gather != "g1" || r.Missing == nil || r.Abstained == nil {
			t.Errorf("%+v", r)
		}
	}
	g := council(PolicyAll, 0, ReducerOrderedList)
	broken := says("a")
	broken[0].Value = []byte(`{"a"`)
	_, err := g.Reduce(g.Decide(broken, noon))
	if fault, ok := errors.AsType[*GatherError](err); !ok || fault.Rule != "value" {
		t.Error(err)
	}
}

func TestTheOrderOfArrivalChangesNeitherDecisionNorResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom([]Gather{
			council(PolicyAll, 0, ReducerOrderedList), council(PolicyAll, 0, ReducerPreserveDissent),
			council(PolicyQuorum, 2, ReducerPreserveDissent), council(PolicyFirstSuccess, 0, ReducerFirstByCanonicalOrder),
		}).Draw(t, "gather")
		said := says(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "a!", "b!", "b-", "c-!"}), 0, 6).Draw(t, "said"), " "))
		now := noon.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "second")) * time.Second)
		mixed := slices.Clone(said)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "mix"), 0)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		one, other := g.Decide(said, now), g.Decide(mixed, now)
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("%+v\n%+v", one, other)
		}
		a, errA := g.Reduce(one)
		b, errB := g.Reduce(other)
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
		for _, id := range slices.Concat(a.Inputs, a.Dissent) {
			if !slices.ContainsFunc(said, func(c Contribution) bool { return c.Message == id }) {
				t.Fatalf("%s was never said", id)
			}
		}
	})
}

func TestAMembersAnswerBecomesItsContribution(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(GatherV1, Initiator), "!request")
	for _, c := range []struct {
		on       Event
		stance   string
		abstains bool
	}{{"?inform~", "", false}, {"?inform~", envelope.StanceDissent, false}, {"?refuse", envelope.StanceDissent, true}, {"?failure", "", true}} {
		h := s.header(x, c.on)
		h.Gather = &envelope.Gather{ID: "g1", Stance: c.stance}
		e := s.seal(h)
		want := Contribution{Sender: x.Peer, Seq: 1, Message: e.ID(), Digest: e.Digest(), Dissents: c.stance != "", Abstains: c.abstains, Value: []byte("{}")}
		if got := Contribute(e); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", c.on, got, want)
		}
	}
}

func TestTheFenceTellsEachMemberWhatBecameOfItsShare(t *testing.T) {
	g := council(PolicyQuorum, 1, ReducerPreserveDissent)
	d := g.Decide(says("a b-"), noon)
	r, err := g.Reduce(d)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Share{ShareAccepted, ShareAccepted, ShareMissing} {
		n := d.Note(r, d.Proposed(false), g.Members[i], false)
		if n.Yours != want || n.Counts != (FenceCounts{3, 1, 0, 1, 1}) || n.Proposed != TerminalCompleted || n.ValueDigest != r.ValueDigest || n.Gather != "g1" {
			t.Errorf("%s: %+v", g.Members[i], n)
		}
	}
	if n := d.Note(r, TerminalCompleted, g.Members[2], true); n.Yours != ShareLate {
		t.Errorf("%+v", n)
	}
}
