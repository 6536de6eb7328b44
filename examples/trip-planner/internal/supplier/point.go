package supplier

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/store"
)

// Point is a moment in the middle of a request: one of the commits with which a
// host accepts it.
type Point string

// The points at which a supplier of hotels can be killed.
const (
	// BeforeSearch: nothing is known yet of a search that came.
	BeforeSearch Point = "before-search"
	// AfterBooking: a booking is accepted durably, and nobody has been told.
	AfterBooking Point = "after-booking"
)

// Points are all of them.
func Points() []Point { return []Point{BeforeSearch, AfterBooking} }

// hit reports whether the write set is the one of the point.
func (p Point) hit(w store.WriteSet) bool {
	capability := contract.SearchHotel.Name().Capability()
	if p == AfterBooking {
		capability = contract.BookHotel.Name().Capability()
	}
	return len(w.Exchanges) == 1 && w.Exchanges[0].State.Capability == capability &&
		len(w.Accept) > 0 && w.Accept[0].Status == store.InProgress
}

// mortal is the store of a supplier that is to be killed: at each of its points
// it says where it is, and goes no further.
type mortal struct {
	store.Store
	// halt says so and returns when the process is to end in another way.
	halt func(Point)

	mu     sync.Mutex
	points []Point
}

// errEnding is what a commit gives that nobody came to kill.
var errEnding = errors.New("the supplier is ending")

// Commit implements store.Store.
func (m *mortal) Commit(ctx context.Context, w store.WriteSet) error {
	p, hit := m.take(w)
	if !hit || p == AfterBooking {
		if err := m.Store.Commit(ctx, w); err != nil || !hit {
			return err
		}
	}
	m.halt(p)
	return errEnding
}

// take removes the point that the write set hits.
func (m *mortal) take(w store.WriteSet) (Point, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.points, func(p Point) bool { return p.hit(w) })
	if i < 0 {
		return "", false
	}
	p := m.points[i]
	m.points = slices.Concat(m.points[:i], m.points[i+1:])
	return p, true
}
