package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// workplace makes a store of a host for an example.
func workplace() (path string, host *sqlite.Store, clean func()) {
	folder, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(folder, "parley.db")
	host, err = sqlite.Open(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := host.Meta(context.Background(), store.Meta{Generation: 1}); err != nil {
		log.Fatal(err)
	}
	return path, host, func() { _ = errors.Join(host.Close(), os.RemoveAll(folder)) }
}

func ExamplePost() {
	path, host, clean := workplace()
	defer clean()
	ctx := context.Background()
	// In another process:
	err := sqlite.Post(ctx, path, store.Command{ID: "019caa10-5a00-7000-8000-000000000001", Verb: store.VerbCancel,
		Owner: "agent://local/planner", Conversation: "019caa10-5a00-7000-8000-000000000002", By: "ops", At: time.UnixMilli(1)})
	if err != nil {
		log.Fatal(err)
	}
	// In the host:
	waiting, err := host.Commands(ctx, []string{"agent://local/planner"}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range waiting {
		err := host.Commit(ctx, store.WriteSet{Answers: []store.CommandAnswer{{ID: c.ID, At: time.UnixMilli(2), Answer: "cancelled"}}})
		fmt.Println(c.Verb, c.By, err)
	}
	// Output: cancel ops <nil>
}

func ExampleBackup() {
	path, _, clean := workplace()
	defer clean()
	ctx := context.Background()
	to := path + ".backup"
	fmt.Println(sqlite.Backup(ctx, path, to))

	report, err := sqlite.Check(ctx, to)
	fmt.Println(len(report.Findings), err)
	// Output:
	// <nil>
	// 0 <nil>
}

func ExampleRestore() {
	path, _, clean := workplace()
	defer clean()
	ctx := context.Background()
	if err := sqlite.Backup(ctx, path, path+".backup"); err != nil {
		log.Fatal(err)
	}
	meta, err := sqlite.Restore(ctx, path+".backup", path+".restored", time.UnixMilli(1_800_000_000_000))
	fmt.Println(meta.Generation, err)
	// Output: 1800000000000 <nil>
}

func ExampleCheck() {
	path, host, clean := workplace()
	defer clean()
	x := store.Exchange{Key: store.Key{Owner: "agent://local/planner", Conversation: "trip-8841", Peer: "agent://local/flights"}}
	if err := host.Commit(context.Background(), store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		log.Fatal(err)
	}
	report, err := sqlite.Check(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Println(f.Code, "-", f.Where, "-", f.What)
	}
	// Output:
	// exchange-without-log - the exchange of agent://local/planner with agent://local/flights in conversation trip-8841 - its conversation has no log
}

func ExampleCompact() {
	path, host, clean := workplace()
	defer clean()
	ctx := context.Background()
	_, err := sqlite.Compact(ctx, path)
	fmt.Println(errors.Is(err, store.ErrInUse))

	if err := host.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = sqlite.Compact(ctx, path)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// What expired is forgotten, and what has not stays.
func ExampleStore_Sweep() {
	_, host, clean := workplace()
	defer clean()
	ctx, noon := context.Background(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(id string, expires time.Time) store.Inbox {
		return store.Inbox{InboxKey: store.InboxKey{Recipient: "agent://local/planner", Sender: "agent://local/flights", MessageID: id},
			Status: store.Settled, ExpiresAt: expires}
	}
	if err := host.Commit(ctx, store.WriteSet{Accept: []store.Inbox{row("old", noon), row("young", noon.Add(time.Hour))}}); err != nil {
		log.Fatal(err)
	}
	swept, err := host.Sweep(ctx, noon, time.Time{}, 100)
	fmt.Println(swept.Inbox, swept.More, err)
	// Output: 1 false <nil>
}
