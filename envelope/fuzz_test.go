package envelope

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzDecode(f *testing.F) {
	for _, h := range append(everyKind(), full(), refusal(), fenced()) {
		f.Add(seal(f, h).Bytes())
	}
	f.Add([]byte(`{"v":"1.0","performative":"request","labels":{},"signatures":[{}],"extensions":{"urn:x:y":{}}}`))
	f.Add([]byte(`{"v":"1.0","receipt":"ack","hop":1e2,"error":{"detail":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		Salvage(data)
		e, err := Decode(data)
		if err != nil {
			var shape *ShapeError
			if !errors.As(err, &shape) || shape.Rule == "" || shape.Want == "" {
				t.Fatalf("error is %#v", err)
			}
			return
		}
		again, err := Decode(e.Bytes())
		if err != nil || again.Digest() != e.Digest() || !bytes.Equal(again.Bytes(), e.Bytes()) {
			t.Fatalf("%s decoded again to %v (%v)", e.Bytes(), again, err)
		}
		if _, err := Seal(e.Header(), e.Content()); err != nil {
			t.Fatalf("%s cannot be sealed: %v", e.Bytes(), err)
		}
		if s, ok := Salvage(data); !ok || s.Sender != e.Sender() || s.Receiver != e.Receiver() {
			t.Fatalf("salvaged %q, %v", s.Sender, ok)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := seal(b, full()).Bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
