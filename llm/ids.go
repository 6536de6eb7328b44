package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	idLength  = 9 // some endpoints accept nothing but nine letters and digits
	idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// shortID derives an id that every known endpoint accepts from the given parts.
func shortID(parts ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", parts)))
	n := binary.BigEndian.Uint64(sum[:8])
	id := make([]byte, idLength)
	for i := range id {
		id[i] = idLetters[n%uint64(len(idLetters))]
		n /= uint64(len(idLetters))
	}
	return string(id)
}

// wireID returns the id under which a call travels: ids of ours as they are, ids
// from elsewhere hashed, so that a call and its result still meet.
func wireID(id string) string {
	if len(id) == idLength && strings.Trim(id, idLetters) == "" {
		return id
	}
	return shortID("foreign", id)
}

// nameCalls gives each call an id of ours, derived from the place of its turn in
// the conversation, its own place in the turn and the endpoint's id.
func nameCalls(calls []Call, turn []Message) {
	taken := map[string]bool{}
	for _, m := range turn {
		for _, c := range m.Calls {
			taken[wireID(c.ID)] = true
		}
	}
	for i := range calls {
		id := shortID(len(turn), i, calls[i].ID)
		for again := 1; taken[id]; again++ {
			id = shortID(len(turn), i, calls[i].ID, again)
		}
		calls[i].ID = id
		taken[id] = true
	}
}

// wireName returns name with what no endpoint accepts in a function's name
// replaced: letters, digits, _ and -, from 1 to 64 of them.
func wireName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < 128 && strings.ContainsRune(idLetters, r) {
			return r
		}
		return '_'
	}, name)
	if out == "" {
		return "_"
	}
	return out[:min(len(out), 64)]
}
