// Package protocol holds the rules of conversations: versioned contracts, the
// transition tables of each protocol and role, and Advance, the pure function
// that moves one exchange by one act or timer. Beside it stand what concerns a
// conversation as a whole: Gather, which decides on and reduces what several
// members contributed, Conclusion, which says how a conversation ended, and
// StateDigest, which tells whether two logs mean the same.
//
// Nothing here reads a clock, does I/O or draws a random number. Time comes in
// as an argument, acts as sealed envelopes, and what should happen next goes
// out as a list of outputs that the runtime carries out.
//
// The interaction protocols follow the FIPA interaction protocol family (FIPA
// SC00026, SC00027, SC00029, SC00035, SC00036), with the rows added that make
// them safe over channels that delay, lose and repeat messages. The gather
// protocol is this package's own.
package protocol
