package protocol

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// AppendJSON appends the JSON of the exchange to b, which json.Unmarshal reads back, with
// times in UTC. It uses no reflection, since every step writes it. It returns an error if a
// time has no JSON.
func (x Exchange) AppendJSON(b []byte) ([]byte, error) {
	for _, t := range [...]time.Time{x.ReplyBy, x.AgreeBy, x.CancelBy, x.LeaseBy, x.AckBy} {
		if year := t.UTC().Year(); year < 0 || year > 9999 {
			return b, fmt.Errorf("the year %d has no JSON: expected 0 to 9999", year)
		}
	}
	o := strictjson.Builder(b).Open().Text("protocol", x.Protocol).Text("conversation", x.Conversation)
	o = o.Text("owner", x.Owner).Text("peer", x.Peer).Text("role", string(x.Role)).Text("state", string(x.State))
	o = o.Text("capability", x.Capability).Text("opening", x.Opening).Text("cancel", x.Cancel)
	o = o.Texts("asked", x.Asked).Text("trigger", x.Trigger)
	o = o.Text("call", x.Call).Count("round", int64(x.Round)).Count("max_rounds", int64(x.MaxRounds))
	o = o.Text("award", x.Award).Text("gather", x.Gather).Text("fence", x.Fence)
	o = o.Flag("lapsed", x.Lapsed).Flag("cancel_asked", x.CancelAsked)
	o = o.Time("reply_by", x.ReplyBy).Time("agree_by", x.AgreeBy).Time("cancel_by", x.CancelBy)
	o = o.Time("lease_by", x.LeaseBy).Time("ack_by", x.AckBy)
	o = o.Count("sent", x.Sent).Count("received", x.Received).Flag("closed", x.Closed)
	o = o.Count("peer_generation", x.PeerGeneration).Count("messages", int64(x.Messages)).Flag("misread", x.Misread)
	if x.Error != nil { // as few have
		why, err := json.Marshal(x.Error)
		if err != nil {
			return b, err
		}
		o = o.Raw("error", string(why))
	}
	return o.Shut(), nil
}
