package envelope

import "testing"

func BenchmarkSealAndDecode(b *testing.B) {
	h := act(Request)
	h.Labels.Readers = []string{flights}
	h.Extensions = map[string]Extension{"https://acme.example/kept/v1": {Value: []byte(`{"digest":"` + hex64 + `","message":{"messageId":"m1","parts":[{"text":"What will the weather be?"}],"role":"ROLE_USER"}}`)}}
	content := contentFor(h)
	sealed, err := Seal(h, content)
	if err != nil {
		b.Fatal(err)
	}
	data := sealed.Bytes()
	b.Run("Seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Seal(h, content); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
