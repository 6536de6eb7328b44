package agenttest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent/agenttest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAnAlarmRingsWhenTheClockIsMovedToItsTimeAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := agenttest.NewClock(noon)
		var rang []string
		c.At(noon, func() { rang = append(rang, "now") })
		synctest.Wait()
		c.At(noon.Add(time.Minute), func() { rang = append(rang, "a minute") })
		stop := c.At(noon.Add(time.Minute), func() { rang = append(rang, "stopped") })
		stop()
		c.Advance(time.Minute - 1)
		synctest.Wait()
		if len(rang) != 1 || rang[0] != "now" {
			t.Fatalf("before its time rang %v", rang)
		}
		c.Advance(1)
		synctest.Wait()
		if len(rang) != 2 || rang[1] != "a minute" {
			t.Fatalf("at its time rang %v", rang)
		}
		c.Advance(time.Hour)
		synctest.Wait()
		if len(rang) != 2 || !c.Now().Equal(noon.Add(time.Minute+time.Hour)) {
			t.Errorf("later rang %v at %v", rang, c.Now())
		}
	})
}
