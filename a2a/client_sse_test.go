package a2a

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func readAll(t *testing.T, r io.Reader, limit int) (list []sseEvent, failed error) {
	t.Helper()
	for e, err := range readEvents(r, limit) {
		if err != nil {
			if failed != nil {
				t.Fatal("a second error")
			}
			failed = err
			continue
		}
		if failed != nil {
			t.Fatal("an event after the error")
		}
		list = append(list, e)
	}
	return list, failed
}

func TestAStreamOfEventsIsReadAsTheStandardHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []sseEvent
	}{
		"nothing":                       {"", nil},
		"one event":                     {"data: a\n\n", []sseEvent{{"", []byte("a")}}},
		"carriage returns":              {"id: 7\rdata: a\r\rdata: b\r\r", []sseEvent{{"7", []byte("a")}, {"7", []byte("b")}}},
		"both ends":                     {"id: 7\r\ndata: a\r\n\r\n", []sseEvent{{"7", []byte("a")}}},
		"several lines":                 {"data: a\ndata:b\ndata\n\n", []sseEvent{{"", []byte("a\nb\n")}}},
		"comments and unknown fields":   {": hello\nevent: x\nretry: 5\ndata: a\n\n", []sseEvent{{"", []byte("a")}}},
		"no data is no event":           {"id: 1\n\ndata: a\n\n", []sseEvent{{"1", []byte("a")}}},
		"an id with a zero is none":     {"id: 1\n\nid: a\x00b\ndata: a\n\n", []sseEvent{{"1", []byte("a")}}},
		"an empty id takes the id away": {"id: 1\ndata: a\n\nid\ndata: b\n\n", []sseEvent{{"1", []byte("a")}, {"", []byte("b")}}},
		"a mark of the byte order":      {"\ufeffdata: a\n\n", []sseEvent{{"", []byte("a")}}},
		"half an event at the end":      {"data: a\n\ndata: b\n", []sseEvent{{"", []byte("a")}}},
		"empty data is an event":        {"data:\n\n", []sseEvent{{"", []byte("")}}},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "in bytes": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := readAll(t, r, 1<<10)
			if err != nil || len(got) != len(c.want) {
				t.Errorf("%s, %s: got %q, %v; want %q", name, how, got, err, c.want)
				continue
			}
			for i := range got {
				if got[i].id != c.want[i].id || !bytes.Equal(got[i].data, c.want[i].data) {
					t.Errorf("%s, %s: event %d is %q, want %q", name, how, i, got[i], c.want[i])
				}
			}
		}
	}
}

func TestAnEventOfSeveralMegabytesIsReadAndALargerOneRefused(t *testing.T) {
	const limit = 5 << 20
	large := strings.Repeat("x", limit)
	got, err := readAll(t, strings.NewReader("data: "+large+"\n\n"), limit)
	if err != nil || len(got) != 1 || string(got[0].data) != large {
		t.Fatalf("an event at the limit: %d events, %v", len(got), err)
	}
	for name, text := range map[string]string{
		"one line":      "data: a\n\ndata: " + large + "yyyyyyyyyyyyyyyy\n\n",
		"several lines": "data: a\n\ndata: " + large[:limit/2] + "\ndata: " + large[:limit/2] + "\ndata: y\n\n",
		"no end":        "data: a\n\n" + strings.Repeat("y", 2*limit),
	} {
		if got, err := readAll(t, strings.NewReader(text), limit); !errors.Is(err, errEventTooLarge) || len(got) != 1 {
			t.Errorf("%s: %d events, %v; want one and %v", name, len(got), err, errEventTooLarge)
		}
	}
}

func TestABrokenStreamEndsInItsError(t *testing.T) {
	broken := errors.New("the line is dead")
	got, err := readAll(t, io.MultiReader(strings.NewReader("data: a\n\ndata: b\n\n"), iotest.ErrReader(broken)), 100)
	if len(got) != 2 || !errors.Is(err, broken) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestWhereTheBytesAreCutChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"data: a", "data", "id: 1", "id", ":", "\n", "\r", "\r\n", "x"})).Draw(t, "text"), "")
		var whole, cut []sseEvent
		for e := range readEvents(strings.NewReader(text), 1<<10) {
			whole = append(whole, e)
		}
		for e := range readEvents(iotest.HalfReader(strings.NewReader(text)), 1<<10) {
			cut = append(cut, e)
		}
		if len(whole) != len(cut) {
			t.Fatalf("%q: %q whole, %q in halves", text, whole, cut)
		}
		for i := range whole {
			if whole[i].id != cut[i].id || !bytes.Equal(whole[i].data, cut[i].data) {
				t.Fatalf("%q: %q whole, %q in halves", text, whole, cut)
			}
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {}\n\n: beat\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for e, err := range readEvents(bytes.NewReader(text), 64) {
			if err == nil && len(e.data) > 64 {
				t.Fatalf("an event of %d bytes", len(e.data))
			}
		}
	})
}

func TestALineThatComesInPiecesIsLookedAtOnce(t *testing.T) {
	line := []byte("data: " + strings.Repeat("x", 1000) + "\r\n")
	var s lineSplitter
	for n := range len(line) {
		if advance, _, err := s.split(line[:n], false); advance != 0 || err != nil || s.seen != min(n, len(line)-2) {
			t.Fatalf("after %d bytes: took %d, looked at %d, %v", n, advance, s.seen, err)
		}
	}
	if advance, found, err := s.split(line, false); advance != len(line) || len(found) != len(line)-2 || err != nil || s.seen != 0 {
		t.Errorf("took %d bytes for %d, %v", advance, len(found), err)
	}
}

// little gives little at a time.
type little struct{ io.Reader }

func (l little) Read(p []byte) (int, error) { return l.Reader.Read(p[:min(len(p), 4096)]) }

func BenchmarkAnEventThatComesInPieces(b *testing.B) {
	text := "data: " + strings.Repeat("x", 8<<20) + "\n\n"
	for b.Loop() {
		for _, err := range readEvents(little{strings.NewReader(text)}, 16<<20) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestAnIdThatNoHeaderCarriesIsNotKept(t *testing.T) {
	for _, id := range []string{"a\x01b", "\x7f", strings.Repeat("x", 1<<20)} {
		got, err := readAll(t, strings.NewReader(fmt.Sprintf("id: 1\ndata: a\n\nid: %s\ndata: b\n\n", id)), 2<<20)
		if err != nil || len(got) != 2 || got[1].id != "1" || string(got[1].data) != "b" {
			t.Errorf("%.5q: %d events, %v", id, len(got), err)
		}
	}
}
