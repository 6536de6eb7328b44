// Package wire is the A2A protocol, version 1.0, as it looks on the wire: its
// objects, their JSON (ProtoJSON) and its errors. It knows no agent and no
// HTTP server. The source is specification/a2a.proto of A2A v1.0.1; section
// numbers in comments are those of that specification's text.
//
// Everything here is plain data. Metadata and data parts are kept as the JSON
// that came, so that whatever passes through is byte for byte what was sent.
package wire
