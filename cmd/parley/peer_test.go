package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// metStore is a store whose host has met two agents elsewhere.
func metStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.db")
	withStore(t, path, func(ctx context.Context, s *sqlite.Store) error {
		_, first := s.Pin(ctx, store.Pin{URI: hotels, Key: bytes.Repeat([]byte{1}, 32), From: "https://hotels.example/desk\x1b[2J", At: noon})
		_, second := s.Pin(ctx, store.Pin{URI: flights, Key: bytes.Repeat([]byte{2}, 32), From: "loopback", At: noon})
		return errors.Join(first, second)
	})
	return path
}

func TestPeerPrintsItsGoldenOutput(t *testing.T) {
	path, parley, other := metStore(t), serveDesk(t, nil), foreign(t, nil)
	for _, c := range []struct{ name, args string }{
		{"peer-card", "peer card " + parley},
		{"peer-card.json", "peer card -o json " + parley},
		{"peer-card-foreign", "peer card " + other},
		{"peer-card-foreign.json", "peer card -o json " + other},
		{"peer-ls", "peer ls --db " + path},
		{"peer-ls.json", "peer ls -o json --db " + path},
		{"peer-ls.jsonl", "peer ls -o jsonl --db " + path},
		{"peer-unpin", "peer unpin --dry-run flights --db " + path},
		{"peer-unpin.json", "peer unpin --yes -o json " + hotels + " --db " + path},
		{"peer-ls-after.json", "peer ls -o json --db " + path},
	} {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		text := got.stdout
		if strings.Contains(c.name, "card") {
			text = steady(text)
		}
		wantGolden(t, c.name, text)
		if bare := strings.ReplaceAll(got.stdout, "\n", ""); printable(bare) != bare {
			t.Errorf("%s steers a terminal: %q", c.name, got.stdout)
		}
	}
}

func TestACardWhoseSignatureDoesNotHoldIsAViolation(t *testing.T) {
	resp, err := http.Get(serveDesk(t, nil) + wire.CardPath)
	must(t, err)
	defer resp.Body.Close()
	card, err := io.ReadAll(resp.Body)
	must(t, err)
	forged := httptest.NewServer(says(http.StatusOK, strings.Replace(string(card), "The agent desk", "The agent bank", 1)))
	defer forged.Close()
	for _, verb := range [][]string{{"peer", "card", forged.URL}, {"send", forged.URL, "my account, please"}} {
		if got := runCommand(t, "", verb...); got.code != exitViolation || !strings.Contains(got.stderr, "signature") || got.stdout != "" {
			t.Errorf("%v: %+v", verb, got)
		}
	}
}

func TestACardWhoseInterfacesAreElsewhereIsUsedOnlyIfThatIsAllowed(t *testing.T) {
	url := foreign(t, map[string]http.HandlerFunc{"/message:send": says(200, `{"task":`+taskJSON("COMPLETED", "}")+`}`)})
	resp, err := http.Get(url + wire.CardPath)
	must(t, err)
	defer resp.Body.Close()
	card, err := io.ReadAll(resp.Body)
	must(t, err)
	elsewhere := httptest.NewServer(says(http.StatusOK, string(card)))
	defer elsewhere.Close()
	if got := runCommand(t, "", "send", elsewhere.URL, "hi"); got.code != exitViolation || !strings.Contains(got.stderr, "origin") {
		t.Errorf("%+v", got)
	}
	if got := runCommand(t, "", "send", elsewhere.URL, "hi", "--origin", url); got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

func TestAnAgentThatRequiresAnExtensionIsCalledByWhoeverNamesIt(t *testing.T) {
	url := serveDesk(t, func(cfg *a2a.Config, _ *agent.Host) {
		cfg.Extensions = []wire.AgentExtension{{URI: "urn:needed", Required: true}}
	})
	for _, verb := range [][]string{{"peer", "card", url}, {"send", url, "hi"}, {"send", "--stream", url, "hi"}} {
		if got := runCommand(t, "", verb...); got.code != exitViolation || !strings.Contains(got.stderr, "urn:needed") {
			t.Errorf("%v: %+v", verb, got)
		}
		if got := runCommand(t, "", append(verb, "--extension", "urn:other,urn:needed")...); got.code != exitOK || got.stdout == "" {
			t.Errorf("%v with the extension: %+v", verb, got)
		}
	}
}

func TestAKeyIsForgottenOnlyIfItIsMeant(t *testing.T) {
	path := metStore(t)
	if got := runCommand(t, "", "peer", "unpin", hotels, "--db", path); got.code != exitUsage || !strings.Contains(got.stderr, "--yes") {
		t.Errorf("without a terminal: %+v", got)
	}
	if got := runCommand(t, "", "peer", "unpin", "--yes", "nobody", "--db", path); got.code != exitNotFound {
		t.Errorf("of nobody: %+v", got)
	}
	if got := runCommand(t, "", "peer", "unpin", "--yes", hotels, "--db", path+".missing"); got.code != exitNotFound {
		t.Errorf("without a store: %+v", got)
	}
	if got := runCommand(t, "", "peer", "ls", "--db", path); !strings.Contains(got.stdout, hotels) {
		t.Errorf("it was forgotten: %+v", got)
	}
	if got := runCommand(t, "", "__complete", "peer", "unpin", "--db", path, ""); !strings.Contains(got.stdout, flights+"\tmet at loopback") {
		t.Errorf("a shell is offered %+v", got)
	}
}

func TestAKeyIsForgottenBesideARunningHost(t *testing.T) {
	path := metStore(t)
	host, err := sqlite.Open(t.Context(), path)
	must(t, err)
	defer func() { must(t, host.Close()) }()
	if got := runCommand(t, "", "peer", "unpin", "--yes", hotels, "--db", path); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if _, err := host.Pinned(t.Context(), hotels); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the host still has it: %v", err)
	}
}
