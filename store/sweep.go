package store

// Swept counts what Store.Sweep forgot.
type Swept struct {
	Inbox         int
	Effects       int
	Conversations int
	DeadLetters   int
	Commands      int
	// More says that a limit ended the work: there may be more to forget.
	More bool
}

// None reports whether nothing was forgotten.
func (s Swept) None() bool {
	return s.Inbox == 0 && s.Effects == 0 && s.Conversations == 0 && s.DeadLetters == 0 && s.Commands == 0
}
