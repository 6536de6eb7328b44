// Package a2a is the HTTP face of Parley: agents as servers and as clients of
// the A2A protocol, version 1.0.
//
// NewServer serves the agents of a host, Dial reaches an agent elsewhere for one,
// and NewClient calls the operations of any server. The package's files are named
// by their part: intake_ and cancel take what callers say, foreign_ serves and
// reaches those that know no Parley, snapshot, fold, events, get and list show a
// task, push_ posts to webhooks, card_ has the agent cards, client_ is the client,
// reader_ collects what agents elsewhere say, and the rest is HTTP.
//
// A task is a view of the conversation log. It is kept nowhere else: whoever
// gets it, lists it or follows it reads the log, and so does a server that has
// just started again.
package a2a
