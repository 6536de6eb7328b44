package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// step is one step of one exchange in the making: what was read, what is to
// be written, and what must follow once it is committed. A step is computed
// again from the start when another one came first.
type step struct {
	host *Host
	now  time.Time
	x    store.Exchange
	set  store.WriteSet
	// known is the step whose exchange this one began with, as it was in hand; nil if
	// the exchange was read.
	known *step
	// opening is the exchange's opening act, read when it is first needed.
	opening *envelope.Envelope
	// mail is what brought the message that the step takes.
	mail Mail
	// award is the award that this very step takes.
	award *envelope.Envelope
	// letters are the messages that it logs, after is what else follows once it is
	// committed.
	letters []letter
	after   []func()
	// starts: the step calls for work on the opening act.
	starts bool
	ended  bool
	// decide: the conversation as a whole may be decided now.
	decide bool
	// receipt takes the place of the plain ack: it moved the exchange.
	receipt *envelope.Envelope
	// answered takes the place of the handler: the effect was had before.
	answered *draft
	// room is where what most steps have stands: a step is one piece of memory.
	room struct {
		alone     [1]*step
		exchanges [1]store.Exchange
		entries   [2]store.Entry
		letters   [2]letter
	}
}

// newStep is a step of an exchange that is yet to be read.
func (h *Host) newStep(now time.Time) *step {
	s := &step{host: h, now: now}
	s.set.Exchanges, s.set.Entries, s.letters = s.room.exchanges[:0], s.room.entries[:0], s.room.letters[:0]
	return s
}

// errNothing is what a plan returns when there is nothing to commit.
var errNothing = errors.New("nothing to do")

// maxConflicts bounds how often a step is computed again. Each conflict means
// that some other step went through, so only a defect reaches it.
const maxConflicts = 1000

// alone is the list of this one step.
func (s *step) alone() []*step {
	s.room.alone[0] = s
	return s.room.alone[:]
}

// step computes and commits one step of the exchange k at the given time. The
// plan may be run several times; it must have no effects but on its step.
func (h *Host) step(ctx context.Context, k store.Key, now time.Time, plan func(*step) error) (*step, error) {
	return h.stepFrom(ctx, nil, k, now, plan)
}

// stepFrom is step with what an earlier step has left in hand, if any. Unless what
// is computed by that is committed, it is computed again by what is read.
func (h *Host) stepFrom(ctx context.Context, known *step, k store.Key, now time.Time, plan func(*step) error) (*step, error) {
	begin := func() ([]*step, error) {
		if known != nil {
			s := h.newStep(now)
			s.x, s.known, known = known.left(), known, nil
			return s.alone(), nil
		}
		s := h.newStep(now)
		var err error
		s.x, err = h.store.Exchange(ctx, k)
		if errors.Is(err, store.ErrNotFound) {
			s.x, err = store.Exchange{Key: k, OpenedAt: now}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
		}
		return s.alone(), nil
	}
	all, err := h.takeSteps(ctx, begin, func(all []*step) error { return plan(all[0]) })
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// steps computes and commits a step of each of the exchanges together: all are
// taken or none. They belong to one owner and one conversation.
func (h *Host) steps(ctx context.Context, now time.Time, read func() ([]store.Exchange, error), plan func([]*step) error) ([]*step, error) {
	begin := func() ([]*step, error) {
		exchanges, err := read()
		all := make([]*step, len(exchanges))
		for i, x := range exchanges {
			all[i] = h.newStep(now)
			all[i].x = x
		}
		return all, err
	}
	return h.takeSteps(ctx, begin, plan)
}

// takeSteps begins, computes and commits steps until nothing came between.
func (h *Host) takeSteps(ctx context.Context, begin func() ([]*step, error), plan func([]*step) error) ([]*step, error) {
	var k store.Key
	for range maxConflicts {
		if err := h.moving(ctx); err != nil {
			return nil, err
		}
		all, err := begin()
		if err != nil || len(all) == 0 {
			return nil, err
		}
		k = all[0].x.Key
		guessed := all[0].known != nil
		if err := plan(all); errors.Is(err, errNothing) && guessed {
			continue
		} else if errors.Is(err, errNothing) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		err = h.commit(ctx, all)
		if err != nil {
			h.jobs.letGo(k)
		}
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrDuplicate) || guessed && errors.Is(err, store.ErrFenced) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("committing a step of %s with %s: %w", k.Conversation, k.Peer, err)
		}
		for _, s := range all {
			s.follow(ctx)
			h.mind(s)
		}
		if all[0].party() {
			h.moved(ctx, all)
		}
		return all, nil
	}
	return nil, fmt.Errorf("step of %s with %s: %w", k.Conversation, k.Peer, store.ErrConflict)
}

// commit writes the steps in one transaction. A step that ends the last
// exchange of a conversation concludes it.
func (h *Host) commit(ctx context.Context, all []*step) error {
	for _, s := range all {
		if err := s.finish(ctx); err != nil {
			return err
		}
		s.foresee()
	}
	// Whoever waits may be gone by now. The steps are taken all the same: were
	// they given up half-way, what must follow from them would not.
	ctx = lasting(ctx)
	if !all[0].party() || !slices.ContainsFunc(all, func(s *step) bool { return s.ended }) {
		return h.store.Commit(ctx, together(all))
	}
	return h.concluding(ctx, all, together(all))
}

// lasting is ctx without its end.
func lasting(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// together is what the steps write.
func together(all []*step) store.WriteSet {
	a := all[0].set
	for _, s := range all[1:] {
		b := &s.set
		a.Exchanges = append(a.Exchanges, b.Exchanges...)
		a.Entries = append(a.Entries, b.Entries...)
		a.Accept = append(a.Accept, b.Accept...)
		a.Settle = append(a.Settle, b.Settle...)
		a.Leases = append(a.Leases, b.Leases...)
		a.Outbox = append(a.Outbox, b.Outbox...)
		a.DropUnsent = append(a.DropUnsent, b.DropUnsent...)
		a.Claim = append(a.Claim, b.Claim...)
		a.Effects = append(a.Effects, b.Effects...)
		a.Release = append(a.Release, b.Release...)
		a.Deliveries = append(a.Deliveries, b.Deliveries...)
		a.Redrive = append(a.Redrive, b.Redrive...)
		a.Turns = append(a.Turns, b.Turns...)
		a.Bury = append(a.Bury, b.Bury...)
		a.Unbury = append(a.Unbury, b.Unbury...)
		a.Answers = append(a.Answers, b.Answers...)
	}
	return a
}

// follow does what must follow once the step is committed.
func (s *step) follow(ctx context.Context) {
	k := s.x.Key
	s.host.jobs.moved(s)
	for _, l := range s.letters {
		s.host.letters.keep(l.raw, l.read)
	}
	if s.starts && !s.ended {
		s.host.startJob(k, s.opening, s.now)
	}
	for _, f := range s.after {
		f()
	}
	if s.ended {
		s.host.dispatch.forget(k)
	}
	s.host.watches.wake(k)
	if s.x.Task != "" {
		s.host.tasks.wake(taskKey(k.Owner, s.x.Task))
	}
	s.host.bus.tell(k, nil)
	if s.host.observed(ctx, Stepped) {
		s.host.report(ctx, Stepped, k, nil, slog.Int64("version", s.x.Version+1), slog.String("state", string(s.x.State.State)))
	}
}

// party reports whether the step is one of the initiator of a multi-party
// conversation.
func (s *step) party() bool {
	return s.x.State.Role == protocol.Initiator && multiparty(s.x.State.Protocol)
}

// apply moves the exchange by one input, logs it and carries out in this same
// step whatever acts follow from it.
func (s *step) apply(ctx context.Context, in protocol.Input) error {
	from := s.x.State.State
	outputs, err := s.advance(in)
	if err != nil {
		return err
	}
	if s.x.State.State != from && abandoned(s.x.State) {
		if err := s.cascade(ctx); err != nil {
			return err
		}
	}
	for _, o := range outputs {
		switch o.Do {
		case protocol.Utter:
			if err := s.utter(ctx, &draft{act: o.Act, err: o.Error}); err != nil {
				return err
			}
		case protocol.Work:
			if s.answered != nil {
				if err := s.utter(ctx, s.answered); err != nil {
					return err
				}
				continue
			}
			if err := s.work(ctx); err != nil {
				return err
			}
		case protocol.Stop:
			s.stop(in)
		case protocol.Absorb:
			s.host.counts.add("absorbed")
		case protocol.Decide:
			s.decide = true
		case protocol.Acknowledge:
			if err := s.acknowledge(ctx, in); err != nil {
				return err
			}
		case protocol.End:
			s.ended = true
			s.x.EndedAt = s.now
			if s.x.Final = ""; in.Message() != nil {
				s.x.Final = in.Message().ID()
			}
		}
	}
	return nil
}

// advance moves the exchange and logs that.
func (s *step) advance(in protocol.Input) ([]protocol.Output, error) {
	next, outputs, err := protocol.Advance(s.x.State, s.now, in)
	if err != nil {
		return nil, err
	}
	entry := store.Entry{Kind: store.Fired, Event: in.Event()}
	if e := in.Message(); e != nil {
		entry = entryOf(store.Received, in.Event(), e)
		s.letters = append(s.letters, letter{entry.Envelope, e.WithoutAuth()})
	}
	if in.Event().Sends() {
		entry.Kind = store.Sent
	}
	entry.From, entry.To = s.x.State.State, next.State
	s.x.State = next
	s.log(entry)
	return outputs, nil
}

// acknowledge answers the fence that the step takes.
func (s *step) acknowledge(ctx context.Context, in protocol.Input) error {
	ack, err := s.seal(envelope.Ack, in.Message(), nil)
	if err != nil {
		return err
	}
	s.receipt = ack
	return s.apply(ctx, protocol.Send(ack))
}

// work starts the handler once the step is committed, unless the step itself
// ends the exchange.
func (s *step) work(ctx context.Context) error {
	opening, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.starts = true
	return s.takeLease(ctx, opening.ID())
}

func (s *step) stop(in protocol.Input) {
	k, cause := s.x.Key, errStop
	if in == protocol.Fire(protocol.TimerReplyBy) || in == protocol.Fire(protocol.TimerGatherBy) || in == protocol.Fire(protocol.TimerLease) {
		cause = errLapsed
	}
	s.after = append(s.after, func() {
		if !s.host.jobs.stop(k, cause) && cause == errStop {
			s.host.rushJob(k) // nobody runs that could answer the cancel
		}
	})
}

func (s *step) log(e store.Entry) {
	e.Owner, e.Conversation, e.Peer, e.At = s.x.Owner, s.x.Conversation, s.x.Peer, s.now
	s.set.Entries = append(s.set.Entries, e)
}

// entryOf is the log entry of a message.
func entryOf(kind store.EntryKind, on protocol.Event, e *envelope.Envelope) store.Entry {
	return store.Entry{Kind: kind, Event: on, MessageID: e.ID(), Digest: e.Digest(), Envelope: e.WithoutAuth().Bytes()}
}

// tick applies a timer.
func (s *step) tick(ctx context.Context, t protocol.Timer) error {
	return s.apply(ctx, protocol.Fire(t))
}

// finish completes the write set: an exchange that ended settles its inbox row
// and its effect.
func (s *step) finish(ctx context.Context) error {
	if now := s.host.seam.now(); now.After(s.x.MovedAt) {
		s.x.MovedAt = now
	}
	x := &s.x
	s.set.Exchanges = append(s.set.Exchanges, *x)
	if err := s.moveAbout(ctx); err != nil {
		return err
	}
	if !s.ended {
		return nil
	}
	if x.State.Role == protocol.Initiator && !multiparty(x.State.Protocol) {
		return s.conclude(protocol.Conclusion{Exchanges: []protocol.Exchange{x.State}})
	}
	if x.State.Role == protocol.Initiator || x.State.Opening == "" {
		return nil
	}
	k := store.InboxKey{Recipient: x.Owner, Sender: x.Peer, MessageID: x.State.Opening}
	if !s.accepts(k) {
		row, err := s.inbox(ctx, k)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil && row.Status == store.InProgress {
			s.set.Settle = append(s.set.Settle, store.Settlement{InboxKey: k, Fence: row.Attempt})
		}
	}
	return s.settleEffect(ctx)
}

// moveAbout has a question that is read under a task move the exchange that it is
// about: whoever looks for what has moved last then finds the task.
func (s *step) moveAbout(ctx context.Context) error {
	if !s.x.Mailbox || s.x.Parent == (store.Key{}) {
		return nil
	}
	about, err := s.host.store.Exchange(ctx, s.x.Parent)
	if err != nil {
		return fmt.Errorf("reading what the question %s is about: %w", s.x.Conversation, err)
	}
	if s.x.MovedAt.After(about.MovedAt) {
		about.MovedAt = s.x.MovedAt
	}
	s.set.Exchanges = append(s.set.Exchanges, about)
	return nil
}

// accepts reports whether this very step accepts the message: its row is then
// written as settled from the start.
func (s *step) accepts(k store.InboxKey) bool {
	for i := range s.set.Accept {
		if s.set.Accept[i].InboxKey == k {
			s.set.Accept[i].Status = store.Settled
			return true
		}
	}
	return false
}

// open reads the opening act of the exchange.
func (s *step) open(ctx context.Context) (*envelope.Envelope, error) {
	if s.opening != nil {
		return s.opening, nil
	}
	e, err := s.host.openingOf(ctx, s.x)
	if err != nil {
		return nil, err
	}
	s.opening = e
	return e, nil
}

func (h *Host) openingOf(ctx context.Context, x store.Exchange) (*envelope.Envelope, error) {
	kind := store.Received
	if x.State.Role == protocol.Initiator {
		kind = store.Sent
	}
	return h.message(ctx, x.Key, kind, x.State.Opening)
}

// message reads a message back from the log.
func (h *Host) message(ctx context.Context, k store.Key, kind store.EntryKind, id string) (*envelope.Envelope, error) {
	entry, err := h.store.Message(ctx, k, kind, id)
	if err != nil {
		return nil, fmt.Errorf("reading message %s: %w", id, err)
	}
	return h.Envelope(entry)
}
