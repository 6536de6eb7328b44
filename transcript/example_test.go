package transcript_test

import (
	"fmt"

	"github.com/parley-agents/parley/transcript"
)

func ExampleValidate() {
	v := transcript.Validate([]byte(`{"schemaVersion": "1.0.0", "terminal": null}`))
	fmt.Println("valid:", v.Valid)
	for _, f := range v.Errors {
		if f.Code == transcript.CodeShape || f.Code == transcript.CodeVersion {
			fmt.Println(f.Code, f.Path)
		}
	}
	// Output:
	// valid: false
	// E_SHAPE $.limits
	// E_SHAPE $.terminal
	// E_VERSION $.schemaVersion
}
