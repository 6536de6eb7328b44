package agent

import (
	"context"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// job is one phase of the work on an exchange that the agent takes part in.
type job struct {
	host  *Host
	agent *Agent
	key   store.Key
	phase phase
	// offer is nil when the agent no longer answers the contract.
	offer   *offer
	opening *envelope.Envelope
	// act is what the work answers: the opening act, the latest call or the award.
	act *envelope.Envelope
	// input is what was asked for, bid what the agent proposed before it got
	// the award.
	input, bid []byte
	fence      int64
	// runs counts the hosts that ended with the work in hand; leased: this one has
	// its lease.
	runs   int64
	leased bool
	// cancelled: the peer withdrew the exchange before this run began, and late:
	// its time was over too, so that the cancel is all that is left to answer.
	// untouched: no run of it has begun, so that there is nothing to tell.
	cancelled, late, untouched bool
	// silent: nothing was said in the exchange before this run, so that nothing it
	// tells was told by an earlier one.
	silent bool

	// about is the conversation that a question is about.
	about string

	seat   *seat
	mu     sync.Mutex
	agreed bool
	// asking: a question to the peer is on its way.
	asking bool
	equals map[string]int
	record *recorder
}

// records is the durable memory of the job, read when it is first needed.
func (j *job) records(ctx context.Context) (*recorder, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.record == nil {
		r, err := recall(ctx, j.host, j.key, j.scope())
		if err != nil {
			return nil, err
		}
		j.record = r
	}
	return j.record, nil
}

// scope sets the records of a later phase, or of a later round of bids, apart
// from those of the first one.
func (j *job) scope() string {
	if j.act.ID() == j.opening.ID() {
		return ""
	}
	return scopeMark + string(j.phase) + ":" + j.act.ID() + "/"
}

// agree lets the peer know that work has started, once.
func (j *job) agree(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.agreed {
		return nil
	}
	_, err := j.host.step(ctx, j.key, j.host.seam.now(), func(s *step) error {
		p, err := protocol.Lookup(s.x.State.Protocol)
		if err != nil {
			return err
		}
		if _, ok := p.Table(s.x.State.Role).Next(s.x.State.State, "!agree"); !ok || !p.RuntimeAgrees() {
			return errNothing
		}
		s.opening = j.opening
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Agree}})
	})
	j.agreed = err == nil
	return err
}

// ordinal numbers equal things in the order in which they come, so that a
// second run can tell them apart in the same way.
func (j *job) ordinal(what string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.equals == nil {
		j.equals = map[string]int{}
	}
	j.equals[what]++
	return j.equals[what]
}

// remaining is the deadline that work started now may have: the exchange's
// own, less a margin for the way back.
func (j *job) remaining(now time.Time) time.Time {
	return shrink(now, j.act.ReplyBy())
}
