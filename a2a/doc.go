// Package a2a is the HTTP face of Parley: agents as servers and as clients of
// the A2A protocol, version 1.0.
//
// NewServer serves the agents of a host, Dial reaches an agent elsewhere for one,
// and NewClient calls the operations of any server.
//
// A task is a view of the conversation log. It is kept nowhere else: whoever
// gets it, lists it or follows it reads the log, and so does a server that has
// just started again.
//
// A request to a server goes this way:
//
//	visit, gate, access, quota   may it come in, and who is it
//	rpc, rest, operate           which operation is it, in either binding
//	intake, intake_…             what it brings is taken: envelopes, and messages of clients without Parley
//	snapshot, fold, events, list the task as the log tells it, at once or as a stream (sse)
//	push_…                       the same events, posted to webhooks
//
// A host reaches agents elsewhere by a Peer:
//
//	dial, peer, card_read        who is there, and is it still the same
//	carrier, carrier_foreign     an act is sent
//	reader, reader_…             what the agent says is fetched, and given to the host
//	client, client_…             the operations, for anybody
//
// What both share is the envelope in a message (envelope), the states of a task
// (state) and the objects of the protocol (package wire).
package a2a
