package agent_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
)

// A moment that has passed comes at once, to each who asks for one at the same
// time: users test hosts in bubbles under -race, where a timer would end the
// process.
func TestMomentsThatHavePassedComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := agent.NewHost(agent.Config{Store: memory.New()})
		past := host.Now().Add(-time.Second)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 500 {
					ctx, cancel := context.WithCancel(t.Context())
					stop := host.At(past, cancel)
					<-ctx.Done()
					stop()
				}
			})
		}
		wg.Wait()
		if d := time.Since(past); d != time.Second {
			t.Errorf("%v have passed, want 1s: those moments were waited for", d)
		}
	})
}
