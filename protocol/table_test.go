package protocol

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

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
	for _, text := range []string{requestInitiator, requestParticipant, queryInitiator, queryParticipant, "start | !a→done:ok", "start | ?nack!→start", "|"} {
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
	outcomes := []Outcome{OK, Refused, Rejected, Withdrawn, Failed, Cancelled, Expired, TimedOut, Unknown}
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
		for _, p := range All() {
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

func TestWhereAgreeIsADecisionItIsAMove(t *testing.T) {
	p := *mustLookup(t, RequestV1)
	p.runtimeAgrees = false
	want := []Utterance{{Performative: envelope.Agree}, {Performative: envelope.Refuse}}
	if got := p.Moves(Participant, "received"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if p.RuntimeAgrees() || !mustLookup(t, QueryV1).RuntimeAgrees() {
		t.Error("agree is the runtime's in the shipped protocols only")
	}
}

func TestOnlyARequestOpensTheShippedProtocols(t *testing.T) {
	for _, p := range All() {
		for _, a := range envelope.Performatives() {
			if p.Opens(a) != (a == envelope.Request) {
				t.Errorf("%s: %s opens: %t", p.Name, a, p.Opens(a))
			}
		}
	}
}

func TestTheListOfProtocolsIsTheCallersOwn(t *testing.T) {
	list := All()
	list[0] = nil
	if All()[0] == nil || reflect.DeepEqual(list, All()) {
		t.Error("the shipped list was changed")
	}
}
