package wire

import "testing"

// The request and the answer of a SendMessage as a server sees them.
func BenchmarkSendMessage(b *testing.B) {
	body := EncodeRequest("1", SendMessage, full()["SendMessageRequest"])
	task := full()["Task"].(*Task)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, err := ParseRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		var m SendMessageRequest
		if err := r.Decode(&m); err != nil {
			b.Fatal(err)
		}
		EncodeResult(r.ID, &SendMessageResponse{Task: task})
	}
}
