// Package a2a is the HTTP face of Parley: agents as servers and as clients of
// the A2A protocol, version 1.0.
//
// A task is a view of the conversation log. It is kept nowhere else: whoever
// gets it, lists it or follows it reads the log, and so does a server that has
// just started again.
package a2a
