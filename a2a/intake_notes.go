package a2a

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// useNotes answers a question that was just asked from what its client said
// before, while nothing was asked: with the first of it that is an answer and
// answers nothing else. Which that is follows from the logs, so that a run after
// a crash comes to the same.
func (s *service) useNotes(ctx context.Context, about store.Key) {
	if about.Owner != s.uri {
		return
	}
	x, err := s.host.Store().Exchange(ctx, about)
	if err == nil {
		err = s.answerFromNotes(ctx, x)
	}
	if err != nil && ctx.Err() == nil { // the question waits for its client all the same
		s.log.ErrorContext(ctx, "question not answered from what was said before", "agent", s.uri, "task", x.Task, "error", err)
	}
}

// catchUp does so with the questions that were open before there was a server: a
// host that has just started goes on with its work at once.
func (s *service) catchUp(ctx context.Context) {
	live, err := s.host.Store().Exchanges(ctx, s.uri, "")
	if err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "open questions not looked for", "agent", s.uri, "error", err)
	}
	for _, q := range live {
		if q.Mailbox && q.Parent != (store.Key{}) {
			s.useNotes(ctx, q.Parent)
		}
	}
}

func (s *service) answerFromNotes(ctx context.Context, x store.Exchange) error {
	// Nothing is noted meanwhile, so no message falls between.
	defer s.locks.lock(x.Task)()
	x, asked, err := s.again(ctx, x)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(asked, func(q store.Exchange) bool { return waits(q.State.State) })
	if i < 0 {
		return nil
	}
	notes, err := s.notesOf(ctx, x)
	if err != nil {
		return err
	}
	for _, note := range notes {
		used, err := s.answered(ctx, asked, note.MessageID)
		if err != nil {
			return err
		}
		if used {
			continue
		}
		kept, err := readOriginal(note.Note)
		if err != nil {
			return err
		}
		m, err := kept.message(func() []wire.Part { return nil })
		if err != nil {
			return err
		}
		err = s.answer(ctx, wire.Call{}, asked[i], note.MessageID, m, *kept)
		if told, ok := errors.AsType[*wire.Error](err); ok && (told.Kind == wire.InvalidParams || told.Kind == wire.ContentTypeNotSupported) {
			continue // it is no answer to this one
		}
		return err
	}
	return nil
}

// notesOf are the messages that are kept with an exchange, in order.
func (s *service) notesOf(ctx context.Context, x store.Exchange) ([]store.Entry, error) {
	var notes []store.Entry
	for after := int64(0); ; {
		page, err := s.host.Store().LogPage(ctx, x.Owner, x.Conversation, after, logPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			after = e.Index
			if e.Kind == store.Noted && e.Peer == x.Peer {
				notes = append(notes, e)
			}
		}
		if len(page) < logPage {
			return notes, nil
		}
	}
}

// answered reports whether a message has answered one of the questions.
func (s *service) answered(ctx context.Context, asked []store.Exchange, id string) (bool, error) {
	for _, q := range asked {
		switch _, err := s.host.Store().Message(ctx, q.Key, store.Received, id); {
		case err == nil:
			return true, nil
		case !errors.Is(err, store.ErrNotFound):
			return false, err
		}
	}
	return false, nil
}
