package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"pgregory.net/rapid"
)

func TestWhatWaitsForAWatcherIsBoundedAndTheNewsOfTheLogIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bus
		k := store.Key{Owner: "agent://local/a", Conversation: "c", Peer: "agent://local/b"}
		s := b.subscribe(k)
		defer b.unsubscribe(k, s)
		big := json.RawMessage(strings.Repeat("1", 256<<10))
		events := []Event{nil, &Delta{Text: "ab"}, &Delta{Reasoning: strings.Repeat("r", 5000)}, &Calling{Arguments: big}, &Refused{Rule: "x"}}
		grown := false
		for range rapid.IntRange(0, 40).Draw(t, "bursts") {
			e := events[rapid.IntRange(0, len(events)-1).Draw(t, "event")]
			for range rapid.IntRange(1, 200).Draw(t, "times") {
				b.tell(k, e)
				grown = grown || e == nil
			}
			if rapid.IntRange(0, 9).Draw(t, "taken") == 0 {
				s.take()
				grown = false
			}
			bytes, news := 0, false
			for _, w := range s.queue {
				bytes += weight(w)
				news = news || w == nil
			}
			if len(s.queue) > maxWaiting || bytes > maxWaitingBytes || bytes != s.bytes {
				t.Fatalf("%d events of %d bytes wait, counted as %d", len(s.queue), bytes, s.bytes)
			}
			if grown != news {
				t.Fatalf("the log has grown: %v; the queue says so: %v", grown, news)
			}
		}
	})
}

func TestNobodyIsLeftSubscribedToAnExchange(t *testing.T) {
	var b bus
	k := store.Key{Conversation: "c"}
	one, two := b.subscribe(k), b.subscribe(k)
	b.unsubscribe(k, one)
	if !b.watched(k) {
		t.Error("the other watcher is gone too")
	}
	b.unsubscribe(k, two)
	if b.watched(k) || len(b.subs) != 0 {
		t.Errorf("left: %v", b.subs)
	}
}
