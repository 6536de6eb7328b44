//go:build mutant_duplicate

package mutant

// Duplicate lets a message that was already accepted take effect again.
const Duplicate = true
