package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/protocol/explore"
)

func TestTheProtocolVerbsPrintTheirGoldenOutput(t *testing.T) {
	for _, c := range []struct{ name, args string }{
		{"protocol-ls", "protocol ls"},
		{"protocol-ls.json", "protocol ls -o json"},
		{"protocol-show-request", "protocol show request/v1"},
		{"protocol-show-request", "protocol show request"},
		{"protocol-show-request.json", "protocol show request -o json"},
		{"protocol-show-request.dot", "protocol show request -o dot"},
		{"protocol-show-query", "protocol show query"},
		{"protocol-show-contract-net", "protocol show contract-net"},
		{"protocol-show-subscribe", "protocol show subscribe"},
		{"protocol-show-propose", "protocol show propose"},
		{"protocol-show-gather", "protocol show gather"},
		{"protocol-show-gather.dot", "protocol show gather --output dot"},
		{"protocol-show-help", "protocol show --help"},
		{"protocol-check", "protocol check"},
		{"protocol-check-propose", "protocol check propose"},
		{"protocol-check-propose.json", "protocol check propose/v1 -o json"},
	} {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: exit code %d: %s", c.name, got.code, got.stderr)
		}
		wantGolden(t, c.name, got.stdout)
		if strings.HasSuffix(c.name, ".json") && !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s is not JSON", c.name)
		}
	}
}

func TestAMistakeAboutAProtocolIsUsageAndNamesThoseThereAre(t *testing.T) {
	for args, want := range map[string]string{
		"show order":                "request/v1, query/v1, contract-net/v1",
		"check order/v1":            "request/v1, query/v1, contract-net/v1",
		"show request/v2":           "request/v1",
		"show order -o dot":         "request/v1",
		"show advertise":            "request/v1",
		"show":                      "no argument: want parley protocol show NAME",
		"show request query":        `"request" "query": want parley protocol show NAME`,
		"show request -o yaml":      "table, json, jsonl or dot",
		"ls -o dot":                 "table, json or jsonl",
		"ls request":                `"request": want parley protocol ls`,
		"check request -o dot":      "table, json or jsonl",
		"check request query":       "want parley protocol check [NAME]",
		"draw":                      `there is no "draw"`,
		"check request --channel x": "unknown flag",
	} {
		got := runCommand(t, "", append([]string{"protocol"}, strings.Fields(args)...)...)
		if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, "parley: ") || !strings.Contains(got.stderr, want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestTheHelpOfAProtocolVerbNamesEveryMemberOfItsJSON(t *testing.T) {
	for golden, verb := range map[string]string{
		"protocol-ls.json": "ls", "protocol-show-request.json": "show", "protocol-check-propose.json": "check", "protocol-check-faulty.json": "check",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", golden+".golden"))
		must(t, err)
		var value any
		must(t, json.Unmarshal(data, &value))
		help := runCommand(t, "", "protocol", verb, "--help").stdout
		for _, name := range memberNames(value) {
			if !strings.Contains(help, `"`+name+`"`) {
				t.Errorf("the help of protocol %s does not name %q", verb, name)
			}
		}
	}
}

func TestAProtocolIsShownAsItsTablesHaveIt(t *testing.T) {
	for _, p := range protocol.All() {
		var got shownProtocol
		must(t, json.Unmarshal([]byte(runCommand(t, "", "protocol", "show", "-o", "json", p.Name).stdout), &got))
		for r, role := range map[protocol.Role]shownRole{protocol.Initiator: got.Roles.Initiator, protocol.Participant: got.Roles.Participant} {
			var rows []protocol.Row
			for _, row := range role.Rows {
				rows = append(rows, protocol.Row{From: row.From, On: row.Event, To: row.To})
				if !slices.Contains(role.States, row.From) || !slices.Contains(role.States, row.To) {
					t.Errorf("%s %s: %v has a state that is not listed in %v", p.Name, r, row, role.States)
				}
			}
			if !slices.Equal(rows, p.Table(r).Rows()) || role.States[0] != protocol.Start {
				t.Errorf("%s %s: %v", p.Name, r, role)
			}
		}
		if got.Name != p.Name || got.RuntimeAgrees != p.RuntimeAgrees() || len(got.Opens) != 1 {
			t.Errorf("%+v", got)
		}
		drawn := runCommand(t, "", "protocol", "show", "-o", "dot", p.Name).stdout
		for _, r := range roles() {
			for _, row := range p.Table(r).Rows() {
				if edge := `"` + string(row.From) + `" -> "` + string(row.To) + `" [label="` + string(row.On) + `", style=`; !strings.Contains(drawn, edge) {
					t.Errorf("%s: %s is not drawn", p.Name, edge)
				}
			}
		}
		if strings.Count(drawn, "digraph ") != 2 || strings.Count(drawn, "{") != strings.Count(drawn, "}") {
			t.Errorf("%s: not a digraph for each role", p.Name)
		}
	}
}

func TestAFlawIsPrintedWithTheRunThatShowsIt(t *testing.T) {
	faulty := explore.Tables{
		Name: "patience/v1",
		Initiator: []protocol.Row{
			{From: "start", On: "!request", To: "waiting"}, {From: "waiting", On: "?inform", To: "done:ok"},
			{From: "waiting", On: "?nack!", To: "done:refused"}, {From: "waiting", On: "?propose", To: "done:ok"},
		},
		Participant: []protocol.Row{{From: "start", On: "?request", To: "working"}, {From: "working", On: "!inform", To: "done:ok"}},
	}
	for _, name := range []string{"protocol-check-faulty", "protocol-check-faulty.json"} {
		format := formatTable
		if strings.HasSuffix(name, ".json") {
			format = formatJSON
		}
		var stdout strings.Builder
		c := protocolCheck()
		c.Flags().StringP("output", "o", format, "")
		c.SetOut(&stdout)
		c.SetContext(t.Context())
		err := check(c, []explore.Tables{faulty})
		var stderr strings.Builder
		if code := report(&stderr, err); code != exitViolation {
			t.Errorf("%v: exit code %d", err, code)
		}
		wantGolden(t, name, stdout.String())
		wantGolden(t, "protocol-check-faulty.stderr", stderr.String())
		for _, property := range []explore.Property{explore.NoDeadlock, explore.CanFinish, explore.NoIdleRow} {
			if strings.Count(err.Error(), string(property)) != 1 {
				t.Errorf("%q is not said once in %q", property, err)
			}
		}
	}
}

func TestAShellIsOfferedTheNamesOfProtocols(t *testing.T) {
	for _, verb := range []string{"show", "check"} {
		got := runCommand(t, "", "__complete", "protocol", verb, "").stdout
		for _, p := range protocol.All() {
			if !strings.Contains(got, p.Name+"\n") {
				t.Errorf("%s: %q", verb, got)
			}
		}
		if got := runCommand(t, "", "__complete", "protocol", verb, "query/v1", "").stdout; strings.Contains(got, "/v1") {
			t.Errorf("%s offers a second name: %q", verb, got)
		}
	}
}

func TestWhetherAProtocolHasEffectsFollowsFromItsContracts(t *testing.T) {
	want := []string{protocol.RequestV1, protocol.ContractNetV1, protocol.ProposeV1}
	for _, p := range protocol.All() {
		if effects(p) != slices.Contains(want, p.Name) {
			t.Errorf("%s: %t", p.Name, effects(p))
		}
	}
}
