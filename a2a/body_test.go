package a2a

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestABodyThatSaysItIsTooLargeIsRefusedUnread(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for _, path := range []string{"/", "/message:send"} {
		c, err := net.Dial("tcp", s.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		// Nothing of the body is sent: an answer shows that nothing was waited for.
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, 64<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		runtime.ReadMemStats(&after)
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close || !strings.Contains(string(body), string(wire.InvalidRequest)) {
			t.Errorf("%s: %d, close %v, %s", path, resp.StatusCode, resp.Close, body)
		}
		if path != "/" && !strings.Contains(string(body), `"code":413,`) {
			t.Errorf("%s: the body names another status than its answer: %s", path, body)
		}
		if d := after.TotalAlloc - before.TotalAlloc; d > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", path, d)
		}
	}
}

func TestABodyThatDoesNotSayHowLargeItIsIsReadUpToTheLimit(t *testing.T) {
	s := newSite(t, Config{MaxBody: 1 << 10}, &scripted{})
	post := func(n int) int {
		text := strings.Replace(aMessage, "hello", strings.Repeat("x", n-len(aMessage)+5), 1)
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.http.URL+"/message:send", io.MultiReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("Content-Type", "application/a2a+json")
		return s.do(r).StatusCode
	}
	for n, want := range map[int]int{1 << 10: 200, 1<<10 + 1: 413} {
		if got := post(n); got != want {
			t.Errorf("%d bytes: %d, want %d", n, got, want)
		}
	}
}

func TestABodyThatIsCutOffOrCannotBeReadIsNotCalledSlow(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for name, body := range map[string]string{
		"cut off":   "Content-Length: 9\r\n\r\n{",
		"no chunks": "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"no end":    "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		c, err := net.Dial("tcp", s.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n%s", body); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite() // it may have hung up by now
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusBadRequest || !resp.Close || !strings.Contains(string(answer), "cannot be read whole") {
			t.Errorf("%s: %d, close %v, %s", name, resp.StatusCode, resp.Close, answer)
		}
	}
}

func TestASlowRequestIsGivenUp(t *testing.T) {
	inBubble(t, Config{}, &scripted{}, func(b *bubble) {
		for name, c := range map[string]struct {
			request string
			after   time.Duration
		}{
			"headers":       {"GET /tasks HTTP/1.1\r\nHost: loc", 5 * time.Second},
			"body":          {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", 30 * time.Second},
			"unwanted body": {"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", 30 * time.Second},
			"idle":          {"GET /tasks HTTP/1.1\r\nHost: localhost\r\n\r\n", 2 * time.Minute},
		} {
			start := time.Now()
			conn := b.raw(c.request)
			answer, err := io.ReadAll(conn)
			if name == "body" && !strings.Contains(string(answer), "408 Request Timeout") {
				b.t.Errorf("%s: answered with %q", name, answer)
			}
			if d := time.Since(start); err != nil || d < c.after || d > c.after+time.Second {
				b.t.Errorf("%s: given up after %v, %v, %q", name, d, err, answer)
			}
			_ = conn.Close()
		}
	})
}

func TestReadingTheBodyInTimeLeavesTheWorkItsTime(t *testing.T) {
	s := &scripted{send: func(ctx context.Context, _ *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &wire.SendMessageResponse{Task: aTask("t1")}, nil
	}}
	inBubble(t, Config{}, s, func(b *bubble) {
		r, _ := http.NewRequestWithContext(b.t.Context(), "POST", "http://localhost/message:send", strings.NewReader(aMessage))
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("Content-Type", "application/json")
		resp, err := b.client.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			b.t.Errorf("got %d", resp.StatusCode)
		}
	})
}

func TestABodyMustSayThatItIsJSON(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for media, want := range map[string]wire.Kind{
		"application/json": "", "application/a2a+json": "", "Application/JSON; charset=utf-8": "",
		"": wire.ContentTypeNotSupported, "text/plain": wire.ContentTypeNotSupported, "application/x-www-form-urlencoded": wire.ContentTypeNotSupported,
	} {
		for path, status := range map[string]int{"/": 200, "/message:send": 400} {
			r := s.ask("POST", path, aMessage, "Content-Type", media)
			if path == "/" {
				r = s.rpc(path, wire.SendMessage, aMessage, "Content-Type", media)
			}
			if want == "" {
				if r.StatusCode != 200 || r.fault(t) != nil {
					t.Errorf("%s as %q: %d %s", path, media, r.StatusCode, r.body)
				}
				continue
			}
			r.expect(t, status, want)
		}
	}
	if r := s.ask("POST", "/tasks/t1:cancel", ""); r.StatusCode != 200 {
		t.Errorf("without a body: %d %s", r.StatusCode, r.body)
	}
}

func TestWhatIsNotARequestIsAnsweredByTheRuleThatItBreaks(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	deep := `{"jsonrpc":"2.0","id":7,"method":"GetTask","params":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 101)
	for body, want := range map[string]wire.Kind{
		`{`: wire.ParseError, ``: wire.ParseError, `[}`: wire.ParseError, "\xff": wire.ParseError, deep: wire.ParseError,
		`[]`: wire.InvalidRequest, `[{"jsonrpc":"2.0","id":7,"method":"ListTasks"}]`: wire.InvalidRequest, `7`: wire.InvalidRequest,
		`{"id":7,"method":"ListTasks"}`:                                wire.InvalidRequest,
		`{"jsonrpc":"2.0","method":"ListTasks"}`:                       wire.InvalidRequest,
		`{"jsonrpc":"2.0","id":7}`:                                     wire.InvalidRequest,
		`{"jsonrpc":"2.0","id":7,"method":"Dance"}`:                    wire.MethodNotFound,
		`{"jsonrpc":"2.0","id":7,"method":"GetTask"}`:                  wire.InvalidParams,
		`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":[]}`:      wire.InvalidParams,
		`{"jsonrpc":"2.0","id":7,"method":"message/send","params":{}}`: wire.VersionNotSupported,
	} {
		s.ask("POST", "/", body, "Content-Type", "application/json").expect(t, http.StatusOK, want)
	}
	s.ask("POST", "/message:send", `{`).expect(t, http.StatusBadRequest, wire.ParseError)
	s.ask("POST", "/message:send", `[]`).expect(t, http.StatusBadRequest, wire.InvalidParams)
	s.ask("GET", "/tasks?pageSize=-1", "").expect(t, http.StatusBadRequest, wire.InvalidParams)
	s.ask("GET", "/tasks?statusTimestampAfter=yesterday", "").expect(t, http.StatusBadRequest, wire.InvalidParams)
}

func TestAnAnswerHasTheIDOfItsRequest(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for _, id := range []string{`7`, `"seven"`, `null`} {
		for _, method := range []string{"ListTasks", "Dance"} {
			r := s.ask("POST", "/", `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`)
			if !strings.Contains(r.body, `"id":`+id+`,`) || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s of id %s: %s", method, id, r.body)
			}
		}
	}
}
