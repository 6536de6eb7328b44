package a2a

import (
	"context"
	"encoding/base64"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// list goes through all pages and returns the ids of the tasks.
func (c client) list(r wire.ListTasksRequest) (ids []string, total int) {
	c.t.Helper()
	for {
		page, err := c.s.ListTasks(c.t.Context(), c.call(true), &r)
		if err != nil {
			c.t.Fatal(err)
		}
		total = page.TotalSize
		for _, task := range page.Tasks {
			ids = append(ids, task.ID)
		}
		if r.PageToken = page.NextPageToken; r.PageToken == "" {
			return ids, total
		}
		if len(page.Tasks) != page.PageSize {
			c.t.Fatalf("a page of %d with more to come has %d tasks", page.PageSize, len(page.Tasks))
		}
	}
}

// selling is a book whose answers depend on the order: every third is refused.
func selling() agent.Option {
	n := 0
	return agent.Handle(book, func(context.Context, Seat) (Booking, error) {
		if n++; n%3 == 0 {
			return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
		}
		return Booking{"R1"}, nil
	})
}

func TestTasksAreListedNewestFirstAndByPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, selling()), planner}
		var all, refused []string
		var half time.Time
		for n := 1; n <= 12; n++ {
			x := c.open(book, envelope.Request)
			synctest.Wait()
			all = append(all, x.Task)
			if n%3 == 0 {
				refused = append(refused, x.Task)
			}
			if n == 7 {
				half = c.s.host.Now()
			}
			time.Sleep(time.Second)
		}
		slices.Reverse(all)
		slices.Reverse(refused)
		for name, tt := range map[string]struct {
			r     wire.ListTasksRequest
			want  []string
			total int
		}{
			"all at once":           {wire.ListTasksRequest{}, all, 12},
			"by fives":              {wire.ListTasksRequest{PageSize: 5}, all, 12},
			"one by one":            {wire.ListTasksRequest{PageSize: 1}, all, 12},
			"pages that come out":   {wire.ListTasksRequest{PageSize: 4}, all, 12},
			"of a state":            {wire.ListTasksRequest{Status: wire.Rejected}, refused, 4},
			"of a state, by threes": {wire.ListTasksRequest{Status: wire.Rejected, PageSize: 3}, refused, 4},
			"of a state by twos":    {wire.ListTasksRequest{Status: wire.Rejected, PageSize: 2}, refused, 4},
			"of no state there is":  {wire.ListTasksRequest{Status: wire.Working}, nil, 0},
			"since the seventh":     {wire.ListTasksRequest{StatusTimestampAfter: half, PageSize: 4}, all[:6], 6},
			"of the context":        {wire.ListTasksRequest{ContextID: "trip-8841"}, all, 12},
			"of another context":    {wire.ListTasksRequest{ContextID: "trip-0000"}, nil, 0},
		} {
			got, total := c.list(tt.r)
			equal(t, name, got, tt.want)
			if total != tt.total {
				t.Errorf("%s: %d in all, want %d", name, total, tt.total)
			}
		}
	})
}

func TestAListShowsNoMoreThanIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		none := 0
		page := must(c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{HistoryLength: &none}))
		if task := page.Tasks[0]; task.Artifacts != nil || task.History != nil || page.PageSize != 50 || page.TotalSize != 1 || page.NextPageToken != "" {
			t.Errorf("listed %+v", page)
		}
		page = must(c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{IncludeArtifacts: true}))
		if got, want := wire.Encode(&page.Tasks[0]), wire.Encode(c.task(x, true)); string(got) != string(want) {
			t.Errorf("listed\n%s\nwant\n%s", got, want)
		}
		page = must(c.s.ListTasks(t.Context(), client{t, c.s, stranger}.call(true), &wire.ListTasksRequest{}))
		if page.Tasks == nil || len(page.Tasks) > 0 || page.TotalSize != 0 {
			t.Errorf("a stranger is shown %+v", page)
		}
	})
}

func TestATaskOfSomebodyElseIsNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		h := c.opens(book, envelope.Request)
		x := c.take(h, seat, "")
		other := client{t, c.s, stranger}
		for _, id := range []string{x.Task, "", "x", taskID(x.Conversation, stranger)} {
			if _, err := c.s.GetTask(t.Context(), other.call(true), &wire.GetTaskRequest{ID: id}); kindOf(err) != wire.TaskNotFound {
				t.Errorf("getting %q: %v", id, err)
			}
			if _, err := c.s.SubscribeToTask(t.Context(), other.call(true), &wire.SubscribeRequest{ID: id}); kindOf(err) != wire.TaskNotFound {
				t.Errorf("following %q: %v", id, err)
			}
		}
		// Two peers may call their conversations the same: each has its own.
		same := other.opens(book, envelope.Request)
		same.ConversationID = h.ConversationID
		y := other.take(same, `{"flight":"BA1"}`, "")
		synctest.Wait()
		if x.Task != y.Task || x.Peer == y.Peer {
			t.Fatalf("tasks %s of %s and %s of %s", x.Task, x.Peer, y.Task, y.Peer)
		}
		for _, c := range []client{c, other} {
			task := c.task(y, true)
			if first := must(envelope.Decode(must(envelopeOf(&task.History[0])))); len(task.Artifacts) != 1 || first.Sender() != c.uri {
				t.Errorf("%s is shown %d artifacts of what %s asked", c.uri, len(task.Artifacts), first.Sender())
			}
			if ids, _ := c.list(wire.ListTasksRequest{}); len(ids) != 1 {
				t.Errorf("%s is shown the tasks %v", c.uri, ids)
			}
		}
	})
}

func TestAReaderIsWhoItsTokenProves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		x := c.open(book, envelope.Request)
		call := wire.Call{Caller: planner, Token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln"}
		if _, err := c.s.GetTask(t.Context(), call, &wire.GetTaskRequest{ID: x.Task}); kindOf(err) != wire.Unauthenticated {
			t.Errorf("with a token of nobody: %v", err)
		}
		peers := agent.NewHost(agent.Config{Store: memory.New(), Drain: -1}, agent.New("planner"), agent.New("other"))
		if err := peers.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { peers.Stop(context.Background()) })
		c.s.host.Connect(agent.PeerHost(peers))
		for uri, want := range map[string]wire.Kind{planner: "", "agent://local/other": wire.TaskNotFound} {
			call := wire.Call{Caller: planner, Token: must(peers.Token(uri, flights))}
			if _, err := c.s.GetTask(t.Context(), call, &wire.GetTaskRequest{ID: x.Task}); kindOf(err) != want {
				t.Errorf("with the token of %s: %v", uri, err)
			}
		}
	})
}

func TestAPageTokenIsHeldToItsForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(booked)), planner}
		for range 3 {
			c.open(book, envelope.Request)
		}
		good := must(c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{PageSize: 1})).NextPageToken
		data := must(base64.RawURLEncoding.DecodeString(good))
		changed := func(at int, b byte) string {
			d := slices.Clone(data)
			d[at] = b
			return base64.RawURLEncoding.EncodeToString(d)
		}
		for name, r := range map[string]wire.ListTasksRequest{
			"no token":           {PageToken: "next"},
			"no base64":          {PageToken: "!" + good},
			"a piece of one":     {PageToken: good[:len(good)-4]},
			"another form":       {PageToken: changed(0, 2)},
			"no task":            {PageToken: changed(len(data)-1, '!')},
			"of other filters":   {PageToken: good, Status: wire.Working},
			"of another context": {PageToken: good, ContextID: "trip-8841"},
			"a page too large":   {PageSize: 101},
			"a negative page":    {PageSize: -1},
		} {
			if _, err := c.s.ListTasks(t.Context(), c.call(true), &r); kindOf(err) != wire.InvalidParams {
				t.Errorf("%s: %v", name, err)
			}
		}
		place := store.MailboxPlace{MovedAt: time.UnixMilli(1_700_000_000_001).UTC(), Task: taskID("c", "p")}
		r := &wire.ListTasksRequest{Status: wire.Failed, ContextID: "c", StatusTimestampAfter: time.UnixMilli(5)}
		if got, err := readPageToken(writePageToken(place, r), r); err != nil || got != place {
			t.Errorf("the token of %v names %v, %v", place, got, err)
		}
	})
}

func FuzzPageToken(f *testing.F) {
	r := &wire.ListTasksRequest{}
	f.Add(writePageToken(store.MailboxPlace{MovedAt: time.UnixMilli(1).UTC(), Task: taskID("c", "p")}, r))
	f.Fuzz(func(t *testing.T, token string) {
		place, err := readPageToken(token, r)
		if err != nil {
			if kindOf(err) != wire.InvalidParams {
				t.Fatal(err)
			}
			return
		}
		if token != "" && writePageToken(place, r) != token {
			t.Fatalf("%q names a place whose token is %q", token, writePageToken(place, r))
		}
	})
}

func TestAQuestionBringsItsTaskToTheFrontOfTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
			<-gate
			a, err := agent.AskBack(ctx, which)
			return Booking{a.Choice}, err
		})), planner}
		x := c.open(book, envelope.Request)
		time.Sleep(time.Second)
		seen := c.task(x, true).Status.Timestamp
		time.Sleep(time.Second)
		close(gate)
		synctest.Wait()
		page := must(c.s.ListTasks(t.Context(), c.call(true), &wire.ListTasksRequest{StatusTimestampAfter: seen.Add(time.Millisecond)}))
		if len(page.Tasks) != 1 || page.Tasks[0].Status.State != wire.InputRequired {
			t.Fatalf("listed %+v", page.Tasks)
		}
		seen = page.Tasks[0].Status.Timestamp
		time.Sleep(time.Second)
		c.reply(x, `{"choice":"aisle"}`)
		synctest.Wait()
		if task := c.task(x, true); task.Status.State != wire.Completed || !task.Status.Timestamp.After(seen) {
			t.Errorf("%s at %s", task.Status.State, task.Status.Timestamp)
		}
	})
}
