package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// message is an envelope as it is shown: what it says only where that was
// asked for and its labels allow it.
type message struct {
	Header  json.RawMessage `json:"header"`
	Content json.RawMessage `json:"content,omitempty"`
	// Withheld are the privacy tags for which the content is not shown.
	Withheld []string `json:"withheld,omitempty"`
}

// shownMessage reads a stored envelope, nil if there is none.
func shownMessage(stored []byte, content bool) (*message, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	var labels struct{ Privacy []string }
	err := json.Unmarshal(stored, &members)
	if err == nil && members["labels"] != nil {
		err = json.Unmarshal(members["labels"], &labels)
	}
	if err != nil {
		return nil, fmt.Errorf("the stored envelope cannot be read: %w", err)
	}
	m := &message{}
	if content {
		if m.Withheld = slices.DeleteFunc(labels.Privacy, open); len(m.Withheld) == 0 {
			m.Content = members["content"]
		}
	}
	// With the salt, a short content could be guessed from its digest.
	delete(members, "content")
	delete(members, "salt")
	m.Header, err = json.Marshal(members)
	return m, err
}

// permitted is a stored envelope, without its content where its labels or what
// is in them keep that back.
func permitted(stored []byte) json.RawMessage {
	m, err := shownMessage(stored, true)
	switch {
	case m == nil || err != nil:
		return nil
	case len(m.Withheld) > 0:
		return m.Header
	}
	return stored
}

// open says that a privacy tag keeps nothing back.
func open(tag string) bool { return tag == "public" || tag == "internal" }

// rows are the members of the header, in order of their names, and the
// content.
func (m *message) rows() (rows [][]string) {
	if m == nil {
		return [][]string{{"message", "is no longer kept"}}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(m.Header, &members); err != nil {
		return nil // shownMessage made it of members
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		rows = append(rows, []string{name, plain(members[name])})
	}
	if m.Content != nil {
		rows = append(rows, []string{"content", string(m.Content)})
	}
	if len(m.Withheld) > 0 {
		rows = append(rows, []string{"content", "withheld: " + strings.Join(m.Withheld, ", ")})
	}
	return rows
}

// plain is a JSON value for people: a text without its quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
