package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

// rowOf is a row of one role's table.
type rowOf struct {
	Role
	Row
}

func (r rowOf) String() string { return fmt.Sprintf("%s: %s %s→%s", r.Role, r.From, r.On, r.To) }

func rowsOf(p *Protocol) (rows []rowOf) {
	for _, r := range []Role{Initiator, Participant} {
		for _, row := range p.Table(r).Rows() {
			rows = append(rows, rowOf{r, row})
		}
	}
	return rows
}

func TestATableIsReadRowByRow(t *testing.T) {
	table, err := parseTable("\n start | !request→open \n open|?inform~→open,  ?nack!→done:refused, #cancel-by→done:timed_out\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{{Start, "!request", "open"}, {"open", "?inform~", "open"}, {"open", Nacked, "done:refused"}, {"open", "#cancel-by", "done:timed_out"}}
	if got := table.Rows(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	table.Rows()[0].To = "elsewhere"
	if to, ok := table.Next(Start, "!request"); to != "open" || !ok || table.Rows()[0].To != "open" {
		t.Errorf("%s %t", to, ok)
	}
	if to, ok := table.Next("open", "!cancel"); to != "" || ok {
		t.Errorf("%s %t", to, ok)
	}
}

func TestAFaultyTableIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `no state "start"`,
		"open | !a→done:ok":        `no state "start"`,
		"start !a→done:ok":         "no state column",
		"start":                    "no state column",
		" | !a→done:ok":            "does not start with a live state",
		"done:ok | !a→done:failed": "does not start with a live state",
		"start | !a→done:ok\nstart | !b→done:ok": "twice",
		"start | !a→done:ok, !a→done:failed":     "twice",
		"start | !a→open":                        `unknown state "open"`,
		"start | a→done:ok":                      "not event→state",
		"start | !a":                             "not event→state",
		"start | !→done:ok":                      "not event→state",
		"start | !a→":                            "not event→state",
		"start | !a→done:":                       "not event→state",
		"start | !a→done:ok,":                    "not event→state",
		"start | !a b→done:ok":                   "not event→state",
		"start | !a → done:ok":                   "not event→state",
		"start | !nack!→done:ok":                 "not event→state",
		"start | ?agree~→done:ok":                "not event→state",
		"start | ":                               "not event→state",
		"start | !a→done:ok | !b→done:ok":        "not event→state",
	} {
		if table, err := parseTable(text); err == nil || !strings.Contains(err.Error(), want) || table != nil {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	for _, text := range []string{requestInitiator, queryParticipant, contractNetInitiator, gatherParticipant, "start | !a→done:ok", "start | ?nack!→start", "|"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseTable(text)
		if err != nil {
			return
		}
		for _, row := range table.Rows() {
			to, ok := table.Next(row.From, row.On)
			if !ok || to != row.To || row.From.Done() || row.To == "" || len(row.On) < 2 {
				t.Errorf("%q gives row %+v", text, row)
			}
			if kinds := []bool{row.On.Sends(), row.On.Receives(), row.On.Fires()}; !slices.Contains(kinds, true) {
				t.Errorf("%q gives event %q", text, row.On)
			}
		}
	})
}

func TestTheShippedTablesEndInTheClosedOutcomes(t *testing.T) {
	outcomes := []Outcome{OK, Accepted, Ended, Refused, Rejected, Withdrawn, Failed, Cancelled, Expired, TimedOut, Unknown, Closed, Blocked, Orphaned}
	for _, p := range All() {
		for _, row := range rowsOf(p) {
			if row.To.Done() && !slices.Contains(outcomes, row.To.Outcome()) {
				t.Errorf("%s: %s", p.Name, row)
			}
			if !row.To.Done() && row.To.Outcome() != "" {
				t.Errorf("%s: live state %s has an outcome", p.Name, row.To)
			}
			if u := utterance(string(row.On[1:])); slices.Contains(envelope.Performatives(), u.Performative) && u.word() != string(row.On[1:]) {
				t.Errorf("%s: %s is written %q", p.Name, row, u.word())
			}
		}
	}
}

func TestTheRuntimeKeepsItsOwnActsToItself(t *testing.T) {
	act := func(p envelope.Performative) Utterance { return Utterance{Performative: p} }
	final, partial := Utterance{envelope.Inform, envelope.Final}, Utterance{envelope.Inform, envelope.Partial}
	for _, c := range []struct {
		role  Role
		state State
		want  []Utterance
	}{
		{Initiator, Start, []Utterance{act(envelope.Request)}},
		{Initiator, "requested", []Utterance{act(envelope.Cancel)}},
		{Initiator, "agreed", []Utterance{act(envelope.Cancel)}},
		{Initiator, cancelling, nil},
		{Initiator, "done:ok", nil},
		{Participant, Start, nil},
		{Participant, "received", []Utterance{act(envelope.Refuse), act(envelope.Failure), final, partial}},
		{Participant, "agreed", []Utterance{act(envelope.Failure), final, partial}},
		{Participant, cancelling, []Utterance{act(envelope.Failure), final, {envelope.Inform, envelope.Cancelled}}},
		{Participant, "overdue", []Utterance{act(envelope.Refuse)}},
		{Participant, "failing", []Utterance{act(envelope.Failure)}},
		{Participant, "done:refused", nil},
		{Participant, "nowhere", nil},
	} {
		for _, p := range requests() {
			got := p.Moves(c.role, c.state)
			order := func(a, b Utterance) int { return strings.Compare(a.word(), b.word()) }
			slices.SortFunc(got, order)
			slices.SortFunc(c.want, order)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s %s in %s: %v, want %v", p.Name, c.role, c.state, got, c.want)
			}
		}
	}
}

func TestEachRoleIsOfferedWhatItMayDecide(t *testing.T) {
	for _, c := range []struct {
		protocol string
		role     Role
		state    State
		want     string
	}{
		{ContractNetV1, Initiator, Start, "cfp"},
		{ContractNetV1, Initiator, "called", "cancel"},
		{ContractNetV1, Initiator, "proposed", "agree cancel cfp refuse"},
		{ContractNetV1, Initiator, "awarded", "cancel"},
		{ContractNetV1, Participant, "called", "failure propose refuse"},
		{ContractNetV1, Participant, "proposed", "cancel"},
		{ContractNetV1, Participant, "lapsed", ""},
		{ContractNetV1, Participant, "awarded", "failure inform inform~"},
		{SubscribeV1, Participant, "received", "failure inform inform~ refuse"},
		{SubscribeV1, Participant, "active", "failure inform inform~"},
		{ProposeV1, Initiator, Start, "propose"},
		{ProposeV1, Participant, "considering", "agree failure refuse"},
		{GatherV1, Initiator, Start, "request"},
		{GatherV1, Initiator, "contributed", "cancel"},
		{GatherV1, Initiator, "fencing", ""},
		{GatherV1, Participant, "asked", "failure inform~ refuse"},
		{GatherV1, Participant, "given", ""},
		{GatherV1, Participant, stopping, "failure inform.c"},
		{GatherV1, Participant, ackit, ""},
	} {
		for _, list := range [][]Utterance{mustLookup(t, c.protocol).Moves(c.role, c.state), newSealer(t).in(c.protocol, c.role, c.state).Moves()} {
			var words []string
			for _, u := range list {
				words = append(words, u.word())
			}
			if slices.Sort(words); strings.Join(words, " ") != c.want {
				t.Errorf("%s %s in %s: %q, want %q", c.protocol, c.role, c.state, words, c.want)
			}
		}
	}
}

func TestAFurtherCallIsOfferedWhileARoundIsLeft(t *testing.T) {
	cfp := Utterance{Performative: envelope.CFP}
	x := newSealer(t).in(ContractNetV1, Initiator, "proposed")
	for rounds, want := range []bool{false, false, true, true} {
		x.MaxRounds = rounds
		if got := slices.Contains(x.Moves(), cfp); got != want {
			t.Errorf("round %d of %d: %t", x.Round, rounds, got)
		}
	}
	if x.Protocol = "auction/v7"; x.Moves() != nil {
		t.Error("an unknown protocol has moves")
	}
}

func TestWhereAgreeIsADecisionItIsAMove(t *testing.T) {
	table, err := parseTable(requestParticipant)
	if err != nil {
		t.Fatal(err)
	}
	table.decide(false)
	p := Protocol{participant: table}
	want := []Utterance{{Performative: envelope.Agree}, {Performative: envelope.Refuse}}
	if got := p.Moves(Participant, "received"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if p.RuntimeAgrees() || !mustLookup(t, QueryV1).RuntimeAgrees() {
		t.Error("agree is the runtime's in the shipped protocols only")
	}
	for _, p := range All() {
		if want := p.Name == RequestV1 || p.Name == QueryV1 || p.Name == SubscribeV1; p.RuntimeAgrees() != want {
			t.Errorf("%s: the runtime agrees: %t", p.Name, p.RuntimeAgrees())
		}
	}
}

func TestOneActOpensAProtocol(t *testing.T) {
	want := map[string]envelope.Performative{
		RequestV1: envelope.Request, QueryV1: envelope.Request, SubscribeV1: envelope.Request, GatherV1: envelope.Request,
		ContractNetV1: envelope.CFP, ProposeV1: envelope.Propose,
	}
	for _, p := range All() {
		for _, a := range envelope.Performatives() {
			if p.Opens(a) != (a == want[p.Name]) {
				t.Errorf("%s: %s opens: %t", p.Name, a, p.Opens(a))
			}
		}
	}
}

func TestAnAnnouncementBelongsToNoExchange(t *testing.T) {
	_, err := Lookup(AdvertiseV1)
	if _, ok := err.(*UnsupportedError); !ok {
		t.Error(err)
	}
}

func TestTheListOfProtocolsIsTheCallersOwn(t *testing.T) {
	list := All()
	list[0] = nil
	if All()[0] == nil || reflect.DeepEqual(list, All()) {
		t.Error("the shipped list was changed")
	}
}
