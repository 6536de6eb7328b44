package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Difference is one line that only one of two logs has.
type Difference struct {
	Peer string // whose exchange, "" for the conversation as a whole
	// Index is that of the entry in the log that has it.
	Index int64
	// Mine is what the first log has there, Theirs what the second has; one of them is empty.
	Mine, Theirs string
}

// Diff tells how two logs of one kind of conversation differ in what was said and done: by exchange, in order of the
// peers' URIs, and in each in the order of the log. Two runs of the same thing differ in ids, times, salts and digests;
// none of these counts, unless it stands in what an agent said. What counts are events, schemas, contents and errors, and
// how a conversation was bound, reduced, fenced and concluded. An entry whose message cannot be read is an error that names it.
func Diff(mine, theirs []store.Entry) ([]Difference, error) {
	a, err := said(mine)
	if err != nil {
		return nil, err
	}
	b, err := said(theirs)
	if err != nil {
		return nil, err
	}
	peers := maps.Clone(a)
	maps.Copy(peers, b)
	var list []Difference
	for _, peer := range slices.Sorted(maps.Keys(peers)) {
		list = append(list, compared(peer, a[peer], b[peer])...)
	}
	return list, nil
}

// line is what an entry says, whenever and under whatever id.
type line struct {
	index int64
	text  string
}

// said are the lines of a log by peer.
func said(log []store.Entry) (map[string][]line, error) {
	lines := map[string][]line{}
	for _, e := range log {
		text, err := spoken(e)
		if err != nil {
			return nil, err
		}
		lines[e.Peer] = append(lines[e.Peer], line{e.Index, text})
	}
	return lines, nil
}

func spoken(e store.Entry) (string, error) {
	switch e.Kind {
	case store.Bound:
		b, err := note[protocol.Binding](e)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("bound %s for %s with %v, %d awards, %d rounds", b.Protocol, b.Capability, b.Members, b.Awards, b.Rounds)
		if g := b.Gather; g != nil {
			text = fmt.Sprintf("bound %s for %s with %v, %s %d, %s", b.Protocol, b.Capability, b.Members, g.Policy, g.Quorum, g.Reducer)
		}
		return text, nil
	case store.Reduced:
		r, err := note[protocol.Reduction](e)
		return fmt.Sprintf("reduced to %s, proposing %s, abstained %v, missing %v", r.Value, r.Proposed, r.Abstained, r.Missing), err
	case store.Concluded:
		c, err := note[protocol.Closing](e)
		return fmt.Sprintf("concluded %s", c.Terminal), err
	case store.Fired:
		return string(e.Event), nil
	case store.Absent:
		return "said that nothing had come", nil
	case store.Noted:
		return fmt.Sprintf("noted %s", e.Note), nil
	}
	m, err := envelope.Decode(e.Envelope)
	if err != nil {
		return "", diverges(e, "envelope", "a message", err.Error())
	}
	return uttered(e, m), nil
}

// uttered is what a message says.
func uttered(e store.Entry, m *envelope.Envelope) string {
	text := string(e.Event)
	if e.Kind == store.Rejected {
		text = "rejected " + text + " " + e.Reason
	}
	switch {
	case m.Header().Fence != nil:
		text += " " + fenceText(m)
	case m.ReceiptKind() == "":
		text += " " + m.Schema() + " " + string(m.Content())
	}
	if told := m.Header().Error; told != nil {
		text += fmt.Sprintf(" %s %s", told.Code, told.Reason)
	}
	if g := m.Header().Gather; g != nil && g.Stance != "" {
		text += " " + g.Stance
	}
	return text
}

// fenceText is what a fence says, without the id of the gather and the digest of what it came to.
func fenceText(m *envelope.Envelope) string {
	var n protocol.FenceNote
	if err := json.Unmarshal(m.Content(), &n); err != nil {
		return string(m.Content())
	}
	return fmt.Sprintf("%s proposing %s, %s, %+v", m.Schema(), n.Proposed, n.Yours, n.Counts)
}

// compared are the lines that are not in a longest common subsequence of both.
func compared(peer string, a, b []line) (list []Difference) {
	common := make([][]int, len(a)+1) // how long it is from here on
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].text == b[j].text:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			list = append(list, Difference{Peer: peer, Index: a[i].index, Mine: a[i].text})
			i++
		default:
			list = append(list, Difference{Peer: peer, Index: b[j].index, Theirs: b[j].text})
			j++
		}
	}
	return list
}
