package measure

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/parley-agents/parley/store"
)

// conversation is what two agents committed for one request and its answer.
type conversation struct {
	// content is what the request carried.
	content []byte
	// opened is how the initiator asked: the step, and that it was delivered.
	opened []store.WriteSet
	// accept and complete are the two steps of the participant, and sent that
	// its acts were delivered.
	accept, complete, sent store.WriteSet
}

// over is one write set that leaves of the participant's side what its steps
// and the deliveries after them leave.
func (c *conversation) over() store.WriteSet {
	set := c.complete
	set.Exchanges = slices.Clone(set.Exchanges)
	set.Exchanges[0].Version = 0
	set.Entries = slices.Concat(c.accept.Entries, c.complete.Entries)
	set.Accept = slices.Clone(c.accept.Accept)
	set.Accept[0].Status = store.Settled
	set.Settle = nil
	set.Deliveries = c.sent.Deliveries
	return set
}

// renaming gives the ids of one conversation fresh names: the same for the same
// id, others for every number.
type renaming struct {
	number int64
	names  map[string]string
}

// Ids rise with the number, as those that hosts draw do with time: so many
// conversations to a millisecond, from some moment on.
const (
	perMillisecond = 8
	firstMoment    = 1_700_000_000_000
)

// rename begins the renaming for the conversation of a number.
func rename(number int64) renaming { return renaming{number, map[string]string{"": ""}} }

// id is a UUIDv7 (RFC 9562) that follows from the number and the old id.
func (r renaming) id(old string) string {
	if fresh, ok := r.names[old]; ok {
		return fresh
	}
	h := fnv.New64a()
	h.Write([]byte(old))
	source := rand.NewPCG(uint64(r.number), h.Sum64())
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], (firstMoment+uint64(r.number)/perMillisecond)<<16|0x7000|source.Uint64()&0x0fff)
	binary.BigEndian.PutUint64(u[8:], source.Uint64()>>2|1<<63)
	fresh := fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	r.names[old] = fresh
	return fresh
}

// set is the write set under fresh ids. Envelopes stay the bytes they were: the
// store does not look into them.
func (r renaming) set(s store.WriteSet) store.WriteSet {
	s.Exchanges = slices.Clone(s.Exchanges)
	for i := range s.Exchanges {
		x := &s.Exchanges[i]
		x.Conversation, x.Correlation, x.Final = r.id(x.Conversation), r.id(x.Correlation), r.id(x.Final)
		x.State.Conversation, x.State.Opening, x.State.Trigger = x.Conversation, r.id(x.State.Opening), r.id(x.State.Trigger)
		x.State.Asked = slices.Clone(x.State.Asked)
		for j := range x.State.Asked {
			x.State.Asked[j] = r.id(x.State.Asked[j])
		}
	}
	s.Entries = slices.Clone(s.Entries)
	for i := range s.Entries {
		e := &s.Entries[i]
		e.Conversation, e.MessageID = r.id(e.Conversation), r.id(e.MessageID)
	}
	s.Accept = slices.Clone(s.Accept)
	for i := range s.Accept {
		s.Accept[i].Conversation, s.Accept[i].MessageID = r.id(s.Accept[i].Conversation), r.id(s.Accept[i].MessageID)
	}
	s.Settle = slices.Clone(s.Settle)
	for i := range s.Settle {
		s.Settle[i].MessageID = r.id(s.Settle[i].MessageID)
	}
	s.Outbox = slices.Clone(s.Outbox)
	for i := range s.Outbox {
		s.Outbox[i].Conversation, s.Outbox[i].MessageID = r.id(s.Outbox[i].Conversation), r.id(s.Outbox[i].MessageID)
	}
	s.Deliveries = slices.Clone(s.Deliveries)
	for i := range s.Deliveries {
		s.Deliveries[i].MessageID = r.id(s.Deliveries[i].MessageID)
	}
	s.Claim, s.Effects = r.effects(s.Claim), r.effects(s.Effects)
	return s
}

func (r renaming) effects(list []store.Effect) []store.Effect {
	list = slices.Clone(list)
	for i := range list {
		list[i].Key, list[i].Conversation = r.id(list[i].Key), r.id(list[i].Conversation)
	}
	return list
}

// joined is several write sets as one.
func joined(sets []store.WriteSet) (all store.WriteSet) {
	for _, s := range sets {
		all.Exchanges = append(all.Exchanges, s.Exchanges...)
		all.Entries = append(all.Entries, s.Entries...)
		all.Accept = append(all.Accept, s.Accept...)
		all.Settle = append(all.Settle, s.Settle...)
		all.Outbox = append(all.Outbox, s.Outbox...)
		all.Deliveries = append(all.Deliveries, s.Deliveries...)
		all.Claim = append(all.Claim, s.Claim...)
		all.Effects = append(all.Effects, s.Effects...)
	}
	return all
}
