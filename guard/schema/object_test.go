package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
)

type parcel struct {
	Inside schema.Object `json:"inside,omitempty"`
}

func TestAnObjectOfAnyMembersIsKeptAsItIsAndNothingElsePasses(t *testing.T) {
	s, err := schema.For[parcel]("acme.parcel/v1")
	if err != nil {
		t.Fatal(err)
	}
	for content, fits := range map[string]bool{
		`{}`: true, `{"inside":{}}`: true, `{"inside":{"a":{"b":[1,null,"c"]}}}`: true,
		`{"inside":[]}`: false, `{"inside":"a"}`: false, `{"inside":1}`: false, `{"inside":{},"more":1}`: false,
	} {
		if err := s.Validate([]byte(content)); (err == nil) != fits {
			t.Errorf("%s: %v, want it to fit: %v", content, err, fits)
		}
	}
	encoded, err := schema.Encode(s, parcel{Inside: schema.Object(`{"b":1,"a":{"c":[]}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"inside":{"a":{"c":[]},"b":1}}`; string(encoded) != want {
		t.Errorf("encoded %s, want %s", encoded, want)
	}
	decoded, err := schema.Decode[parcel](s, encoded)
	if err != nil || string(decoded.Inside) != `{"a":{"c":[]},"b":1}` {
		t.Errorf("decoded %s, %v", decoded.Inside, err)
	}
	if data, err := json.Marshal(struct{ O schema.Object }{}); err != nil || string(data) != `{"O":null}` {
		t.Errorf("an absent object is written as %s, %v", data, err)
	}
}
