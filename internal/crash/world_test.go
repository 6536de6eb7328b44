package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-agents/parley/agent"
)

// effect is one that the world has: a line of an append-only file. It is told
// by the number of the order for which it was made.
type effect struct {
	order int
	key   string
}

func worldOf(folder string) string { return filepath.Join(folder, "world") }

// The ways in which effects are made.
const (
	keyedTool = "keyed tool"
	plainTool = "plain tool"
	keyedStep = "keyed step"
	plainStep = "plain step"
	noStep    = "handler"
)

// effect makes the effect of an order under the key of ctx and returns when it
// is on the disk. Where the key is known, there is nothing to do: that is what a
// service makes of an idempotency key. It gets none from who makes its effect at
// most once.
func (c *child) effect(ctx context.Context, order int, how string) error {
	c.at("effect of " + how + " begins")
	path, k := worldOf(c.Folder), agent.EffectKey(ctx)
	if how != plainTool && how != plainStep {
		had, err := effects(path)
		if err != nil {
			return err
		}
		for _, e := range had {
			if e.key == k {
				return nil
			}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %s\n", order, k)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	c.at("effect of " + how + " ends")
	return nil
}

// effects reads what the world has.
func effects(path string) ([]effect, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []effect
	for line := range strings.Lines(string(data)) {
		var e effect
		if _, err := fmt.Sscan(line, &e.order, &e.key); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		list = append(list, e)
	}
	return list, nil
}
