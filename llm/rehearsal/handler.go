package rehearsal

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Model is the one model that the list of models names.
const Model = "rehearsal"

// Handler serves POST /v1/chat/completions and GET /v1/models.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": Model, "object": "model", "created": 0, "owned_by": "rehearsal"},
		}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &refused{status: http.StatusNotFound, code: "unknown_url",
			message: fmt.Sprintf("unknown request URL: %s %s", r.Method, r.URL.Path)})
	})
	if s.options.Key == "" {
		return mux
	}
	want := "Bearer " + s.options.Key
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) != 1 {
			refuse(w, &refused{status: http.StatusUnauthorized, code: "invalid_api_key", message: "incorrect API key"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody))
	if err != nil {
		refuse(w, &refused{status: http.StatusRequestEntityTooLarge, message: "request body: " + err.Error()})
		return
	}
	var wire wireRequest
	if err := json.Unmarshal(body, &wire); err != nil {
		refuse(w, invalid("", "request body: %v", err))
		return
	}
	request, err := wire.read()
	if err != nil {
		refuse(w, err)
		return
	}
	reply, err := answer(s.options.Rules, request)
	var c *completion
	if err == nil {
		c, err = compose(request, reply)
	}
	if wire.Stream {
		body = unstreamed(body)
	}
	struck, draw := s.count(body, request, reply)
	if err != nil {
		refuse(w, &refused{status: http.StatusInternalServerError, message: "rehearsal: " + err.Error()})
		return
	}
	c.identify(draw)
	if !s.wait(r.Context(), s.options.Latency) {
		refuse(w, unavailable)
		return
	}
	var fate course
	for _, a := range struck {
		kind := a.Kind
		if !wire.Stream {
			kind = kind.unstreamed()
		}
		switch kind {
		case RateLimited:
			w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(a.RetryAfter)))
			refuse(w, &refused{status: http.StatusTooManyRequests, code: "rate_limit_exceeded", message: "rate limit reached"})
			return
		case Unavailable:
			refuse(w, unavailable)
			return
		case ErrorBody:
			write(w, http.StatusOK, unavailable.body())
			return
		case Dropped:
			panic(http.ErrAbortHandler) // how a handler closes its connection
		case Slow:
			if !s.wait(r.Context(), a.delay()) {
				refuse(w, unavailable)
				return
			}
		case Trickled:
			fate.delay = a.delay()
		case BrokenOff:
			fate.brokenOff = true
		case ErrorMidway:
			fate.failing = true
		default:
			c.damage(a, draw)
		}
	}
	switch {
	case wire.Stream:
		s.stream(r.Context(), w, c, wire.StreamOptions.IncludeUsage, fate)
	case fate.brokenOff:
		breakOff(w, c.body())
	default:
		write(w, http.StatusOK, c.body())
	}
}

var unavailable = &refused{status: http.StatusServiceUnavailable, code: "unavailable", message: "the server is overloaded or not ready yet"}

// unstreamed is the request that asks for the same reply with "stream":false, so that
// it draws the same ids and damage whether it is streamed or not.
func unstreamed(body []byte) []byte {
	var request map[string]json.RawMessage
	_ = json.Unmarshal(body, &request) // was read before
	delete(request, "stream_options")
	request["stream"] = json.RawMessage("false")
	body, _ = json.Marshal(request)
	return body
}

// count enters a completion and returns the accidents that befall it and the
// source of its random draws. The draws depend on the seed, on the request and on
// how often it came, not on what else is under way.
func (s *Server) count(body []byte, r Request, reply Reply) ([]Accident, *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	var struck []Accident
	for i, a := range s.options.Accidents {
		if a.strikes(&s.counts[i], r, reply) {
			struck = append(struck, a)
		}
	}
	sum := sha256.Sum256(body)
	s.repeated[sum]++
	return struck, rand.New(rand.NewPCG(s.options.Seed^binary.BigEndian.Uint64(sum[:]), s.repeated[sum]))
}

// compose turns a reply into a completion: it checks the arguments, keeps the
// token limit and counts.
func compose(r Request, reply Reply) (*completion, error) {
	c := &completion{model: r.Model, text: reply.Text, refusal: reply.Refusal, finish: "stop"}
	for _, call := range reply.Calls {
		arguments, err := call.encode()
		if err != nil || !isObject(arguments) {
			return nil, fmt.Errorf("a rule calls %q with arguments that are no JSON object", call.Name)
		}
		c.calls = append(c.calls, outCall{name: call.Name, arguments: string(arguments)})
		c.finish = "tool_calls"
	}
	for _, m := range r.Messages {
		c.input += tokens(m.Text)
		for _, call := range m.Calls {
			arguments, _ := call.encode()
			c.input += tokens(call.Name) + tokens(string(arguments))
		}
	}
	for _, f := range r.Functions {
		c.input += tokens(f.Name) + tokens(f.Description) + tokens(string(f.Parameters))
	}
	if r.MaxTokens > 0 {
		c.limit(r.MaxTokens)
	}
	return c, nil
}

// tokens is what a text counts: a token for every four characters begun.
func tokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

// wholeSeconds rounds up to what Retry-After can say.
func wholeSeconds(d time.Duration) int {
	if d <= 0 {
		d = time.Second
	}
	return int((d + time.Second - 1) / time.Second)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away needs no answer
}

// breakOff promises body, sends half of it and closes the connection.
func breakOff(w http.ResponseWriter, body any) {
	data, _ := json.Marshal(body) // maps, strings and numbers always encode
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data[:len(data)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func refuse(w http.ResponseWriter, err error) {
	var e *refused
	if !errors.As(err, &e) {
		e = &refused{status: http.StatusInternalServerError, message: err.Error()}
	}
	write(w, e.status, e.body())
}

// letters are what ids are made of.
const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

func randomID(draw *rand.Rand, prefix string, n int) string {
	var id strings.Builder
	id.WriteString(prefix)
	for range n {
		id.WriteByte(letters[draw.IntN(len(letters))])
	}
	return id.String()
}
