// Package protocol holds the rules of conversations: versioned contracts, the
// transition tables of each protocol and role, and Advance, the pure function
// that moves one exchange by one act or timer.
//
// Nothing here reads a clock, does I/O or draws a random number. Time comes in
// as an argument, acts as sealed envelopes, and what should happen next goes
// out as a list of outputs that the runtime carries out.
//
// The interaction protocols follow the FIPA interaction protocol family (FIPA
// SC00026, SC00027), with the rows added that make them safe over channels
// that delay, lose and repeat messages.
package protocol
