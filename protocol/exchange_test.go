package protocol

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestAStoredExchangeComesBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSealer(t)
		p := rapid.SampledFrom(All()).Draw(t, "protocol")
		x := opened(p.Name, rapid.SampledFrom([]Role{Initiator, Participant}).Draw(t, "role"))
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			in, now := s.input(x, rapid.SampledFrom(events).Draw(t, "event"))
			x, _, _ = Advance(x, now, in) // a violation leaves x as it was
		}
		checkJSON(t, x)
	})
}

func TestAStoredExchangeKeepsItsWholeError(t *testing.T) {
	for _, on := range []Event{"?refuse", Misunderstood, Nacked} {
		s := newSealer(t)
		x := s.drive(opened(RequestV1, Initiator), "!request", on)
		if !reflect.DeepEqual(x.Error, detailed()) || x.Misread != (on == Misunderstood) {
			t.Fatalf("%s: %+v", on, x)
		}
		checkJSON(t, x)
	}
}

func checkJSON(t failer, x Exchange) {
	t.Helper()
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var back Exchange
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("%v", err)
	}
	if !reflect.DeepEqual(back, x) {
		t.Fatalf("%+v\ncame back as\n%+v", x, back)
	}
}
