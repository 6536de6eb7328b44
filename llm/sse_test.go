package llm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// readEvents returns the events of a source as "name=data", and how it ended.
func readEvents(r io.Reader) ([]string, error) {
	events := &eventReader{source: bufio.NewReader(r)}
	var out []string
	for {
		name, data, err := events.next()
		if err != nil {
			return out, err
		}
		out = append(out, name+"="+string(data))
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"=a"}},
		{"a name", "event: x\ndata: a\n\ndata: b\n\n", []string{"x=a", "=b"}},
		{"a name without data is forgotten", "event: x\n\ndata: a\n\n", []string{"=a"}},
		{"lines are joined", "data: a\ndata:\ndata:  b\n\n", []string{"=a\n\n b"}},
		{"one space is taken off", "data:a\n\ndata: a\n\ndata:  a\n\n", []string{"=a", "=a", "= a"}},
		{"a field alone", "data\n\n", []string{"="}},
		{"comments and other fields", ": data: x\nid: 1\nDATA: x\ndata: a\n\n", []string{"=a"}},
		{"the last event may lack its blank line", "data: a", []string{"=a"}},
		{"every end of line", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", []string{"=a", "=b", "=c"}},
		{"a byte order mark only at the start", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"=a"}},
	} {
		if got, err := readEvents(strings.NewReader(c.body)); !slices.Equal(got, c.want) || err != io.EOF {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

func TestAnEventThatASourceBreaksIsNotRead(t *testing.T) {
	broken := errors.New("broken")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !slices.Equal(got, []string{"=a"}) || err != broken {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestABoundedSourceGivesExactlyItsLimit(t *testing.T) {
	for size := range 8 {
		for limit := range 8 {
			for _, r := range []io.Reader{strings.NewReader("1234567"[:min(size, 7)]), iotest.OneByteReader(strings.NewReader("1234567"[:min(size, 7)]))} {
				got, err := io.ReadAll(&bounded{source: r, limit: int64(limit), left: int64(limit)})
				cut := asError(err)
				if len(got) != min(size, limit, 7) || (cut != nil) != (size > limit) || cut != nil && cut.Kind != ErrorCut {
					t.Errorf("%d of %d: got %q, %v", limit, size, got, err)
				}
			}
		}
	}
}

func TestAThinkBlockIsSplitHoweverItIsCut(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"<think>", "</think>", "<", "</", "think>", "<think", " ", "\n", "\u00a0", "a", "ä b"}), rapid.StringN(0, 4, -1))
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(piece).Draw(t, "pieces")
		whole := strings.Join(pieces, "")
		thoughts, answer := splitThinking(whole)
		var s thinkSplitter
		var said, thought string
		for _, p := range pieces {
			a, b := s.add(p)
			said, thought = said+a, thought+b
		}
		closed := s.state == thinkClosed
		if said += s.rest(whole); said != answer {
			t.Fatalf("got %q, want %q", said, answer)
		}
		if closed && thought != thoughts {
			t.Fatalf("got thoughts %q, want %q", thought, thoughts)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"", "data: a\n\n", "event: x\r\ndata: a\r\n\r\n", "data: a\rdata: b\r\r", "\ufeffdata", ":\n\n\ndata:"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want, err := readEvents(bytes.NewReader(body))
		if err != io.EOF {
			t.Fatal(err)
		}
		if got, _ := readEvents(iotest.OneByteReader(bytes.NewReader(body))); !slices.Equal(got, want) {
			t.Fatalf("byte by byte %q, at once %q", got, want)
		}
		if !bytes.Contains(body, []byte("\r")) {
			for _, end := range []string{"\r\n", "\r"} {
				if got, _ := readEvents(bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte(end)))); !slices.Equal(got, want) {
					t.Fatalf("with %q %q, else %q", end, got, want)
				}
			}
		}
		if size := len(strings.Join(want, "")); size > 2*len(body) {
			t.Fatalf("%d bytes became %d", len(body), size)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"finish_reason\":\"stop\"}]}\n\n",
		"data: {\"error\":{}}\n\n", "event: error\ndata: 1\n\n", `{"choices":[{"message":{"content":"x"}}]}`, "data: 1 2 [DONE]x\n\n",
		`data: {"choices":[{"index":1e99,"delta":{"content":[{"thinking":"x"}],"tool_calls":[{"index":-1.5},1]}},1,null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		endpoint := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		c := NewOpenAI(Config{HTTPClient: &http.Client{Transport: endpoint}, MaxRetries: -1, MaxBody: 1 << 16})
		var text string
		reply, err := c.Stream(context.Background(), Request{}, func(p Part) error { text += p.Text; return nil })
		switch {
		case err != nil && asError(err) == nil:
			t.Fatalf("an error of another type: %v", err)
		case (err == nil) != (reply != nil):
			t.Fatalf("got %+v, %v", reply, err)
		case err == nil && reply.Finish != FinishRefusal && text != reply.Text:
			t.Fatalf("told %q of %q", text, reply.Text)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
