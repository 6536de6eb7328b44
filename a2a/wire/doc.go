// Package wire is the A2A protocol, version 1.0, as it looks on the wire: its
// objects, their JSON (ProtoJSON) and its errors. It knows no agent and no
// HTTP server. The source is specification/a2a.proto of A2A v1.0.1; section
// numbers in comments are those of that specification's text.
//
// Everything here is plain data. Metadata and data parts are kept as the JSON
// that came, so that whatever passes through is what was sent, numbers that no
// float64 holds included; only line ends between its tokens become spaces, so
// that an encoded object is always one line.
//
// [Encode] and [Decode] are for every object. Around them a server parses
// requests with [ParseRequest] (JSON-RPC) or [ParseRoute] (HTTP+JSON) and
// answers with [EncodeResult], [EncodeError] and [EncodeStatus]; a client has
// [EncodeRequest] and [DecodeAnswer], [EncodeREST], [DecodeResult] and
// [DecodeStatus]. All functions are pure and safe for concurrent use. They
// take time linear in their input; how long that may be is for their caller to
// bound.
package wire
