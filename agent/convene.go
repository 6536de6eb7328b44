package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// MembersError says why a list of members is none.
type MembersError struct {
	// Rule is "none", when the list is empty, or "twice".
	Rule   string
	Member string
}

func (e *MembersError) Error() string {
	if e.Rule == "none" {
		return "no members are given"
	}
	return "member " + e.Member + " is given twice"
}

// convene opens an exchange with each member, all in one step, unless an
// earlier run of the asking work did. The binding is completed and becomes the
// first entry of the conversation's log.
func (q *question) convene(ctx context.Context, members []string, b protocol.Binding) (store.Key, error) {
	var none store.Key
	uris, err := q.members(members)
	if err != nil {
		return none, fmt.Errorf("opening %s: %w", q.contract.Name, err)
	}
	q.to = strings.Join(uris, " ")
	if err := q.ready(ctx); err != nil {
		return none, err
	}
	if err := q.passAll(ctx, uris); err != nil {
		return none, err
	}
	k := store.Key{Owner: q.from.URI(), Conversation: q.conversation()}
	q.host.asked.put(k.Owner, q.contract)
	b.Protocol, b.Capability, b.Members = q.contract.Protocol, q.contract.Name.Capability(), uris
	b.Group = envelope.DerivedID("group", k.Owner, k.Conversation)
	if b.Gather != nil {
		b.Gather.ID, b.Gather.Members = envelope.DerivedID("gather", k.Owner, k.Conversation), uris
	}
	if err := q.openAll(ctx, k, b); err != nil {
		return none, fmt.Errorf("opening %s: %w", q.contract.Name, err)
	}
	if q.opened != nil {
		q.opened(k.Conversation)
	}
	return k, nil
}

// members are the URIs of the members, in byte order.
func (q *question) members(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, &MembersError{Rule: "none"}
	}
	uris := make([]string, len(names))
	for i, name := range names {
		uri, err := q.host.reachable(q.from, name, "")
		if err != nil {
			return nil, err
		}
		uris[i] = uri
	}
	slices.Sort(uris)
	for i, uri := range uris {
		if i > 0 && uris[i-1] == uri {
			return nil, &MembersError{Rule: "twice", Member: uri}
		}
	}
	return uris, nil
}

// passAll takes the opening act to each member through the layers. Copies of
// one act say the same, so a layer must treat all members alike.
func (q *question) passAll(ctx context.Context, uris []string) error {
	if len(q.from.layers) == 0 {
		return nil
	}
	asked := q.content
	var first []byte
	for _, uri := range uris {
		q.content = asked
		if err := q.pass(ctx, uri); err != nil {
			return err
		}
		if first == nil {
			first = q.content
		}
		if string(first) != string(q.content) {
			return fmt.Errorf("opening %s: a layer treats %s unlike the others", q.contract.Name, uri)
		}
	}
	return nil
}

// openAll commits the copies of the opening act.
func (q *question) openAll(ctx context.Context, k store.Key, b protocol.Binding) error {
	now, salt := q.host.seam.now(), q.host.seam.bytes(saltBytes)
	read := func() ([]store.Exchange, error) {
		known, err := q.host.store.Exchanges(ctx, k.Owner, k.Conversation)
		if err != nil || len(known) > 0 {
			return known, err
		}
		fresh := make([]store.Exchange, len(b.Members))
		for i, uri := range b.Members {
			fresh[i] = store.Exchange{Key: store.Key{Owner: k.Owner, Conversation: k.Conversation, Peer: uri}, OpenedAt: now}
		}
		return fresh, nil
	}
	group := &envelope.Group{ID: b.Group, Size: len(b.Members), MembersDigest: membersDigest(b.Members)}
	_, err := q.host.steps(ctx, now, read, func(all []*step) error {
		if all[0].x.Version > 0 {
			return errNothing
		}
		h, err := q.header(all[0])
		if err != nil {
			return err
		}
		b.Deadline = h.ReplyBy
		if b.Gather != nil {
			b.Gather.Deadline = h.ReplyBy
			if err := b.Gather.Validate(); err != nil {
				return err
			}
			h.Gather = &envelope.Gather{ID: b.Gather.ID}
		}
		h.Group, h.Salt = group, salt
		if err := all[0].note(store.Bound, "", b); err != nil {
			return err
		}
		for _, s := range all {
			if err := q.copy(ctx, s, h, b); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// copy opens the exchange with one member.
func (q *question) copy(ctx context.Context, s *step, h envelope.Header, b protocol.Binding) error {
	h.Receiver, h.MessageID = s.x.Peer, q.host.seam.id()
	h.Labels.Readers = []string{s.x.Peer}
	h.Trace.Traceparent = q.host.seam.child(h.Trace.Traceparent)
	e, err := envelope.Seal(h, q.content)
	if err != nil {
		return err
	}
	s.x.State = protocol.Open(q.contract.Protocol, s.x.Conversation, s.x.Owner, s.x.Peer, protocol.Initiator)
	s.x.State.MaxRounds = b.Rounds
	s.x.Correlation = h.CorrelationID
	if q.parent != nil {
		s.x.Parent = q.parent.key
	}
	s.opening = e
	k := s.x.Key
	s.after = append(s.after, func() { s.host.noteDeprecated(s.host.running, k, q.contract) })
	return s.emit(ctx, e, h.ReplyBy)
}

// saltBytes is the length of the salt that copies share.
const saltBytes = 16

// membersDigest ties copies to a list that they do not show.
func membersDigest(members []string) string {
	sum := sha256.Sum256([]byte(strings.Join(members, "\n")))
	return hex.EncodeToString(sum[:])
}

// logOf is the whole log of a conversation.
func (h *Host) logOf(ctx context.Context, k store.Key) ([]store.Entry, error) {
	log, err := h.store.Log(ctx, k.Owner, k.Conversation, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", k.Conversation, h.cause(ctx, err))
	}
	return log, nil
}
