//go:build mutant_deadline

package mutant

// Deadline accepts messages after their deadline.
const Deadline = true
