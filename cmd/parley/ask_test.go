package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// asks are verbs that ask a host for something, and what they ask for.
func asks() map[string]store.Command {
	return map[string]store.Command{
		"outbox retry " + messagePending: {Verb: store.VerbRetry, Owner: planner, Conversation: conversation2, Peer: hotels, MessageID: messagePending},
		"dlq requeue --yes " + messageDead: {Verb: store.VerbRequeue, Owner: planner, Conversation: conversation1, Peer: flights, MessageID: messageDead,
			Source: store.DeadOutbox},
		"dlq drop -y " + messageForged: {Verb: store.VerbDrop, Owner: flights, Conversation: conversation1, Peer: planner, MessageID: messageForged,
			Source: store.DeadQuarantine},
		"conversation cancel " + conversation2: {Verb: store.VerbCancel, Owner: planner, Conversation: conversation2},
		"conversation cancel --owner planner --peer agent://acme/hotels " + conversation2: {Verb: store.VerbCancel, Owner: planner,
			Conversation: conversation2, Peer: hotels},
	}
}

// kept is a command as the store at path has it.
func kept(t *testing.T, path, id string) (store.Command, error) {
	t.Helper()
	s, err := inspect(t.Context(), path)
	must(t, err)
	defer s.Close()
	return s.Command(t.Context(), id)
}

func TestACommandThatNobodyAnswersStandsAndExitsWithFive(t *testing.T) {
	for line, want := range asks() {
		for _, c := range []struct {
			flag, said string
			code       int
		}{
			{"--timeout=1ms", "the command stands and is carried out when a host runs", exitTimeout},
			{"--no-wait", "", exitOK},
		} {
			path := workStore(t)
			got := runCommand(t, "", append(strings.Fields(line), "-o", "json", c.flag, "--db", path)...)
			if got.code != c.code || !strings.Contains(got.stderr, c.said) || (got.stderr == "") != (c.said == "") {
				t.Errorf("%s %s: %+v", line, c.flag, got)
			}
			var printed order
			must(t, json.Unmarshal([]byte(got.stdout), &printed))
			want.ID, want.By, want.At = command1, "user:ada", noon
			stands, err := kept(t, path, command1)
			if err != nil || stands != want || printed != orderOf(want) || printed.Status != orderWaiting {
				t.Errorf("%s: %+v stands (%v), want %+v; printed %+v", line, stands, err, want, printed)
			}
			if got := runCommand(t, "", "command", "show", "-o", "json", "--db", path, command1); got.code != exitOK || !strings.Contains(got.stdout, `"waiting"`) {
				t.Errorf("%+v", got)
			}
		}
	}
}

func TestADryRunAsksNothing(t *testing.T) {
	path := workStore(t)
	for line := range asks() {
		got := runCommand(t, "", append(strings.Fields(line), "--dry-run", "--db", path)...)
		if _, err := kept(t, path, command1); !errors.Is(err, store.ErrNotFound) || got.code != exitOK || !strings.Contains(got.stdout, orderPlanned) {
			t.Errorf("%s: %+v (%v)", line, got, err)
		}
	}
}

func TestOnATerminalItIsAskedWhetherADeadLetterIsMeant(t *testing.T) {
	for _, verb := range []string{"requeue", "drop"} {
		for said, meant := range map[string]bool{"y\n": true, "YES\n": true, "yes": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
			path := workStore(t)
			var stdout, stderr bytes.Buffer
			p := process{stdin: strings.NewReader(said), stdout: &stdout, stderr: &stderr, terminal: true, user: "user:ada",
				now: func() time.Time { return noon }, newID: func() string { return command1 }}
			code := p.run(t.Context(), []string{"dlq", verb, "--no-wait", "--db", path, messagePoison})
			_, err := kept(t, path, command1)
			if (err == nil) != meant || (code == exitOK) != meant || !strings.Contains(stderr.String(), messagePoison) || !strings.Contains(stderr.String(), "? ") {
				t.Errorf("%s, %q: exit code %d, %v, %q", verb, said, code, err, stderr.String())
			}
		}
	}
}

func TestAnInterruptEndsAQuestion(t *testing.T) {
	path := workStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := process{stdin: never{}, stdout: io.Discard, stderr: io.Discard, terminal: true}
	if code := p.run(ctx, []string{"dlq", "drop", "--db", path, messageDead}); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

func TestAnInterruptEndsTheWaitAndTheCommandStands(t *testing.T) {
	path := workStore(t)
	s, err := inspect(t.Context(), path)
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := s.Command(ctx, command1); err == nil {
				cancel()
			}
		}
	}()
	var stdout bytes.Buffer
	p := process{stdin: never{}, stdout: &stdout, stderr: io.Discard, now: func() time.Time { return noon }, newID: func() string { return command1 }}
	code := p.run(ctx, []string{"outbox", "retry", "--timeout", "1h", "--db", path, messagePending})
	cancel()
	if code != exitInterrupted || !strings.Contains(stdout.String(), orderWaiting) {
		t.Errorf("exit code %d: %s", code, stdout.String())
	}
}
