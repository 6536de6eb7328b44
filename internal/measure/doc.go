// Package measure measures the durable store and the host on it, and holds
// what it finds to bounds. Figures of one machine say little about another, so
// every bound is on a ratio of two things that were measured by turns in one
// run: the median over its rounds. The raw figures are printed above the
// ratios.
//
// What is committed is what an agent commits: the write sets of one request
// are recorded from real hosts, and repeated under fresh ids.
package measure
