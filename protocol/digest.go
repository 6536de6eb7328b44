package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/envelope"
)

// Snapshot is the semantic state of a conversation as one agent sees it. Times,
// attempts, rejected messages and receipts other than a fence's are not in it.
type Snapshot struct {
	Protocol, Conversation string
	Exchanges              []ExchangeSnapshot
	Gathers                []GatherSnapshot
	// Fence is nil until the conversation is fenced; Acks are the URIs of those
	// that acknowledged it.
	Fence *envelope.Fence
	Acks  []string
}

// ExchangeSnapshot is one exchange and the acts accepted in it.
type ExchangeSnapshot struct {
	Peer           string
	Role           Role
	State          State
	Sent, Received []Numbered
}

// Numbered is the digest of an act and its sequence number.
type Numbered struct {
	Seq    int64
	Digest envelope.Digest
}

// GatherSnapshot is one gather. ValueDigest is empty until it is reduced.
type GatherSnapshot struct {
	ID            string
	Policy        Policy
	Contributions []Contribution
	Dissent       []string // message ids
	Missing       []string // URIs
	ValueDigest   string
}

// The members of the digested document, in canonical order.
type (
	digested struct {
		Acks         []string           `json:"acks"`
		Conversation string             `json:"conversation"`
		Exchanges    []digestedExchange `json:"exchanges"`
		Fence        *digestedFence     `json:"fence"`
		Gathers      []digestedGather   `json:"gathers"`
		Protocol     string             `json:"protocol"`
		V            int                `json:"v"`
	}
	digestedExchange struct {
		Outcome  Outcome  `json:"outcome"`
		Peer     string   `json:"peer"`
		Received []string `json:"received"`
		Role     Role     `json:"role"`
		Sent     []string `json:"sent"`
		State    State    `json:"state"`
	}
	digestedFence struct {
		ID       string `json:"id"`
		Proposed string `json:"proposed"`
	}
	digestedGather struct {
		Contributions []string `json:"contributions"`
		Dissent       []string `json:"dissent"`
		ID            string   `json:"id"`
		Missing       []string `json:"missing"`
		Policy        Policy   `json:"policy"`
		ValueDigest   string   `json:"value_digest"`
	}
)

// StateDigest is the sha256 of the canonical JSON (RFC 8785) of the snapshot,
// with exchanges by peer, acts by number, gathers by id, contributions by
// sender and number, and URIs and ids sorted: the order of the argument's lists
// does not matter. Two logs with the same digest mean the same.
func StateDigest(s Snapshot) envelope.Digest {
	doc := digested{V: 1, Protocol: s.Protocol, Conversation: s.Conversation, Acks: sorted(s.Acks),
		Exchanges: []digestedExchange{}, Gathers: []digestedGather{}}
	for _, x := range s.Exchanges {
		doc.Exchanges = append(doc.Exchanges, digestedExchange{
			Peer: x.Peer, Role: x.Role, State: x.State, Outcome: x.State.Outcome(), Sent: digests(x.Sent), Received: digests(x.Received),
		})
	}
	slices.SortFunc(doc.Exchanges, func(a, b digestedExchange) int {
		return cmp.Or(strings.Compare(a.Peer, b.Peer), strings.Compare(string(a.Role), string(b.Role)))
	})
	for _, g := range s.Gathers {
		contributions := []string{}
		for _, c := range slices.SortedFunc(slices.Values(g.Contributions), canonically) {
			contributions = append(contributions, c.Digest.String())
		}
		doc.Gathers = append(doc.Gathers, digestedGather{
			ID: g.ID, Policy: g.Policy, Contributions: contributions, Dissent: sorted(g.Dissent), Missing: sorted(g.Missing),
			ValueDigest: g.ValueDigest,
		})
	}
	slices.SortFunc(doc.Gathers, func(a, b digestedGather) int { return strings.Compare(a.ID, b.ID) })
	if s.Fence != nil {
		doc.Fence = &digestedFence{ID: s.Fence.ID, Proposed: s.Fence.Proposed}
	}
	return envelope.Digest(sha256.Sum256(canonical(doc)))
}

// canonical is the document in RFC 8785 form. Its members are declared in
// order, its texts are the ASCII of ids, URIs and words, and its one number is
// small: nothing is left that the standard encoder would write differently,
// once it no longer escapes for HTML.
func canonical(doc digested) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(doc); err != nil {
		panic(fmt.Sprintf("protocol: encoding a snapshot: %v", err)) // strings and one number always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func digests(acts []Numbered) []string {
	list := make([]string, 0, len(acts))
	bySeq := func(a, b Numbered) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), bytes.Compare(a.Digest[:], b.Digest[:]))
	}
	for _, a := range slices.SortedFunc(slices.Values(acts), bySeq) {
		list = append(list, a.Digest.String())
	}
	return list
}

func sorted(list []string) []string { return append([]string{}, slices.Sorted(slices.Values(list))...) }
