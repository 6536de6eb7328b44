// Package simulate plays worlds: hosts, their agents and the users of those, in
// a time of their own, under accidents that follow from a seed. What runs is
// the runtime itself, not a model of it: the hosts of package agent with the
// guard, the protocols and a store in memory. Only time, randomness, the
// network and the order of goroutines are the simulator's, so that one seed is
// one run, on any machine, and a run that broke a promise can be had again and
// cut down to the few accidents that it takes.
//
// The network drops, duplicates, delays and reorders; hosts crash before and
// after every call of their store and of their transport and come back; disks
// fail, clocks jump, nodes are slow, and somebody who has seen a message forges
// others. When the accidents are over every world must come to rest, and its
// stores are held to Properties.
//
// Run plays worlds of a built-in town that speaks every two-party and
// multi-party protocol, or, with Config.Set, worlds of the caller's own agents.
// agenttest.Simulate does so in a test.
package simulate
