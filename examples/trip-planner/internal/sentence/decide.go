package sentence

import "slices"

// Decision is what an answer says to an offer.
type Decision int

// What an answer may say to an offer. Neither is an answer that changes the trip, or that says neither yes nor no: it
// never books anything.
const (
	Neither Decision = iota
	Yes
	No
)

// Decide understands the answer to an offer to book. It is Yes only if every word is one of agreement, and No if it
// refuses and changes nothing else of the trip. The answer to any other question is No if it calls the trip off.
func Decide(answer string) Decision {
	p := &parser{text: answer, tokens: lex(answer)}
	agreed, plain := false, true
	refused := p.calledOff()
	for i, t := range p.tokens {
		switch {
		case t.kind == mark && slices.Contains([]string{".", ",", "!", ";", "-", "👍", ")", ":"}, t.norm):
		case t.kind == word && affirmative(t.norm):
			agreed = true
		case t.kind == word && assenting(t.norm):
		case p.negation(i):
			refused = true
		default:
			plain = false
		}
	}
	said := read(answer, "", Date{Year: 2000, Month: 1, Day: 1})
	said.plural = "" // "book both", "for us": nobody is counted
	switch {
	case !said.empty() && !(refused && plain):
		return Neither
	case refused:
		return No
	case agreed && plain:
		return Yes
	}
	return Neither
}

// Cancels reports whether the answer to any question calls the whole trip off: "cancel", "stop", "forget it".
func Cancels(answer string) bool {
	p := &parser{text: answer, tokens: lex(answer)}
	return p.calledOff() && Decide(answer) == No
}

// calledOff reports whether words of giving up are said.
func (p *parser) calledOff() bool {
	for i := range p.tokens {
		if p.phrase(i, "cancel", "stop", "abort", "quit", "forget it", "forget that", "forget the whole", "never mind", "nevermind", "go away",
			"leave it", "call it off", "scrap it", "changed my mind") > 0 {
			return true
		}
	}
	return false
}

// affirmative reports whether a word alone is a yes.
func affirmative(w string) bool {
	return slices.Contains([]string{"yes", "y", "yep", "yeah", "yup", "yea", "aye", "sure", "ok", "okay", "k", "book", "do", "go", "agreed", "agree",
		"confirm", "confirmed", "accept", "accepted", "fine", "perfect", "great", "absolutely", "definitely", "certainly", "course",
		"deal", "proceed", "please", "good", "alright", "affirmative"}, w)
}

// assenting reports whether a word may stand in a yes, and is none.
func assenting(w string) bool {
	return slices.Contains([]string{"it", "that", "that's", "them", "both", "ahead", "of", "now", "thanks", "thank", "thx", "you", "i",
		"i'd", "like", "love", "to", "we", "sounds", "looks", "is", "all", "right", "let's", "this", "these", "the", "trip", "flight", "hotel",
		"and", "for", "me", "us", "very", "much", "with", "pls", "plz", "booking", "offer", "just", "yourself", "so", "it's", "a"}, w)
}

// negation reports whether token i refuses.
func (p *parser) negation(i int) bool {
	w := p.w(i)
	if len(w) > 3 && (w[len(w)-3:] == "n't" || slices.Contains([]string{"dont", "wont", "cant", "didnt", "doesnt"}, w)) {
		return true
	}
	return slices.Contains([]string{"no", "n", "not", "never", "nah", "nope", "nay", "nothing", "none", "neither", "cancel", "stop", "wait",
		"forget", "nevermind", "rather", "away", "decline", "refuse", "abort", "hold", "cannot", "without"}, w)
}
