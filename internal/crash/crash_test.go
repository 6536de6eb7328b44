package crash_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// crashes is how many processes the test kills: CRASHES of the environment, or
// a few.
func crashes(t *testing.T) int {
	text := os.Getenv("CRASHES")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CRASHES is %q, want a number", text)
	}
	return n
}

// seed is CRASH_SEED of the environment, or a new one.
func seed(t *testing.T) uint64 {
	n := rand.Uint64()
	if text := os.Getenv("CRASH_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("CRASH_SEED is %q, want a number", text)
		}
	}
	fmt.Printf("CRASH_SEED=%d\n", n)
	return n
}

// stand is both processes with what they have in common.
type stand struct {
	t      *testing.T
	folder string
	base   int64
	heard  *heard
	live   map[string]*process
	plans  map[string]plan
}

func TestCrashesOfEitherProcessLoseNothingAndRepeatNothing(t *testing.T) {
	n, from := crashes(t), seed(t)
	s := &stand{t: t, folder: short(t), base: time.Now().UnixMilli(), heard: newHeard(), live: map[string]*process{}, plans: map[string]plan{}}
	next := map[string]func() plan{}
	for i, role := range []string{"asker", "answerer"} {
		next[role] = plans(rand.New(rand.NewPCG(from, uint64(i))), role)
		s.begin(role, next[role]())
	}
	for dead := 1; dead <= n+1; dead++ { // whoever has not died by then dies as planned
		role := s.death()
		how := plan{}
		if dead < n {
			how = next[role]()
		}
		s.begin(role, how)
	}
	s.finish()
	verdict(t, s.folder, s.heard)
}

// short is a folder whose name leaves room for that of a socket.
func short(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "crash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// begin starts the next life of a process, which ends as planned.
func (s *stand) begin(role string, how plan) {
	s.t.Logf("%s begins and dies %s", role, how)
	s.live[role] = run(s.t, part{Role: role, Folder: s.folder, Base: s.base, Pace: 20, Point: how.point}, s.heard, how.lines)
	s.plans[role] = how
}

// death waits until a process has been killed.
func (s *stand) death() (role string) {
	s.t.Helper()
	died := make(chan struct{})
	select {
	case <-s.live["asker"].ended:
		role = "asker"
	case <-s.live["answerer"].ended:
		role = "answerer"
	case <-time.After(patience):
		for _, p := range s.live {
			p.await(s.t, fmt.Sprintf("dead %s", s.plans[p.Role]), died)
		}
	}
	if p := s.live[role]; !p.killed || p.fault != nil {
		s.t.Fatalf("%s, which was to die %s: killed %t: %v", role, s.plans[role], p.killed, p.fault)
	}
	return role
}

// finish lets both processes end what they have begun, and stops them.
func (s *stand) finish() {
	s.t.Helper()
	both := []*process{s.live["asker"], s.live["answerer"]}
	for _, p := range both {
		if _, err := fmt.Fprintln(p.stdin, "finish"); err != nil {
			s.t.Fatal(err)
		}
		p.await(s.t, "idle", p.idle)
	}
	for _, p := range both {
		if err := p.stdin.Close(); err != nil {
			s.t.Fatal(err)
		}
		p.await(s.t, "at its end", p.ended)
		if p.killed || p.fault != nil {
			s.t.Errorf("%s ended killed %t: %v", p.Role, p.killed, p.fault)
		}
	}
}
