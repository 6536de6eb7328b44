package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestAWatchEndsAsTheConversationEnded(t *testing.T) {
	s := speak(t)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{s.request + " --db " + s.here, exitOK, ""},
		{s.request + " --owner clerk --db " + s.here, exitOK, ""},
		{s.auction + " --db " + s.here, exitOK, ""},
		{s.gather + " --db " + s.here, exitOK, ""},
		{s.auction + " --owner ann --db " + s.there, exitFailed, "has ended: rejected"},
		{s.live + " --timeout 1ms --db " + s.here, exitTimeout, "has not ended"},
	} {
		got := runCommand(t, "", strings.Fields("conversation watch "+c.args)...)
		if got.code != c.code || got.stdout == "" || !strings.Contains(got.stderr, c.want) || (c.want == "") != (got.stderr == "") {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
}

func TestTheEndOfAConversationHasItsExitCode(t *testing.T) {
	ended := func(states ...protocol.State) (list []store.Exchange) {
		for _, s := range states {
			list = append(list, *exchange(planner, conversation1, flights, s, noon))
		}
		return list
	}
	for _, c := range []struct {
		terminal  protocol.Terminal
		exchanges []store.Exchange
		code      int
	}{
		{protocol.TerminalCompleted, ended("done:ok", "done:rejected"), exitOK},
		{protocol.TerminalDissentRecorded, ended("done:closed"), exitOK},
		{protocol.TerminalTimedOut, ended("done:unknown"), exitTimeout},
		{protocol.TerminalCancelled, ended("done:cancelled"), exitFailed},
		{protocol.TerminalBlocked, ended("done:failed"), exitFailed},
		{"", ended("done:ok"), exitOK},
		{"", ended("done:ended"), exitOK},
		{"", ended("done:refused"), exitFailed},
		{"", ended("done:unknown"), exitTimeout},
		{"", ended("done:timed_out"), exitTimeout},
		{"", ended("done:expired"), exitTimeout},
	} {
		if got := report(io.Discard, ending(conversation1, c.terminal, c.exchanges)); got != c.code {
			t.Errorf("%q, %s: exit code %d, want %d", c.terminal, c.exchanges[0].State.State, got, c.code)
		}
	}
}

func TestAWatchPrintsWhatComesWhileTheHostWorks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	t.Setenv("PARLEY_DB", path)
	weather := protocol.Query[question, reply]("acme.weather.now/v1")
	working, release := make(chan struct{}), make(chan struct{})
	caller := agent.New("caller")
	host, err := parley.Start(t.Context(), caller, agent.New("clerk", agent.Handle(weather, func(context.Context, question) (reply, error) {
		close(working)
		<-release
		return reply{Sky: "grey"}, nil
	})))
	must(t, err)
	asked, err := agent.Start(t.Context(), caller, "clerk", weather, question{"Oulu"})
	must(t, err)
	<-working

	lines, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		p := process{stdin: strings.NewReader(""), stdout: out, stderr: io.Discard}
		code <- p.run(t.Context(), []string{"conversation", "watch", "-o", "jsonl", asked.ID()})
		out.Close()
	}()
	var kinds []string
	for s := bufio.NewScanner(lines); s.Scan(); {
		var e entry
		must(t, json.Unmarshal(s.Bytes(), &e))
		if len(kinds) == 0 {
			close(release)
		}
		kinds = append(kinds, e.Kind)
	}
	if got := <-code; got != exitOK || kinds[0] != "sent" || kinds[len(kinds)-1] != "concluded" {
		t.Errorf("exit code %d after %v", got, kinds)
	}
	must(t, host.Stop(context.WithoutCancel(t.Context())))
}

func TestAWatchOfAConversationWithoutExchangesFindsNothing(t *testing.T) {
	path := tampered(t, filledStore(t), "DELETE FROM exchange WHERE conversation = ?", conversation1)
	got := runCommand(t, "", "conversation", "watch", "--owner", "planner", "--db", path, conversation1)
	if got.code != exitNotFound || !strings.Contains(got.stderr, "exchanges of conversation") {
		t.Errorf("%+v", got)
	}
}

func TestAWatchCannotSteerATerminal(t *testing.T) {
	path := tampered(t, filledStore(t), `UPDATE log SET event = ?, note = ?, reason = ? WHERE conversation = ?`,
		"\x1b[2J"+hostileText, []byte(`{"x":"`+hostileText+`"}`), "\u009b2J", conversation1)
	for _, format := range []string{formatTable, formatJSONL} {
		got := runCommand(t, "", "conversation", "watch", "--db", path, "-o", format, conversation1)
		if text := strings.ReplaceAll(got.stdout, "\n", ""); text == "" || printable(text) != text {
			t.Errorf("%s: %+v", format, got)
		}
	}
}

func TestAShellIsOfferedTheConversationsOfTheStore(t *testing.T) {
	path := filledStore(t)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"conversation", "show", "--db", path, ""}, 2},
		{[]string{"conversation", "watch", "--db", path, conversation1}, 1},
		{[]string{"conversation", "diff", "--db", path, conversation1, ""}, 2},
		{[]string{"conversation", "watch", "--db", path, conversation1, ""}, 0},
		{[]string{"conversation", "export", "--db", path, "nowhere"}, 0},
		{[]string{"conversation", "replay", "--db", path + ".missing", ""}, 0},
	} {
		got := runCommand(t, "", append([]string{"__complete"}, c.args...)...)
		if n := strings.Count(got.stdout, "\t"); got.code != exitOK || n != c.want || !strings.Contains(got.stdout, ":4") {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}
