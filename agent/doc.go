// Package agent is where agents are built and run: what an agent answers
// (Handle, Answer), what its model may use (Tool, MayAsk), and the Host, the
// process that owns a store and moves every exchange by committed steps.
//
// The unit of everything is one committed step of one exchange: it consumes
// one message, timer or local call, moves the state machine, records the
// outcome, appends to the log and emits outgoing envelopes, in one
// transaction. Receivers that never act twice, replies that are never lost
// and recovery after a crash follow from that one rule.
package agent
