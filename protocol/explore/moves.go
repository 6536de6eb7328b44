package explore

import "github.com/parley-agents/parley/protocol"

// Capacity is how many messages each direction of a channel holds. Who would
// send one more waits.
const Capacity = 3

// Channel says what happens to messages between the two sides. On every one a
// cancel may overtake, and a guard may refuse an opening act for good.
type Channel string

// The channels.
const (
	// FIFO delivers everything in the order in which it was sent: what
	// sequence numbers make of any carrier.
	FIFO Channel = "fifo"
	// Loss is FIFO that may drop any message.
	Loss Channel = "loss"
	// Reorder delivers everything in any order.
	Reorder Channel = "reorder"
	// Timeless is FIFO on which no timer ever fires: it shows what ends without
	// one.
	Timeless Channel = "timeless"
	// Undisturbed is Timeless with an initiator that never cancels: it shows
	// what the protocol is for.
	Undisturbed Channel = "undisturbed"
)

// Channels lists the channels on which a protocol has to hold: FIFO, Loss and
// Reorder.
func Channels() []Channel { return []Channel{FIFO, Loss, Reorder} }

// ordered reports whether what arrives is what was sent, in that order.
func (c Channel) ordered() bool { return c != Loss && c != Reorder }

// stills reports whether the event never happens on the channel.
func (c Channel) stills(on protocol.Event) bool {
	return on.Fires() && (c == Timeless || c == Undisturbed) || on == "!cancel" && c == Undisturbed
}

// move is a step and where it leads.
type move struct {
	Step
	to config
}

// moves are all that can happen in c.
func (x *explorer) moves(c config) (list []move) {
	for _, r := range []protocol.Role{protocol.Initiator, protocol.Participant} {
		list = append(append(list, x.acts(c, r)...), x.arrivals(c, r)...)
	}
	return list
}

// acts are the moves in which the role sends or one of its timers fires.
func (x *explorer) acts(c config, r protocol.Role) (list []move) {
	state, out, _ := c.side(r)
	for _, row := range x.from[place{r, state}] {
		switch {
		case row.On.Receives() || x.channel.stills(row.On):
			continue
		case row.On.Sends() && len(words(out)) == Capacity:
			continue
		case row.On.Sends():
			list = append(list, move{Step{Role: r, Event: row.On}, c.with(r, row, push(out, string(row.On[1:])))})
		default:
			list = append(list, move{Step{Role: r, Event: row.On}, c.with(r, row, out)})
		}
		x.fired[Row{r, row}] = true
	}
	return list
}

// arrivals are the moves in which a message for the role meets its fate.
func (x *explorer) arrivals(c config, r protocol.Role) (list []move) {
	_, _, in := c.side(r)
	for i, word := range words(in) {
		rest := c.without(r, i)
		step := Step{Role: r, Event: protocol.Event("?" + word), Place: i}
		if x.channel == Loss {
			list = append(list, move{step.met(Lost), rest})
		}
		if i > 0 && x.channel != Reorder && word != "cancel" {
			continue
		}
		list = append(list, move{step, x.receive(c, rest, step)})
		if r == protocol.Participant && rest.Participant == protocol.Start && x.opens(word) && len(words(rest.ToInitiator)) < Capacity {
			rest.ToInitiator = push(rest.ToInitiator, string(protocol.Nacked[1:]))
			list = append(list, move{step.met(TurnedDown), rest})
		}
	}
	return list
}

func (s Step) met(f Fate) Step {
	s.Fate = f
	return s
}

// opens reports whether the initiator may start with the word.
func (x *explorer) opens(word string) bool {
	for _, row := range x.from[place{protocol.Initiator, protocol.Start}] {
		if row.On == protocol.Event("!"+word) {
			return true
		}
	}
	return false
}

// receive is what is left after the role looked at the message that was taken
// out of c.
func (x *explorer) receive(c, rest config, s Step) config {
	state, out, _ := rest.side(s.Role)
	for _, row := range x.from[place{s.Role, state}] {
		if row.On == s.Event {
			x.fired[Row{s.Role, row}] = true
			return rest.with(s.Role, row, out)
		}
	}
	// A terminal state absorbs. A nack that crossed a cancel is a receipt, not
	// an act: the answer to the cancel is still to come.
	if met := (meeting{s.Role, state, s.Event}); !state.Done() && s.Event != protocol.Nacked && !x.met[met] {
		x.met[met] = true
		x.unspecified = append(x.unspecified, Reception{Role: s.Role, State: state, Event: s.Event, Run: append(x.run(c), s)})
	}
	return rest
}
