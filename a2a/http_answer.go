package a2a

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// answer writes to one client, which gets only so long to take each piece.
type answer struct {
	http.ResponseWriter
	control http.ResponseController
	patient time.Duration
	started bool
}

func newAnswer(w http.ResponseWriter, patient time.Duration) answer {
	under := w
	if e, ok := w.(*echo.Response); ok {
		under = e.Writer // echo's own Flush keeps its error to itself
	}
	return answer{ResponseWriter: w, control: *http.NewResponseController(under), patient: patient}
}

// send begins the answer, which has no more than this body.
func (a *answer) send(status int, mediaType string, body []byte) {
	a.started = true
	if len(body) > 0 {
		putHeaders(a.Header(), "Content-Type", mediaType, "Content-Length", strconv.Itoa(len(body)))
	}
	a.hurry()
	a.WriteHeader(status)
	_, _ = a.Write(body) // whoever does not take it is gone
}

// push writes a piece of an answer at once.
func (a *answer) push(piece []byte) error {
	a.started = true
	a.hurry()
	if _, err := a.Write(piece); err != nil {
		return err
	}
	return a.control.Flush()
}

// hurry gives the client its time for what is written next. A connection that
// has no deadlines is bounded by whoever made it.
func (a *answer) hurry() { _ = a.control.SetWriteDeadline(soon(a.patient)) }

// begun reports whether the client has a part of the answer.
func (a *answer) begun() bool { return a.started }

// soon is a deadline for the operating system, whose clock is not the host's.
func soon(d time.Duration) time.Time { return time.Now().Add(d) }
