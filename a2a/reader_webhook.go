package a2a

import (
	"crypto/rand"
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-agents/parley/a2a/wire"
)

// Webhook is where agents elsewhere tell that there is something to read. Serve
// it at its URL and give it to DialConfig.Webhook; several dialled agents may
// share one. What is posted to it is not looked at: it only makes this side read
// at once. So whoever has its secret can cause reads, and nothing else.
type Webhook struct {
	url, secret string

	mu      sync.Mutex
	readers map[*reader]bool
}

// NewWebhook is a webhook at the URL at which agents elsewhere reach its
// handler. Its secret is made anew, and goes to every agent that is asked
// something: what agents were told by an earlier process is not heard any more,
// and found by polling.
func NewWebhook(url string) *Webhook {
	return &Webhook{url: url, secret: rand.Text(), readers: map[*reader]bool{}}
}

// config is what the webhook is called by.
func (h *Webhook) config() *wire.PushConfig {
	return &wire.PushConfig{URL: h.url, Token: h.secret, Authentication: &wire.Authentication{Scheme: "Bearer", Credentials: h.secret}}
}

// maxNotice is how much of what is posted is read, so that a connection can be
// used again.
const maxNotice = 1 << 20

// ServeHTTP takes a notice: a POST that carries the secret as a bearer token or,
// of agents that know no other way, in X-A2A-Notification-Token.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		bearer = ""
	}
	if !h.known(bearer) && !h.known(r.Header.Get(pushTokenHeader)) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxNotice)) // only for the connection's sake
	h.mu.Lock()
	for reader := range h.readers {
		reader.notice()
	}
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (h *Webhook) known(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(secret), []byte(h.secret)) == 1
}

// enter has the reader told, until leave.
func (h *Webhook) enter(r *reader) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers[r] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.readers, r)
	}
}

// notice has everything read at once that no stream reads.
func (r *reader) notice() {
	r.mu.Lock()
	r.pollAt = r.host.Now()
	r.noticed = true
	r.mu.Unlock()
	r.poke()
}
