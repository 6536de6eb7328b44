//go:build mutant_legality

package mutant

// Legality accepts acts that the transition table does not allow.
const Legality = true
