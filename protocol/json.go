package protocol

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-agents/parley/envelope"
)

// AppendJSON appends the JSON of the exchange to b: byte for byte what json.Marshal
// makes of it, but without reflection, since every step writes it. It returns an error
// if a time has no JSON.
func (x Exchange) AppendJSON(b []byte) ([]byte, error) {
	o := object{b: append(b, '{')}
	o.text("protocol", x.Protocol)
	o.text("conversation", x.Conversation)
	o.text("owner", x.Owner)
	o.text("peer", x.Peer)
	o.text("role", string(x.Role))
	o.text("state", string(x.State))
	o.some("capability", x.Capability)
	o.some("opening", x.Opening)
	o.some("cancel", x.Cancel)
	o.list("asked", x.Asked)
	o.some("trigger", x.Trigger)
	o.some("call", x.Call)
	o.nonzero("round", x.Round)
	o.nonzero("max_rounds", x.MaxRounds)
	o.some("award", x.Award)
	o.some("gather", x.Gather)
	o.some("fence", x.Fence)
	o.flag("lapsed", x.Lapsed)
	o.flag("cancel_asked", x.CancelAsked)
	o.moment("reply_by", x.ReplyBy)
	o.moment("agree_by", x.AgreeBy)
	o.moment("cancel_by", x.CancelBy)
	o.moment("lease_by", x.LeaseBy)
	o.moment("ack_by", x.AckBy)
	o.number("sent", x.Sent)
	o.number("received", x.Received)
	o.flag("closed", x.Closed)
	if x.PeerGeneration != 0 {
		o.number("peer_generation", x.PeerGeneration)
	}
	o.number("messages", int64(x.Messages))
	o.flag("misread", x.Misread)
	if x.Error != nil {
		o.reason("error", x.Error)
	}
	return append(o.b, '}'), o.err
}

// object is an object of JSON that is being written, up to its end.
type object struct {
	b   []byte
	err error
}

// name begins a member.
func (o *object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.quote(value)
}

// some writes a text unless it is empty.
func (o *object) some(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	before := byte('[')
	for _, value := range values {
		o.b = append(o.b, before)
		o.quote(value)
		before = ','
	}
	o.b = append(o.b, ']')
}

func (o *object) number(name string, value int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

// nonzero writes a number unless it is 0.
func (o *object) nonzero(name string, value int) {
	if value != 0 {
		o.number(name, int64(value))
	}
}

// flag writes what is true.
func (o *object) flag(name string, value bool) {
	if value {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}

// moment writes a time unless it is zero.
func (o *object) moment(name string, value time.Time) {
	if value.IsZero() {
		return
	}
	var room [len(time.RFC3339Nano)]byte
	text, err := value.AppendText(room[:0])
	if err != nil {
		o.err = err
	}
	o.text(name, string(text))
}

// reason writes an error, which few exchanges have.
func (o *object) reason(name string, value *envelope.Error) {
	o.name(name)
	text, _ := json.Marshal(value) // of texts, numbers and flags, which cannot fail
	o.b = append(o.b, text...)
}

// quote writes a text; hardly any needs more than quotes.
func (o *object) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(`"\<>&`, c) >= 0 {
			text, _ := json.Marshal(s) // of a string, which cannot fail
			o.b = append(o.b, text...)
			return
		}
	}
	o.b = append(append(append(o.b, '"'), s...), '"')
}
