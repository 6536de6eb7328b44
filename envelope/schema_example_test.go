package envelope_test

import (
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
)

func ExampleJSONSchema() {
	s, err := schema.Parse(envelope.JSONSchema())
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := envelope.Seal(request(), []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.ID() == envelope.SchemaID, s.Validate(e.Bytes()))
	// Output: true <nil>
}
