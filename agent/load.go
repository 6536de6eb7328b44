package agent

// Load is how much a host has in hand.
type Load struct {
	// Working is how many workers are taken, Running how many pieces of work have
	// begun, those that wait for somebody else among them, and Waiting how many
	// were accepted and wait for a worker.
	Working, Running, Waiting int
	// Sending is how many messages are on their way.
	Sending int
	// Open are the receivers that are left alone because they could not be
	// reached, in the order of their URIs.
	Open []string
}

// Load is what the host has in hand at this moment. It may be called at any
// time.
func (h *Host) Load() Load {
	var l Load
	l.Working, l.Waiting = h.dispatch.load()
	l.Running = h.jobs.count()
	h.out.mu.Lock()
	l.Sending = h.out.sending
	h.out.mu.Unlock()
	l.Open = h.broken.open()
	return l
}
