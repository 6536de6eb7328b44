package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

const (
	all    = protocol.PolicyAll
	quorum = protocol.PolicyQuorum
	first1 = protocol.PolicyFirstSuccess

	inOrder = protocol.ReducerOrderedList
	apart   = protocol.ReducerPreserveDissent
	oneOf   = protocol.ReducerFirstByCanonicalOrder
)

// jury is three jurors; each answers a second after the one before it.
func jury(ann, bob, cid func(context.Context) (Price, error)) []*agent.Agent {
	return []*agent.Agent{juror("ann", after(time.Second, ann)), juror("bob", after(2*time.Second, bob)), juror("cid", after(3*time.Second, cid))}
}

var jurors = []string{"cid", "ann", "bob"}

func TestAGatherEndsAsItsPolicyAndReducerSay(t *testing.T) {
	for _, tt := range []struct {
		terms         agent.GatherTerms
		ann, bob, cid func(context.Context) (Price, error)
		terminal      protocol.Terminal
		value         string
		missing       string
	}{
		{agent.GatherTerms{}, euros(70), euros(50), euros(60), "COMPLETED", `[{"euros":70},{"euros":50},{"euros":60}]`, ""},
		{agent.GatherTerms{Policy: all, Reducer: apart}, euros(70), euros(50), euros(60), "COMPLETED", `{"contributions":[{"euros":70},{"euros":50},{"euros":60}],"dissent":[]}`, ""},
		{agent.GatherTerms{Policy: all, Reducer: oneOf}, euros(70), euros(50), euros(60), "COMPLETED", `{"euros":70}`, ""},
		{agent.GatherTerms{Policy: all, Reducer: apart}, euros(70), dissents(50), euros(60), "DISSENT_RECORDED", `{"contributions":[{"euros":70},{"euros":60}],"dissent":[{"euros":50}]}`, ""},
		{agent.GatherTerms{Policy: all, Reducer: inOrder}, euros(70), dissents(50), euros(60), "BLOCKED", `[{"euros":70},{"euros":60}]`, ""},
		{agent.GatherTerms{Policy: all, Reducer: oneOf}, dissents(70), euros(50), euros(60), "BLOCKED", `{"euros":50}`, ""},
		{agent.GatherTerms{Policy: all, Reducer: apart}, euros(70), abstains, dissents(60), "BLOCKED", `{"contributions":[{"euros":70}],"dissent":[{"euros":60}]}`, ""},
		{agent.GatherTerms{Policy: quorum, Quorum: 2, Reducer: inOrder}, euros(70), euros(50), euros(60), "COMPLETED", `[{"euros":70},{"euros":50}]`, "cid"},
		{agent.GatherTerms{Policy: quorum, Quorum: 2, Reducer: apart}, euros(70), dissents(50), euros(60), "DISSENT_RECORDED", `{"contributions":[{"euros":70},{"euros":60}],"dissent":[{"euros":50}]}`, ""},
		{agent.GatherTerms{Policy: quorum, Quorum: 2, Reducer: oneOf}, abstains, euros(50), euros(60), "COMPLETED", `{"euros":50}`, ""},
		{agent.GatherTerms{Policy: quorum, Quorum: 2, Reducer: inOrder}, euros(70), dissents(50), euros(60), "DISSENT_RECORDED", `[{"euros":70},{"euros":60}]`, ""},
		{agent.GatherTerms{Policy: quorum, Quorum: 2}, dissents(70), euros(50), abstains, "BLOCKED", `[{"euros":50}]`, ""},
		{agent.GatherTerms{Policy: quorum, Quorum: 3}, euros(70), euros(50), euros(60), "COMPLETED", `[{"euros":70},{"euros":50},{"euros":60}]`, ""},
		{agent.GatherTerms{Policy: first1}, euros(70), euros(50), euros(60), "COMPLETED", `{"euros":70}`, "bob cid"},
		{agent.GatherTerms{Policy: first1, Reducer: oneOf}, abstains, dissents(50), euros(60), "COMPLETED", `{"euros":60}`, ""},
		{agent.GatherTerms{Policy: first1}, abstains, abstains, abstains, "BLOCKED", `null`, ""},
	} {
		t.Run(fmt.Sprintf("%s %s %s", tt.terms.Policy, tt.terms.Reducer, tt.value), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, b := pair(t, nil, jury(tt.ann, tt.bob, tt.cid)...)
				out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, tt.terms)
				if met := tt.terminal == "COMPLETED" || tt.terminal == "DISSENT_RECORDED"; !met {
					unmet(t, err, tt.terminal, out.Missing...)
				} else if err != nil {
					t.Error(err)
				}
				var missing []string
				for _, m := range out.Missing {
					missing = append(missing, strings.TrimPrefix(m, uri("")))
				}
				if string(out.Value) != tt.value || out.Terminal != tt.terminal || strings.Join(missing, " ") != tt.missing {
					t.Errorf("gathered %s, %s without %v, want %s, %s without %q", out.Value, out.Terminal, missing, tt.value, tt.terminal, tt.missing)
				}
				at(time.Minute)
				if got := concluded(t, a, planner, out.Conversation); got != tt.terminal {
					t.Errorf("the log says that it ended %s, want %s", got, tt.terminal)
				}
				for _, m := range jurors {
					if got := side(t, b, uri(m), out.Conversation, planner.URI()).State; got != "done:closed" {
						t.Errorf("%s ended %s", m, got)
					}
				}
			})
		})
	}
}

func TestWhatAGatherComesToDoesNotDependOnTheOrderOfArrival(t *testing.T) {
	for _, terms := range []agent.GatherTerms{{}, {Reducer: apart}, {Reducer: oneOf}, {Policy: quorum, Quorum: 3, Reducer: apart}} {
		var want string
		for _, delays := range [][3]int{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}, {1, 1, 1}} {
			synctest.Test(t, func(t *testing.T) {
				var all []*agent.Agent
				for i, name := range []string{"ann", "bob", "cid"} {
					all = append(all, juror(name, after(time.Duration(delays[i])*time.Second, euros(70-i))))
				}
				planner, _, _ := pair(t, nil, all...)
				out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, terms)
				if err != nil {
					t.Fatal(err)
				}
				out.Conversation = ""
				for i := range out.Contributions {
					out.Contributions[i].Message = ""
				}
				got := fmt.Sprintf("%+v", out)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("arriving after %v: %s, want %s", delays, got, want)
				}
			})
		}
	}
}

func TestContributionsAndDissentAreListedByMemberWithTheirMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, b := pair(t, nil, jury(dissents(70), euros(50), dissents(60))...)
		out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, agent.GatherTerms{Reducer: apart})
		if err != nil {
			t.Fatal(err)
		}
		said := func(member string, n int) agent.Contributed[Price] {
			return agent.Contributed[Price]{Member: uri(member), Message: logged(t, b, uri(member), out.Conversation, "!inform~")[0].ID(), Value: Price{n}}
		}
		if want := []agent.Contributed[Price]{said("bob", 50)}; !reflect.DeepEqual(out.Contributions, want) {
			t.Errorf("contributions %+v, want %+v", out.Contributions, want)
		}
		if want := []agent.Contributed[Price]{said("ann", 70), said("cid", 60)}; !reflect.DeepEqual(out.Dissent, want) {
			t.Errorf("dissent %+v, want %+v", out.Dissent, want)
		}
	})
}

func TestAMemberThatGivesNoContributionAbstains(t *testing.T) {
	stranger := func(name string) *agent.Agent {
		other := protocol.NewGathering[Seat, Price](opinion.Name().String())
		return agent.New(name, agent.Contribute(other, func(context.Context, Seat) (Price, error) { return Price{1}, nil }))
	}
	for name, cid := range map[string]*agent.Agent{
		"it refuses":               juror("cid", abstains),
		"it fails":                 juror("cid", func(context.Context) (Price, error) { return Price{}, agent.Fail(envelope.CodeTransient, "asleep") }),
		"it has an error":          juror("cid", func(context.Context) (Price, error) { return Price{}, errors.New("secret") }),
		"it panics":                juror("cid", func(context.Context) (Price, error) { panic("lost my head") }),
		"what it says is no price": juror("cid", euros(-1)),
		"it reads it differently":  stranger("cid"),
		"it knows no such thing":   agent.New("cid"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, a, b := pair(t, nil, juror("ann", euros(70)), juror("bob", euros(50)), cid)
				start := time.Now()
				out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, agent.GatherTerms{})
				unmet(t, err, protocol.TerminalBlocked)
				if !slices.Equal(out.Abstained, []string{uri("cid")}) || len(out.Contributions) != 2 || time.Since(start) > time.Second {
					t.Errorf("gathered %+v after %v", out, time.Since(start))
				}
				at(time.Minute)
				if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalBlocked {
					t.Errorf("the gather ended %s", got)
				}
				if got := side(t, b, cid.URI(), out.Conversation, planner.URI()).State; got != "done:closed" && got != "done:refused" {
					t.Errorf("the member ended %s", got)
				}
			})
		})
	}
}

func TestADeadlineMakesAPartialResultAndFillsNothingIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan error, 1)
		planner, a, b := pair(t, nil, juror("ann", euros(70)), juror("bob", abstains), juror("cid", func(ctx context.Context) (Price, error) {
			<-ctx.Done()
			stopped <- ctx.Err()
			return Price{60}, nil
		}))
		start := time.Now()
		out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, agent.GatherTerms{}, agent.Within(20*time.Second))
		unmet(t, err, protocol.TerminalTimedOut, uri("cid"))
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if string(out.Value) != `[{"euros":70}]` || !slices.Equal(out.Missing, []string{uri("cid")}) || !slices.Equal(out.Abstained, []string{uri("bob")}) {
			t.Errorf("gathered %+v", out)
		}
		<-stopped
		at(time.Minute)
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalTimedOut {
			t.Errorf("the gather ended %s", got)
		}
		if got := logged(t, b, uri("cid"), out.Conversation, "!inform~"); len(got) != 0 {
			t.Errorf("the member contributed after the deadline: %v", got)
		}
		if got := logged(t, a, planner.URI(), out.Conversation, "!cancel"); len(got) != 0 {
			t.Errorf("a member was cancelled although its time was over")
		}
	})
}

func TestWhoIsNotNeededUnderAQuorumIsToldToStopAndIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan time.Time, 1)
		planner, a, b := pair(t, nil, juror("ann", euros(70)), juror("bob", after(2*time.Second, euros(50))), juror("cid", func(ctx context.Context) (Price, error) {
			<-ctx.Done()
			stopped <- time.Now()
			return Price{60}, nil
		}))
		start := time.Now()
		out, err := agent.Gather(t.Context(), planner, jurors, opinion, piano, agent.GatherTerms{Policy: quorum, Quorum: 2})
		if err != nil || !slices.Equal(out.Missing, []string{uri("cid")}) {
			t.Errorf("gathered %+v, %v", out, err)
		}
		if took := (<-stopped).Sub(start); took != 2*time.Second {
			t.Errorf("the member that was not needed was stopped after %v", took)
		}
		at(time.Minute)
		if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
			t.Errorf("the gather ended %s", got)
		}
		if fences := logged(t, b, uri("cid"), out.Conversation, "?fence"); len(fences) != 1 || noteOf(t, fences[0]).Yours != protocol.ShareMissing {
			t.Errorf("the member was told %v", fences)
		}
	})
}

// noteOf is what a fence says.
func noteOf(t *testing.T, fence *envelope.Envelope) protocol.FenceNote {
	t.Helper()
	var n protocol.FenceNote
	if err := json.Unmarshal(fence.Content(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheFenceTellsEveryMemberHowItEndedAndWhatBecameOfItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := juror("dan", after(time.Hour, euros(1)))
		planner, a, b := pair(t, nil, append(jury(euros(70), dissents(50), abstains), slow)...)
		out, err := agent.Gather(t.Context(), planner, append(jurors, "dan"), opinion, piano, agent.GatherTerms{Reducer: apart})
		unmet(t, err, protocol.TerminalTimedOut, uri("dan"))
		at(time.Minute)
		var group *envelope.Group
		ids := map[string]bool{}
		for member, share := range map[string]protocol.Share{"ann": "accepted", "bob": "accepted", "cid": "accepted", "dan": "missing"} {
			fence := logged(t, b, uri(member), out.Conversation, "?fence")[0]
			want := protocol.FenceNote{Gather: fence.Header().Gather.ID, Proposed: protocol.TerminalTimedOut, ValueDigest: out.ValueDigest, Yours: share,
				Counts: protocol.FenceCounts{Members: 4, Contributed: 1, Dissented: 1, Abstained: 1, Missing: 1}}
			if got := noteOf(t, fence); got != want {
				t.Errorf("%s was told %+v, want %+v", member, got, want)
			}
			opening := logged(t, b, uri(member), out.Conversation, "?request")[0]
			h, answered := fence.Header(), opening.ID()
			if share != "missing" {
				answered = logged(t, a, planner.URI(), out.Conversation, map[string]protocol.Event{"ann": "?inform~", "bob": "?inform~", "cid": "?refuse"}[member])[0].ID()
				for _, e := range logged(t, a, planner.URI(), out.Conversation, "?inform~") {
					if e.Sender() == uri(member) {
						answered = e.ID()
					}
				}
			}
			if h.Fence.Proposed != "TIMED_OUT" || h.Gather.ID != opening.Header().Gather.ID || h.InReplyTo != answered || h.Schema != protocol.FenceSchema {
				t.Errorf("the fence of %s is %+v, want an answer to %s", member, h, answered)
			}
			if group == nil {
				group = h.Group
			}
			if *h.Group != *group || h.Group.Size != 4 || *h.Group == *opening.Header().Group {
				t.Errorf("the fence of %s belongs to the group %+v, want %+v", member, h.Group, group)
			}
			ids[fence.ID()] = true
		}
		if len(ids) != 4 {
			t.Errorf("the copies have %d ids", len(ids))
		}
		var acks []string
		for _, e := range logged(t, a, planner.URI(), out.Conversation, "?ack") {
			acks = append(acks, e.Sender())
			if !ids[e.InReplyTo()] {
				t.Errorf("the ack of %s answers %s, no fence", e.Sender(), e.InReplyTo())
			}
		}
		if slices.Sort(acks); !slices.Equal(acks, []string{uri("ann"), uri("bob"), uri("cid"), uri("dan")}) {
			t.Errorf("acknowledged by %v", acks)
		}
	})
}

func TestTermsAndMembersThatCannotBeAreRefusedBeforeAnythingIsSent(t *testing.T) {
	planner, a, _ := pair(t, nil, jury(euros(1), euros(2), euros(3))...)
	risky := opinion.WithEffects()
	for name, tt := range map[string]struct {
		g       protocol.Gathering[Job, Price]
		members []string
		terms   agent.GatherTerms
		want    string
	}{
		"first with effects":   {risky, jurors, agent.GatherTerms{Policy: first1}, "gather effects"},
		"first in order":       {opinion, jurors, agent.GatherTerms{Policy: first1, Reducer: inOrder}, "gather nondeterministic"},
		"no quorum":            {opinion, jurors, agent.GatherTerms{Policy: quorum}, "gather quorum"},
		"too high a quorum":    {opinion, jurors, agent.GatherTerms{Policy: quorum, Quorum: 4}, "gather quorum"},
		"a quorum of all":      {opinion, jurors, agent.GatherTerms{Quorum: 3}, "gather quorum"},
		"no such policy":       {opinion, jurors, agent.GatherTerms{Policy: "MOST"}, "gather policy"},
		"no such reducer":      {opinion, jurors, agent.GatherTerms{Reducer: "SUM"}, "gather reducer"},
		"nobody":               {opinion, nil, agent.GatherTerms{}, "members none"},
		"somebody twice":       {opinion, []string{"ann", "bob", "agent://local/ann"}, agent.GatherTerms{}, "members twice"},
		"itself":               {opinion, []string{"ann", "planner"}, agent.GatherTerms{}, "self"},
		"nobody that is known": {opinion, []string{"ann", "zoe"}, agent.GatherTerms{}, "unknown"},
	} {
		_, err := agent.Gather(t.Context(), planner, tt.members, tt.g, piano, tt.terms)
		if got := faultOf(err); got != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	if list, err := a.Store().Conversations(t.Context(), planner.URI(), 10); err != nil || len(list) != 0 {
		t.Errorf("opened %v, %v", list, err)
	}
}

// faultOf names the typed error of a list of members or of a gather's terms.
func faultOf(err error) string {
	if e, ok := errors.AsType[*agent.MembersError](err); ok {
		return "members " + e.Rule
	}
	if e, ok := errors.AsType[*protocol.GatherError](err); ok {
		return "gather " + e.Rule
	}
	switch {
	case errors.Is(err, agent.ErrSelf):
		return "self"
	case errors.Is(err, agent.ErrUnknownPeer):
		return "unknown"
	}
	return fmt.Sprint(err)
}

func TestWhoCallsAGatherOffStopsItsMembersAndFencesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		stopped := map[string]bool{}
		waits := func(name string) *agent.Agent {
			return juror(name, func(ctx context.Context) (Price, error) {
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				stopped[name] = true
				return Price{}, context.Cause(ctx)
			})
		}
		planner, a, b := pair(t, nil, juror("ann", euros(70)), waits("bob"), waits("cid"))
		ctx, cancel := context.WithCancelCause(t.Context())
		g := gathering(ctx, t, planner, jurors, agent.GatherTerms{})
		at(time.Second)
		enough := errors.New("enough")
		cancel(enough)
		if _, err := g.wait(); !errors.Is(err, enough) {
			t.Errorf("Gather = %v, want the cause of the cancel", err)
		}
		at(time.Second)
		mu.Lock()
		defer mu.Unlock()
		if !stopped["bob"] || !stopped["cid"] {
			t.Errorf("only these were stopped: %v", stopped)
		}
		if got := concluded(t, a, planner, g.id); got != protocol.TerminalCancelled {
			t.Errorf("the gather ended %s", got)
		}
		for member, share := range map[string]protocol.Share{"ann": "accepted", "bob": "missing", "cid": "missing"} {
			fences := logged(t, b, uri(member), g.id, "?fence")
			if len(fences) != 1 || noteOf(t, fences[0]).Proposed != protocol.TerminalCancelled || noteOf(t, fences[0]).Yours != share {
				t.Errorf("%s was told %v", member, fences)
			}
			if got := side(t, b, uri(member), g.id, planner.URI()).State; got != "done:closed" {
				t.Errorf("%s ended %s", member, got)
			}
		}
	})
}

func TestAGatherOfTwoHundredMembersListsThemAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		var all []*agent.Agent
		for n := range 200 {
			name := fmt.Sprintf("juror%03d", n)
			names, all = append(names, name), append(all, juror(name, euros(n)))
		}
		planner, a, _ := pair(t, nil, all...)
		out, err := agent.Gather(t.Context(), planner, names, opinion, piano, agent.GatherTerms{}, agent.Within(10*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for n, c := range out.Contributions {
			if c.Member != uri(names[n]) || c.Value.Euros != n {
				t.Fatalf("contribution %d is %+v", n, c)
			}
		}
		at(time.Minute)
		if got := concluded(t, a, planner, out.Conversation); len(out.Contributions) != 200 || got != protocol.TerminalCompleted {
			t.Errorf("%d contributions, %s", len(out.Contributions), got)
		}
		if log := conversation(t, a, planner, out.Conversation); log[0].Kind != store.Bound || len(log) != 1+200+200+1+200+200+1 {
			t.Errorf("the log has %d entries", len(log))
		}
	})
}
