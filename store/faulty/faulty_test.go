package faulty_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/faulty"
	"github.com/parley-agents/parley/store/memory"
)

var errFault = errors.New("fault")

// call calls a method by name with arguments that say nothing.
func call(ctx context.Context, s store.Store, name string) error {
	method := reflect.ValueOf(s).MethodByName(name)
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn(); i++ {
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		args = append(args, reflect.Zero(method.Type().In(i)))
	}
	results := method.Call(args)
	err, _ := results[len(results)-1].Interface().(error)
	return err
}

func TestEveryCallFailsWhereTheFaultSays(t *testing.T) {
	methods := reflect.TypeFor[store.Store]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if name == "Close" {
			continue
		}
		for _, failing := range []faulty.Side{faulty.Before, faulty.After, ""} {
			var asked []string
			s := faulty.New(memory.New(), func(side faulty.Side, call string) error {
				asked = append(asked, string(side)+" "+call)
				if side == failing {
					return errFault
				}
				return nil
			})
			want := []string{"before " + name, "after " + name}
			if failing == faulty.Before {
				want = want[:1]
			}
			err := call(t.Context(), s, name)
			if errors.Is(err, errFault) != (failing != "") || !reflect.DeepEqual(asked, want) {
				t.Errorf("%s failing %q: got %v after asking %q, want to ask %q", name, failing, err, asked, want)
			}
		}
	}
}

func TestAFaultBeforeDoesNothingAndOneAfterHidesWhatWasDone(t *testing.T) {
	for side, want := range map[faulty.Side]int{faulty.Before: 0, faulty.After: 1} {
		s := memory.New()
		broken := faulty.New(s, func(at faulty.Side, call string) error {
			if at == side {
				return fmt.Errorf("%s: %w", call, errFault)
			}
			return nil
		})
		owner, err := broken.Identity(t.Context(), store.Identity{Owner: "a", Seed: []byte("a")})
		if !errors.Is(err, errFault) || owner.Owner != "" {
			t.Errorf("%s: got %v, %v", side, owner, err)
		}
		if owners, err := s.Owners(t.Context()); err != nil || len(owners) != want {
			t.Errorf("%s: %d owners, want %d, %v", side, len(owners), want, err)
		}
		if err := broken.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.Owners(t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("after close: got %v, want closed", err)
		}
	}
}

// A commit is durable, but whoever made it never hears of it.
func ExampleNew() {
	ctx := context.Background()
	s := memory.New()
	lossy := faulty.New(s, func(side faulty.Side, call string) error {
		if side == faulty.After && call == "Commit" {
			return errors.New("the answer was lost")
		}
		return nil
	})
	x := store.Exchange{Key: store.Key{Owner: "agent://local/planner", Conversation: "trip-8841", Peer: "agent://local/flights"}}
	fmt.Println(lossy.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}))

	read, err := s.Exchange(ctx, x.Key)
	fmt.Println(read.Version, err)
	// Output:
	// the answer was lost
	// 1 <nil>
}
