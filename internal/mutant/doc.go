// Package mutant switches one safeguard off, so that the tests which guard it can be seen to fail.
//
// Each constant is false unless the build carries its tag (mutant_repair, mutant_duplicate,
// mutant_deadline, mutant_legality). The tags are for experiments on the test suite; a release
// never sets one, and since the values are constants a release carries no trace of the branches.
package mutant
