package schema_test

import (
	"testing"

	"github.com/parley-agents/parley/guard/schema"
)

type remark struct {
	Text string `json:"text" jsonschema:"maxLength=65536"`
}

func BenchmarkRemark(b *testing.B) {
	s, err := schema.For[remark]("test.remark/v1")
	if err != nil {
		b.Fatal(err)
	}
	said := remark{"What will the weather be in Helsinki on Tuesday?"}
	data, err := schema.Encode(s, said)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Validate(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.Encode(s, said); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.Decode[remark](s, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
