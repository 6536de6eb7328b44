//go:build mutant_repair

package mutant

// Repair reduces repair to the strict parse: what fails it is given up at once.
const Repair = true
