package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
)

const servingDocs = "../docs/serving.md"

// drawnPart is what stands between two markers. Its name says what is drawn.
var drawnPart = regexp.MustCompile(`(?s)<!-- drawn: ([^ ]+) -->\n.*?<!-- end -->`)

// PARLEY_UPDATE_GOLDEN=1 go test ./a2a writes the drawn parts anew.
func TestThePageAboutServingSaysWhatTheCodeDoes(t *testing.T) {
	data, err := os.ReadFile(servingDocs)
	if err != nil {
		t.Fatal(err)
	}
	drawings := map[string]func(*testing.T) [][]string{"checks": drawChecks, "server": drawServerLimits, "webhooks": drawWebhookLimits,
		"client": drawClientLimits, "states": drawStates}
	text := drawnPart.ReplaceAllStringFunc(string(data), func(part string) string {
		name := drawnPart.FindStringSubmatch(part)[1]
		draw, known := drawings[name]
		if !known {
			t.Fatalf("%s wants a drawing of %q, which is unknown or was drawn before", servingDocs, name)
		}
		delete(drawings, name)
		return fmt.Sprintf("<!-- drawn: %s -->\n\n%s\n<!-- end -->", name, table(draw(t)))
	})
	for name := range drawings {
		t.Errorf("%s does not draw %q", servingDocs, name)
	}
	if text == string(data) {
		return
	}
	if os.Getenv("PARLEY_UPDATE_GOLDEN") == "" {
		t.Fatalf("%s is not what the code does; PARLEY_UPDATE_GOLDEN=1 writes it anew", servingDocs)
	}
	if err := os.WriteFile(servingDocs, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table is a table in Markdown whose first row is the heading.
func table(rows [][]string) string {
	var text strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			text.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return text.String()
}

// attempt is a request that is wrong in every way until it is repaired.
type attempt struct {
	method, url, addr, site, token, version, media, extension, body string
}

func (a attempt) request() *http.Request {
	r := httptest.NewRequest(a.method, a.url, strings.NewReader(a.body))
	r.RemoteAddr = a.addr
	for name, value := range map[string]string{"Sec-Fetch-Site": a.site, "Authorization": a.token, wire.VersionHeader: a.version,
		"Content-Type": a.media, wire.ExtensionsHeader: a.extension} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

// drawChecks makes a request that fails every check, and repairs it step by
// step: what it is answered is the order of the checks.
func drawChecks(t *testing.T) [][]string {
	const message = `{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}`
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + params + `}`
	}
	allowed := false
	cfg := Config{MaxBody: 1000, Rate: 1e-9, Burst: 1, NoPush: true, BaseURL: "https://agents.example", Log: slog.New(slog.DiscardHandler),
		Authenticate: []Authenticator{BearerTokens(func(_ context.Context, secret string) (string, error) { return secret, nil })},
		Authorize: func(context.Context, Access) error {
			if !allowed {
				return fmt.Errorf("not today")
			}
			return nil
		}}
	card := func() (*wire.AgentCard, error) {
		return &wire.AgentCard{Capabilities: wire.Capabilities{Extensions: []wire.AgentExtension{{URI: "urn:needed", Required: true}}}}, nil
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	srv, err := newServer(cfg, func() time.Time { return now }, func() string { return "id" },
		&served{name: "clerk", uri: "agent://local/clerk", service: &scripted{}, describe: card, sign: unsigned})
	if err != nil {
		t.Fatal(err)
	}
	h := srv.Handler()
	a := attempt{method: http.MethodGet, url: "https://rebound.example/nowhere", addr: "192.0.2.1:1", site: "cross-site",
		media: "text/plain", version: "0.3", body: strings.Repeat(" ", 1001)}
	for range 2 { // the first uses up what this address may ask
		h.ServeHTTP(httptest.NewRecorder(), attempt{method: http.MethodPost, url: "https://agents.example/", addr: a.addr}.request())
	}
	rows := [][]string{{"", "a request is refused if", "HTTP status", "error"}}
	n := 1
	for _, c := range []struct {
		what   string
		repair func()
	}{
		{"its header `Host` is none of the server's names (DNS rebinding)", func() { a.url = "https://agents.example/nowhere"; a.method = http.MethodPost }},
		{"a page of another web site made a browser send it (`Config.Origins`)", func() { a.site = ""; a.method = http.MethodGet }},
		{"nothing is at its path", func() { a.url = "https://agents.example/clerk" }},
		{"the path does not have its method", func() { a.method = http.MethodPost }},
		{"its caller, or the address of one who proved nothing, asks too often (`Config.Rate`)", func() { a.addr = "192.0.2.2:1" }},
		{"its caller does not prove who it is (`Config.Authenticate`)", func() { a.token = "Bearer ann" }},
		{"its body is too large (`Config.MaxBody`), or does not come in time (408) or whole (400)", func() { a.body = "hello" }},
		{"it asks for another version of the protocol than 1.0", func() { a.version = "1.0" }},
		{"its body does not say that it is JSON", func() { a.media = "application/json" }},
		{"its body is not JSON, or no request", func() { a.body = call(`{"message":{}}`) }},
		{"the hook refuses it (`Config.Authorize`)", func() { allowed = true }},
		{"it does not name an extension that the agent requires (`Config.Extensions`)", func() { a.extension = "urn:needed" }},
		{"what it says has a fault", func() {
			a.body = call(`{"message":` + message + `,"configuration":{"taskPushNotificationConfig":{"url":"https://h.example"}}}`)
		}},
		{"it needs what is not served, such as webhooks (`Config.NoPush`)", func() { a.body = call(`{"message":` + message + `}`) }},
	} {
		// A browser says where it comes from only with what changes something.
		probe := a
		if probe.site != "" {
			probe.method = http.MethodPost
		}
		if probe.token != "" { // else the one who was let in has used up its own
			probe.token += strconv.Itoa(n)
		}
		if a.addr == "192.0.2.2:1" {
			probe.addr = fmt.Sprintf("192.0.2.2%d:1", n)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, probe.request())
		if w.Code < 400 && !strings.Contains(w.Body.String(), `"error"`) {
			t.Fatalf("%s: it is let in: %s", c.what, w.Body)
		}
		rows = append(rows, []string{strconv.Itoa(n), c.what, strconv.Itoa(w.Code), kindIn(t, w.Body.Bytes())})
		n++
		c.repair()
	}
	a.token += "last"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, a.request()); !strings.Contains(w.Body.String(), `"result"`) {
		t.Fatalf("when all is repaired: %d %s", w.Code, w.Body)
	}
	return rows
}

// kindIn is the kind of the error in an answer of either binding.
func kindIn(t *testing.T, body []byte) string {
	t.Helper()
	type info struct{ Reason string }
	var rest struct {
		Error struct {
			Code    json.Number
			Details []info
			Data    []info
		}
	}
	if err := json.Unmarshal(body, &rest); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	reason := ""
	for _, i := range slices.Concat(rest.Error.Details, rest.Error.Data) {
		reason = cmp.Or(reason, i.Reason)
	}
	if strings.HasPrefix(rest.Error.Code.String(), "-") {
		return "`" + reason + "` (" + rest.Error.Code.String() + ")"
	}
	return "`" + reason + "`"
}

func drawServerLimits(*testing.T) [][]string {
	c := Config{}.withDefaults()
	return [][]string{
		{"what", "default", "set by"},
		{"the headers of a request", size(maxHeader), "fixed; the `http.Server`'s where a handler is mounted"},
		{"the body of a request", size(int(c.MaxBody)), "`MaxBody`"},
		{"requests of one caller in a second, in the long run", fmt.Sprint(c.Rate), "`Rate`"},
		{"requests of one caller at once", fmt.Sprint(c.Burst), "`Burst`"},
		{"open streams of one caller", fmt.Sprint(c.MaxStreams), "`MaxStreams`"},
		{"other calls of one caller in progress", fmt.Sprint(c.MaxCalls), "`MaxCalls`"},
		{"callers whose rate is remembered", fmt.Sprint(maxAccounts), "fixed"},
		{"waiting for the headers", c.Timeouts.Header.String(), "`Timeouts.Header`"},
		{"waiting for the body", c.Timeouts.Body.String(), "`Timeouts.Body`"},
		{"writing an answer, or an event of a stream", c.Timeouts.Write.String(), "`Timeouts.Write`"},
		{"waiting for the next request of a connection", c.Timeouts.Idle.String(), "`Timeouts.Idle`"},
		{"silence of a stream before a comment", c.Timeouts.Heartbeat.String(), "`Timeouts.Heartbeat`"},
		{"requests in progress when the server ends", c.Timeouts.Shutdown.String(), "`Timeouts.Shutdown`"},
		{"tasks on a page of ListTasks", fmt.Sprintf("%d, at most %d", defaultPage, maxPage), "the client"},
		{"artifacts in a task that is read", fmt.Sprintf("the last %d; all where there are no streams", maxArtifacts), "`NoStreams`"},
		{"the deadline of what a client opens that knows no Parley", foreignWithin.String() + ", a subscription " + subscribedWithin.String(), "fixed"},
	}
}

func drawWebhookLimits(*testing.T) [][]string {
	return [][]string{
		{"what", "limit"},
		{"webhooks of one task", fmt.Sprint(maxTaskPushes)},
		{"webhooks of one caller at one agent", fmt.Sprint(maxCallerPushes)},
		{"a webhook's URL", size(maxPushURL)},
		{"one call, from the look-up of its name to its answer", pushTimeout.String()},
		{"calls at once, and of them to one host", fmt.Sprintf("%d, %d", maxPosts, maxPostsPerHost)},
		{"the wait before a call that failed is tried again", fmt.Sprintf("%s, doubled up to %s, spread", pushRetryFirst, pushRetryMax)},
		{"trying after the task has ended", pushPatience.String()},
	}
}

func drawClientLimits(*testing.T) [][]string {
	c := DialConfig{}.withDefaults()
	hooked := DialConfig{Webhook: NewWebhook("https://here.example/notice")}.withDefaults()
	return [][]string{
		{"what", "default", "set by"},
		{"waiting for an answer, or for a stream to begin", c.Client.Timeout.String(), "`Client.Timeout`"},
		{"silence of a stream before it is taken for dead", c.Client.Silence.String(), "`Client.Silence`"},
		{"an answer, or an event of a stream", size(c.Client.MaxResponse), "`Client.MaxResponse`"},
		{"an agent card", size(maxCard), "fixed"},
		{"streams from one agent at once", fmt.Sprint(c.Streams), "`Streams`"},
		{"reading what no stream tells", c.Poll.String() + ", with a webhook " + hooked.Poll.String(), "`Poll`"},
		{"reading the card again", c.Refresh.String(), "`Refresh`"},
	}
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// drawStates lists the states and outcomes of the participants of all protocols
// by the state of the task that a client sees.
func drawStates(t *testing.T) [][]string {
	var order []wire.TaskState
	by := map[wire.TaskState][]string{}
	for _, p := range protocol.All() {
		states := map[protocol.State]bool{}
		for _, row := range p.Table(protocol.Participant).Rows() {
			states[row.From], states[row.To] = true, true
		}
		for s := range states {
			seen := taskState(p.Name, s, false)
			if seen == "" {
				t.Errorf("%s: the state %s is none of a task", p.Name, s)
			}
			name := "`" + string(s) + "`"
			if s.Done() {
				name = "`" + string(s.Outcome()) + "`"
			}
			if seen == wire.Rejected && s.Done() && s.Outcome() == protocol.Rejected {
				name += " (in propose)"
			}
			if !slices.Contains(by[seen], name) {
				by[seen] = append(by[seen], name)
			}
		}
	}
	order = []wire.TaskState{wire.Submitted, wire.Working, wire.InputRequired, wire.Completed, wire.Failed, wire.Rejected, wire.Canceled}
	rows := [][]string{{"the task is", "while or when the exchange is"}}
	for _, s := range order {
		slices.Sort(by[s])
		also := ""
		if s == wire.InputRequired {
			also = ", and whenever the agent has asked back"
		}
		rows = append(rows, []string{"`" + string(s) + "`", strings.Join(by[s], ", ") + also})
		delete(by, s)
	}
	if len(by) > 0 {
		t.Errorf("states that are not drawn: %v", by)
	}
	return rows
}
