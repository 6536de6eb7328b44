package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

type question struct {
	City string `json:"city"`
}

type reply struct {
	Sky string `json:"sky"`
}

// inProcess runs the command in a process of its own.
func inProcess(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(ctx, os.Args[0], args...)
	child.Env = append(os.Environ(), asCommand+"=1")
	child.Stdout, child.Stderr = &stdout, &stderr
	err := child.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return result{child.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestAProcessOfItsOwnSeesTheConversationsOfARunningHost(t *testing.T) {
	withoutModel(t)
	path := filepath.Join(t.TempDir(), "parley.db")
	t.Setenv("PARLEY_DB", path)
	weather := protocol.Query[question, reply]("acme.weather.now/v1")
	working, release := make(chan struct{}), make(chan struct{})
	clerk := agent.New("clerk", agent.Handle(weather, func(ctx context.Context, q question) (reply, error) {
		if q.City == "Oulu" {
			close(working)
			<-release
		}
		return reply{Sky: "grey"}, nil
	}))
	caller := agent.New("caller")
	host, err := parley.Start(t.Context(), clerk, caller)
	if err != nil {
		t.Fatal(err)
	}
	must(t, os.Chmod(path, 0o600))
	if _, err := agent.Ask(t.Context(), caller, "clerk", weather, question{"Turku"}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		// It is answered when several processes have come and gone, however slowly.
		_, err := agent.Ask(t.Context(), caller, "clerk", weather, question{"Oulu"}, agent.Within(time.Hour))
		answered <- err
	}()
	<-working

	var listed struct{ Conversations []conversation }
	list := func(args ...string) []conversation {
		t.Helper()
		got := inProcess(t, append([]string{"conversation", "ls", "-o", "json"}, args...)...)
		if got.code != exitOK || got.stderr != "" {
			t.Fatalf("%+v", got)
		}
		listed.Conversations = nil
		must(t, json.Unmarshal([]byte(got.stdout), &listed))
		return listed.Conversations
	}
	if n := len(list()); n != 4 {
		t.Errorf("%d conversations, want two of each agent", n)
	}
	own := list("--owner", "caller")
	if len(own) != 2 || own[0].State != "live" || own[0].EndedAt != "" || own[1].State != "ended" || own[1].EndedAt == "" || own[1].Messages < 2 {
		t.Fatalf("the caller's conversations are %+v", own)
	}

	var shown struct{ Logs []log }
	got := inProcess(t, "conversation", "show", "--owner", "caller", "--envelopes", "-o", "json", own[1].ID)
	must(t, json.Unmarshal([]byte(got.stdout), &shown))
	if len(shown.Logs) != 1 || len(shown.Logs[0].Entries) < 2 || len(shown.Logs[0].Entries[0].Envelope) == 0 {
		t.Errorf("%+v", got)
	}
	if got := inProcess(t, "doctor"); got.code != exitOK {
		t.Errorf("doctor: %+v", got)
	}
	if got := inProcess(t, "conversation", "show", "nowhere"); got.code != exitNotFound || got.stdout != "" {
		t.Errorf("%+v", got)
	}

	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the host was disturbed: %v", err)
	}
	if own := list("--owner", "caller"); len(own) != 2 || own[0].State != "ended" {
		t.Errorf("afterwards %+v", own)
	}
	must(t, host.Stop(context.WithoutCancel(t.Context())))
	if got := list("--owner", "caller"); len(got) != 2 {
		t.Errorf("without a host %+v", got)
	}
}
