package schema_test

import (
	"errors"
	"fmt"

	"github.com/parley-agents/parley/guard/schema"
)

type Seat struct {
	Flight string            `json:"flight" jsonschema:"pattern=^[A-Z]{2}[0-9]+$"`
	Row    int               `json:"row" jsonschema:"minimum=1,maximum=60"`
	Class  string            `json:"class,omitempty" jsonschema:"enum=economy,enum=business"`
	Notes  map[string]string `json:"notes,omitempty"`
}

func seatSchema() *schema.Schema {
	s, err := schema.For[Seat]("acme.flight.book/v1")
	if err != nil {
		panic(err)
	}
	return s
}

func ExampleFor() {
	s := seatSchema()
	fmt.Println(s.ID(), s.Required(), s.Properties())

	_, err := schema.For[struct{ Extra any }]("acme.flight.book/v1")
	fmt.Println(err != nil)
	// Output:
	// urn:schema:acme.flight.book/v1 [flight row] [class flight notes row]
	// true
}

func ExampleParse() {
	_, err := schema.Parse([]byte(`{"properties":{"city":{"$ref":"https://example.com/city.json"}}}`))
	fmt.Println(err)
	// Output:
	// schema: document refused at /properties/city/$ref: "https://example.com/city.json" is outside the document
}

func ExampleSchema_Validate() {
	err := seatSchema().Validate([]byte(`{"flight":"AY121","row":0,"window":true}`))
	var invalid *schema.Invalid
	if errors.As(err, &invalid) {
		for _, violation := range invalid.Violations {
			fmt.Println(violation)
		}
	}
	// Output:
	// /row: minimum: want at least 1, got number 0
	// /window: additionalProperties: want one of class, flight, notes, row, got boolean true
}

func ExampleSchema_Open() {
	newer := []byte(`{"flight":"AY121","row":7,"window":true}`)
	fmt.Println(seatSchema().Validate(newer) == nil, seatSchema().Open().Validate(newer) == nil)
	// Output: false true
}

func ExampleSchema_At() {
	part, ok := seatSchema().At("/row")
	fmt.Println(ok, string(part))
	// Output:
	// true {"$schema":"https://json-schema.org/draft/2020-12/schema","maximum":60,"minimum":1,"type":"integer"}
}

func ExampleDecode() {
	seat, err := schema.Decode[Seat](seatSchema(), []byte(`{"flight":"AY121","row":7.0}`))
	fmt.Println(seat.Flight, seat.Row, err)
	// Output: AY121 7 <nil>
}

func ExampleEncode() {
	text, err := schema.Encode(seatSchema(), Seat{Flight: "AY121", Row: 7})
	fmt.Println(string(text), err)
	// Output: {"flight":"AY121","row":7} <nil>
}

func ExampleSchema_Lower() {
	lowered, err := seatSchema().Lower()
	if err != nil {
		panic(err)
	}
	// A model that keeps to the lowered schema writes every member.
	seat, err := lowered.Restore([]byte(`{"flight":"AY121","row":7,"class":null,"notes":[{"key":"meal","value":"rice"}]}`))
	fmt.Println(string(seat), err)
	// Output: {"flight":"AY121","notes":{"meal":"rice"},"row":7} <nil>
}
