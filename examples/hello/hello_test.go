package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// asProgram makes the test binary the program itself.
const asProgram = "PARLEY_TEST_HELLO"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheProgramFitsOnAPage(t *testing.T) {
	data, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n > 30 {
		t.Errorf("main.go has %d lines, want at most 30", n)
	}
}

// clerk is the program as a process of its own.
type clerk struct {
	*exec.Cmd
	url string
}

// start runs the program on the store at db and returns when it listens.
func start(t *testing.T, addr, db string) *clerk {
	t.Helper()
	c := &clerk{exec.CommandContext(t.Context(), os.Args[0], addr), "http://" + addr}
	c.Env = append(os.Environ(), asProgram+"=1", "PARLEY_DB="+db, "OPENAI_BASE_URL=", "OPENAI_API_KEY=", "PARLEY_PEERS=")
	c.Stdout, c.Stderr = t.Output(), t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	for try := time.NewTicker(20 * time.Millisecond); ; <-try.C {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			return c
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// end ends the process with a signal and returns how it ended.
func (c *clerk) end(t *testing.T, s os.Signal) error {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	return c.Wait()
}

// task is what both bindings answer with.
type task struct {
	ID        string
	Status    struct{ State string }
	Artifacts []struct{ Parts []struct{ Text string } }
}

func (k task) text() string {
	if len(k.Artifacts) == 1 && len(k.Artifacts[0].Parts) == 1 {
		return k.Artifacts[0].Parts[0].Text
	}
	return ""
}

// post sends JSON as curl does and reads the answer.
func post(t *testing.T, url, body string, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s (%v)", url, resp.Status, data, err)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// message is the request of SendMessage.
func message(id, text string) string {
	return fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]}}`, id, text)
}

// byREST asks over HTTP+JSON, byRPC over JSON-RPC.
func (c *clerk) byREST(t *testing.T, id, text string) task {
	t.Helper()
	var answer struct{ Task task }
	post(t, c.url+"/message:send", message(id, text), &answer)
	return answer.Task
}

func (c *clerk) byRPC(t *testing.T, id, text string) task {
	t.Helper()
	var answer struct {
		Result struct{ Task task }
		Error  json.RawMessage
	}
	post(t, c.url, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+message(id, text)+`}`, &answer)
	if answer.Error != nil {
		t.Fatalf("%s", answer.Error)
	}
	return answer.Result.Task
}

// freeAddr is an address of this machine where nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestTheClerkCallsItsToolWithTheCityThatWasNamed(t *testing.T) {
	c := start(t, freeAddr(t), filepath.Join(t.TempDir(), "clerk.db"))
	for question, city := range map[string]string{
		"What is the weather in Oulu?":        "Oulu",
		`is it nice in "san josé" now`:        "san josé",
		"How cold is New York today":          "New York",
		"In Turku, or was it Tampere, today?": "Tampere",
	} {
		for binding, k := range map[string]task{"JSON-RPC": c.byRPC(t, "rpc: "+question, question), "HTTP+JSON": c.byREST(t, "rest: "+question, question)} {
			if k.Status.State != "TASK_STATE_COMPLETED" || !strings.Contains(k.text(), "city is "+city) {
				t.Errorf("%s over %s: %+v; want the weather of %s", question, binding, k, city)
			}
		}
	}
	if k := c.byREST(t, "nothing", ""); k.text() != "Which city?" {
		t.Errorf("nothing said: %+v; want the question for the missing parameter", k)
	}
	if err := c.end(t, os.Interrupt); err != nil {
		t.Errorf("Ctrl-C ended it with %v", err)
	}
}

func TestTheSameMessageHasTheSameAnswerAfterTheProcessWasKilled(t *testing.T) {
	addr, db := freeAddr(t), filepath.Join(t.TempDir(), "clerk.db")
	const question = "What is the weather in Oulu?"
	c := start(t, addr, db)
	rest, rpc := c.byREST(t, "one", question), c.byRPC(t, "two", question)
	if rest.ID == "" || rest.ID == rpc.ID || rest.text() == "" {
		t.Fatalf("%+v and %+v", rest, rpc)
	}
	_ = c.end(t, os.Kill)
	c = start(t, addr, db)
	if again := c.byREST(t, "one", question); again.ID != rest.ID || again.text() != rest.text() {
		t.Errorf("HTTP+JSON: %+v, then %+v", rest, again)
	}
	if again := c.byRPC(t, "two", question); again.ID != rpc.ID || again.text() != rpc.text() {
		t.Errorf("JSON-RPC: %+v, then %+v", rpc, again)
	}
}

func TestTheCardIsSignedWithTheKeyThatItShowsAlsoByTheNextProcess(t *testing.T) {
	addr, db := freeAddr(t), filepath.Join(t.TempDir(), "clerk.db")
	c := start(t, addr, db)
	first := c.key(t)
	_ = c.end(t, os.Kill)
	if second := start(t, addr, db).key(t); !second.Equal(first) {
		t.Error("the next process has another key")
	}
}

// key reads the card, checks its signature and returns the key that it shows.
func (c *clerk) key(t *testing.T) ed25519.PublicKey {
	t.Helper()
	resp, err := http.Get(c.url + "/.well-known/agent-card.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var card struct {
		Capabilities struct {
			Extensions []struct{ Params struct{ Agent, Key string } }
		}
	}
	if err := json.Unmarshal(data, &card); err != nil || len(card.Capabilities.Extensions) != 1 {
		t.Fatalf("%s: %v", data, err)
	}
	shown := card.Capabilities.Extensions[0].Params
	key, err := base64.RawURLEncoding.DecodeString(shown.Key)
	if err != nil {
		t.Fatal(err)
	}
	known := func(wire.SignatureHint) crypto.PublicKey { return ed25519.PublicKey(key) }
	if hint, err := wire.VerifyCard(data, known); err != nil || hint.KeyID != "agent://local/clerk" || shown.Agent != hint.KeyID {
		t.Errorf("%+v, %v", hint, err)
	}
	if _, err := wire.VerifyCard(bytes.Replace(data, []byte("clerk"), []byte("clork"), 1), known); err == nil {
		t.Error("a changed card is signed too")
	}
	return key
}
