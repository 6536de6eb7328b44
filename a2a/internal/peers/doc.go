// Package peers puts Parley's A2A server before clients that were not written
// for it, and its client before such servers: those of the protocol's makers,
// in Go (github.com/a2aproject/a2a-go) and for Node.js (@a2a-js/sdk, in the
// folder npm).
//
// It is a module of its own, so that whoever uses Parley never downloads what
// it is tried with. Run it with go test; -v prints which scenario went well with
// which client. Without npm the clients of Node.js are skipped, unless the
// environment says CI=true.
package peers
