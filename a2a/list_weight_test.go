package a2a

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
)

func TestAPageOfHeavyTasksEndsEarlyAndNoneIsLost(t *testing.T) {
	const n, each = 100, 60 << 10
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		want := map[string]bool{}
		for range n {
			x := c.take(c.opens(book, envelope.Request), `{"flight":"`+strings.Repeat("A", each)+`"}`, "")
			want[x.Task] = true
		}
		synctest.Wait()
		pages := 0
		for token := ""; ; pages++ {
			page, err := c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{PageSize: n, PageToken: token})
			if err != nil || len(page.Tasks) == 0 || page.TotalSize != n {
				t.Fatalf("page %d: %d tasks of %d, %v", pages, len(page.Tasks), page.TotalSize, err)
			}
			if len(page.Tasks) > maxPageBytes/each+1 {
				t.Errorf("page %d has %d tasks", pages, len(page.Tasks))
			}
			for _, task := range page.Tasks {
				if !want[task.ID] {
					t.Errorf("%s is listed twice", task.ID)
				}
				delete(want, task.ID)
			}
			if token = page.NextPageToken; token == "" {
				break
			}
		}
		if len(want) > 0 || pages == 0 {
			t.Errorf("%d tasks are lost, after %d more pages", len(want), pages)
		}
		// Without what makes them heavy they fit on one.
		light, err := c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{PageSize: n, HistoryLength: new(int)})
		if err != nil || len(light.Tasks) != n || light.NextPageToken != "" {
			t.Errorf("%d tasks without their history, %v", len(light.Tasks), err)
		}
	})
}
