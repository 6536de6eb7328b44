package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// speech prints what an agent says for people. Words that came in pieces stand
// on one line.
type speech struct {
	w io.Writer
	// shown are the artifacts that were printed, by their ids; open is set while a
	// line is not at its end.
	shown map[string]bool
	open  bool
}

// say prints each part on lines of its own.
func (s *speech) say(parts []wire.Part) error {
	if err := s.end(); err != nil {
		return err
	}
	for _, text := range words(parts) {
		if _, err := fmt.Fprintln(s.w, text); err != nil {
			return err
		}
	}
	return nil
}

// end ends the line that is open.
func (s *speech) end() error {
	if !s.open {
		return nil
	}
	s.open = false
	_, err := fmt.Fprintln(s.w)
	return err
}

// task prints what the agent made, if it was not printed, and what it said if that
// asks something or is all there is. What an ended task that came to nothing said
// is part of the error.
func (s *speech) task(t *wire.Task) error {
	for _, a := range t.Artifacts {
		if s.shown[a.ArtifactID] {
			continue
		}
		s.shown[a.ArtifactID] = true
		if err := s.say(a.Parts); err != nil {
			return err
		}
	}
	if t.Status.Message == nil {
		return nil
	}
	if t.Status.State.Interrupted() || t.Status.State == wire.Completed && len(s.shown) == 0 {
		return s.say(t.Status.Message.Parts)
	}
	return nil
}

// event prints what an event brings. An artifact may come in pieces.
func (s *speech) event(e wire.StreamResponse) error {
	switch {
	case e.Message != nil:
		return s.say(e.Message.Parts)
	case e.Task != nil:
		return s.task(&wire.Task{Artifacts: e.Task.Artifacts})
	case e.ArtifactUpdate != nil:
		return s.piece(*e.ArtifactUpdate)
	}
	return nil
}

func (s *speech) piece(u wire.ArtifactUpdate) error {
	parts := u.Artifact.Parts
	s.shown[u.Artifact.ArtifactID] = true
	if len(parts) != 1 || parts[0].Text == nil || u.LastChunk && !u.Append {
		return s.say(parts)
	}
	if !u.Append {
		if err := s.end(); err != nil {
			return err
		}
	}
	s.open = true
	if _, err := io.WriteString(s.w, words(parts)[0]); err != nil {
		return err
	}
	if u.LastChunk {
		return s.end()
	}
	return nil
}

// words are parts for people: texts as they are, JSON on a line, and of what
// cannot be shown that it is there.
func words(parts []wire.Part) (all []string) {
	for _, p := range parts {
		switch {
		case p.Text != nil:
			all = append(all, paragraphs(*p.Text))
		case p.Data != nil:
			var b bytes.Buffer
			if encode(&b, p.Data, "") == nil {
				all = append(all, strings.TrimSpace(b.String()))
			}
		case p.URL != nil:
			all = append(all, printable(*p.URL))
		default:
			all = append(all, printable(fmt.Sprintf("(%d bytes of %s %s)", len(p.Raw), p.MediaType, p.Filename)))
		}
	}
	return all
}

// paragraphs is printable for words that may have several lines.
func paragraphs(text string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = printable(line)
	}
	return strings.Join(all, "\n")
}
