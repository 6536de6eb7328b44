// Package crash holds tests that kill real processes. Two processes with a host
// and an SQLite file each talk over a socket, a driver sends them SIGKILL at
// random moments and at named places, starts them again, and looks at what they
// left on disk and did outside.
package crash
