package main

import (
	"context"
	"errors"

	"github.com/parley-agents/parley/internal/measure"
)

// fleet are the servers of a benchmark.
type fleet struct{ list []*remote }

// add starts a server.
func (f *fleet) add(ctx context.Context, r *measure.Run, kind string, more ...string) (*remote, error) {
	folder, err := r.Folder()
	if err != nil {
		return nil, err
	}
	server, err := start(ctx, kind, folder, more...)
	if err == nil {
		f.list = append(f.list, server)
	}
	return server, err
}

// stop ends all of them.
func (f *fleet) stop() error {
	var errs []error
	for _, server := range f.list {
		errs = append(errs, server.stop())
	}
	return errors.Join(errs...)
}
