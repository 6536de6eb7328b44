package transcript_test

import (
	"encoding/json"
	"fmt"
	"time"

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

func ExampleCodes() {
	codes := transcript.Codes()
	fmt.Println(codes[0], "to", codes[len(codes)-1])
	// Output: E_SHAPE to E_ACK_REQUIRED
}

func ExampleAt() {
	helsinki := time.FixedZone("EET", 2*60*60)
	data, err := json.Marshal(transcript.At(time.Date(2026, 3, 1, 14, 0, 0, 123_456_789, helsinki)))
	fmt.Println(string(data), err)
	// Output: "2026-03-01T12:00:00.123Z" <nil>
}
