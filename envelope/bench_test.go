package envelope

import "testing"

func BenchmarkSealAndDecode(b *testing.B) {
	small := act(Inform)
	small.Labels.Readers = []string{flights}
	h := act(Request)
	h.Labels.Readers = []string{flights}
	h.Extensions = map[string]Extension{"https://acme.example/kept/v1": {Value: []byte(`{"digest":"` + hex64 + `","message":{"messageId":"m1","parts":[{"text":"What will the weather be?"}],"role":"ROLE_USER"}}`)}}
	for _, c := range []struct {
		name    string
		header  Header
		content []byte
	}{{"small", small, []byte(`{"text":"It will rain."}`)}, {"extended", h, contentFor(h)}} {
		sealed, err := Seal(c.header, c.content)
		if err != nil {
			b.Fatal(err)
		}
		data := sealed.Bytes()
		b.Run(c.name+"/Seal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Seal(c.header, c.content); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/Decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
