// Command tck runs the official compatibility kit of A2A against Parley and
// writes down how that went.
//
//	go run ./a2a/internal/tck [-kit folder] [-python program]
//
// With -kit it builds and starts the agent of a2a/internal/sut, runs the kit in
// that folder against it, once with everything that an A2A agent may offer and
// once with nothing of it, and writes docs/a2a-conformance.json. With or without,
// it then draws the tables of docs/a2a-conformance.md from that file. It is run
// at the root of the repository.
//
// The kit is https://github.com/a2aproject/a2a-tck; nothing here fetches it. Its
// Python needs pytest, httpx and jsonschema. It exits with 1 when a test that
// the table of differences does not explain failed or was skipped.
package main
