package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/envelope"
)

// version is what this program is made of.
type version struct {
	Parley   string `json:"parley"` // of the module, (devel) when built in its tree
	Go       string `json:"go"`
	SQLite   string `json:"sqlite"`
	Envelope string `json:"envelope"` // the version that messages are written in
}

func versions(ctx context.Context) (version, error) {
	v := version{Parley: "(devel)", Go: runtime.Version(), Envelope: envelope.Version}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		v.Parley = build.Main.Version
	}
	db, err := openSQLite(":memory:")
	if err != nil {
		return version{}, fmt.Errorf("ask SQLite for its version: %w", err)
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&v.SQLite); err != nil {
		return version{}, fmt.Errorf("ask SQLite for its version: %w", err)
	}
	return v, nil
}

func (p process) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show what this program is made of",
		Long: `Show what this program is made of.

-o json prints {"parley", "go", "sqlite", "envelope"}, four version texts.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v, err := p.versions(c.Context())
			if err != nil {
				return err
			}
			return show(c, v, func() [][]string {
				return [][]string{{"WHAT", "VERSION"}, {"parley", v.Parley}, {"go", v.Go}, {"sqlite", v.SQLite}, {"envelope", v.Envelope}}
			})
		},
	}
}
