package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func Example() {
	dir, err := os.MkdirTemp("", "two-agents")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	main()
	// The reference follows from the key, so it is the same however often this runs.
	main()
	// Output:
	// booked AY121-a57f49ed
	// booked AY121-a57f49ed
}
