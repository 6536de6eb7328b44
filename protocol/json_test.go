package protocol

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/envelope"
)

// agrees holds what is read back of AppendJSON to what is read back of encoding/json.
func agrees(t interface{ Fatalf(string, ...any) }, x Exchange) {
	for _, at := range []*time.Time{&x.ReplyBy, &x.AgreeBy, &x.CancelBy, &x.LeaseBy, &x.AckBy} {
		*at = at.UTC()
	}
	text, wanted := json.Marshal(x)
	got, err := x.AppendJSON([]byte("before"))
	if (err == nil) != (wanted == nil) {
		t.Fatalf("got %v, want %v", err, wanted)
	}
	if err != nil {
		return
	}
	var read, want Exchange
	if err := json.Unmarshal(got[len("before"):], &read); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !reflect.DeepEqual(read, want) {
		t.Fatalf("got %s\nwant %s", got, text)
	}
}

func TestEveryMemberOfAnExchangeIsWritten(t *testing.T) {
	agrees(t, Exchange{})
	of := reflect.TypeFor[Exchange]()
	for i := range of.NumField() {
		var x Exchange
		switch f := reflect.ValueOf(&x).Elem().Field(i); v := f.Addr().Interface().(type) {
		case *[]string:
			*v = []string{"one", "tw\"o", "drei ÷"}
		case *time.Time:
			*v = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
		case **envelope.Error:
			*v = envelope.NewError(envelope.CodePermanent, "<why>")
			(*v).Detail = &envelope.Detail{Want: "more"}
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString("x")
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int, reflect.Int64:
				f.SetInt(-7)
			default:
				t.Fatalf("%s has a type that is not tried here", of.Field(i).Name)
			}
		}
		agrees(t, x)
	}
}

func TestWhatAnExchangeHoldsIsReadBackAsWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		when := rapid.Custom(func(t *rapid.T) time.Time {
			zone := time.FixedZone("", 60*rapid.IntRange(-24*60, 24*60).Draw(t, "zone"))
			return time.Unix(rapid.Int64Range(-1<<38, 1<<38).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).In(zone)
		})
		agrees(t, Exchange{
			Owner: text.Draw(t, "owner"), Opening: text.Draw(t, "opening"), Asked: rapid.SliceOf(text).Draw(t, "asked"), ReplyBy: when.Draw(t, "reply by"),
			Round: rapid.Int().Draw(t, "round"), Sent: rapid.Int64().Draw(t, "sent"), Closed: rapid.Bool().Draw(t, "closed"),
		})
	})
}

// What a store cannot read back it must not take, and what it can it must not refuse.
func TestATimeOfAnExchangeIsWrittenInUTCIfItHasJSON(t *testing.T) {
	west := time.FixedZone("", -2*60*60)
	for _, c := range []struct {
		at  time.Time
		has bool
	}{
		{time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC), false},
		{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), true},
		{time.Date(-1, 12, 31, 22, 0, 0, 0, west), true},
		{time.Date(2026, 3, 1, 12, 0, 0, 5, west), true},
		{time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), true},
		{time.Date(9999, 12, 31, 22, 0, 0, 0, west), false},
	} {
		var list [5]Exchange
		list[0].ReplyBy, list[1].AgreeBy, list[2].CancelBy, list[3].LeaseBy, list[4].AckBy = c.at, c.at, c.at, c.at, c.at
		for _, x := range list {
			text, err := x.AppendJSON(nil)
			if (err == nil) != c.has {
				t.Errorf("%v: %v", c.at, err)
			}
			if agrees(t, x); err != nil {
				continue
			}
			var read Exchange
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for _, at := range []time.Time{read.ReplyBy, read.AgreeBy, read.CancelBy, read.LeaseBy, read.AckBy} {
				if !at.IsZero() && (!at.Equal(c.at) || at.Location() != time.UTC) {
					t.Errorf("%v is read back as %v", c.at, at)
				}
			}
		}
	}
}
