package trip

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

// mayfly is a supplier that says something and ends.
type mayfly struct{ err error }

func (mayfly) PID() int      { return 1 }
func (mayfly) Kill() error   { return nil }
func (m mayfly) Wait() error { return m.err }

func TestASupplierThatEndsAgainAndAgainIsGivenUp(t *testing.T) {
	broken := errors.New("exit status 2")
	for says, want := range map[string]int{
		"":                                    1, // it was never ready
		`{"ready":true}` + "\n":               maxLives,
		`{"ready":true}` + "\nno JSON at all": maxLives,
	} {
		lives := 0
		d, err := openDesk(supplier.Part{Name: supplier.Hotels}, func(_ supplier.Part, listener, in, out *os.File) (Process, error) {
			lives++
			_, err := io.WriteString(out, says)
			return mayfly{broken}, errors.Join(err, listener.Close(), in.Close(), out.Close())
		}, slog.New(slog.NewTextHandler(t.Output(), nil)))
		if err != nil {
			t.Fatal(err)
		}
		<-d.ended
		if lives != want || !errors.Is(d.failed(), broken) {
			t.Errorf("%q: %d lives, then %v; want %d", says, lives, d.failed(), want)
		}
		if err := d.close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
