package rehearsal

import "time"

// Kind names an accident.
type Kind string

// The accidents. The damaging ones strike the arguments of one call, or the text of
// a reply without calls; which place they strike is drawn from the seed.
const (
	// MalformedJSON cuts the JSON in the middle of a value and says nothing of it:
	// no reader can know what was meant.
	MalformedJSON Kind = "malformed-json"
	// GarbledJSON leaves a comma or a colon out: everything that was meant is
	// still there, but only a reader of the whole can put it back.
	GarbledJSON Kind = "garbled-json"
	// MendableJSON makes mistakes that leave the meaning clear: a comma too many,
	// a comment, a key without quotes or with single ones.
	MendableJSON Kind = "mendable-json"
	// Truncated cuts the reply and says so with the finish reason "length".
	Truncated Kind = "truncated"
	// Fenced puts the JSON into a Markdown fence with prose around it.
	Fenced Kind = "fenced"
	// WrongType gives one member of the object a value of another type.
	WrongType Kind = "wrong-type"
	// UnknownFunction calls a function that was not offered.
	UnknownFunction Kind = "unknown-function"
	// EmptyArguments calls with "" for arguments.
	EmptyArguments Kind = "empty-arguments"
	// ArgumentsObject sends the arguments as an object in place of its text.
	ArgumentsObject Kind = "arguments-object"

	// RateLimited answers 429 with Retry-After.
	RateLimited Kind = "rate-limited"
	// Unavailable answers 503.
	Unavailable Kind = "unavailable"
	// ErrorBody answers 200 with an error in place of a completion.
	ErrorBody Kind = "error-body"
	// Dropped closes the connection without an answer.
	Dropped Kind = "dropped"
	// Slow waits for Delay before it answers.
	Slow Kind = "slow"

	// Trickled waits for Delay before each chunk of a stream but the first. A reply
	// that is not streamed is Slow.
	Trickled Kind = "trickled"
	// BrokenOff closes the connection in the middle of the answer: of a stream, after
	// the first piece of the reply.
	BrokenOff Kind = "broken-off"
	// ErrorMidway ends a stream with an error after the first piece of the reply. A
	// reply that is not streamed is an ErrorBody.
	ErrorMidway Kind = "error-midway"
)

func (k Kind) known() bool {
	switch k {
	case MalformedJSON, GarbledJSON, MendableJSON, Truncated, Fenced, WrongType, UnknownFunction, EmptyArguments, ArgumentsObject,
		RateLimited, Unavailable, ErrorBody, Dropped, Slow, Trickled, BrokenOff, ErrorMidway:
		return true
	}
	return false
}

// unstreamed is what an accident of a stream is to a reply that is not streamed.
func (k Kind) unstreamed() Kind {
	switch k {
	case Trickled:
		return Slow
	case ErrorMidway:
		return ErrorBody
	}
	return k
}

// Accident is something that goes wrong with certain completions. It counts, from
// 1, the completions that Match and Calls select, and strikes those that At or
// Every name; with neither, it strikes them all. Several accidents may strike one
// completion, in the order given. A retried request counts again.
type Accident struct {
	Kind Kind
	// Match selects completions by their request. Default: every one.
	Match func(Request) bool
	// Calls selects completions whose undamaged reply calls this function, and
	// makes that call the one which is damaged. Default: every completion, and the
	// first call.
	Calls string
	// At is the one completion that is struck.
	At int
	// Every strikes each completion whose number it divides.
	Every int
	// RetryAfter is what RateLimited asks for, in whole seconds. Default 1 s.
	RetryAfter time.Duration
	// Delay is how long Slow waits, and Trickled each time. Default 1 s.
	Delay time.Duration
}

func (a Accident) delay() time.Duration {
	if a.Delay <= 0 {
		return time.Second
	}
	return a.Delay
}

// strikes counts a completion and reports whether the accident befalls it.
func (a Accident) strikes(count *int, r Request, reply Reply) bool {
	if a.Match != nil && !a.Match(r) || a.Calls != "" && callOf(reply, a.Calls) < 0 {
		return false
	}
	*count++
	if a.At == 0 && a.Every == 0 {
		return true
	}
	return *count == a.At || a.Every > 0 && *count%a.Every == 0
}

// callOf returns the place of the first call of a function, -1 if there is none. An
// empty name stands for any.
func callOf(reply Reply, name string) int {
	for i, c := range reply.Calls {
		if name == "" || c.Name == name {
			return i
		}
	}
	return -1
}
