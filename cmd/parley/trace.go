package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/transcript"
)

// traceLimit is the longest trace that is read, in bytes.
const traceLimit = 64 << 20

func (p process) traceCommand() *cobra.Command {
	return group("trace", "Judge the record of a finished conversation", traceValidate())
}

func traceValidate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a conversation trace offline",
		Long: `Check that a conversation trace (version 2.0.0, JSON) agrees with itself. Only
the file is looked at: signatures, principals, payloads, digests of state and
what happened in the world are not verified.

-o json prints {"valid", "errors": [{"code", "path"}]}, sorted by code, then
path. The exit code is 0 for a valid trace, 1 for any other, and 2 for a file
that is not there, is not JSON, or is larger than 64 MiB.`,
		Example: "  parley trace validate trace.json -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			data, err := readTrace(args[0])
			if err != nil {
				return &usageError{err}
			}
			v := transcript.Validate(data)
			if v.Unreadable != nil {
				return &usageError{fmt.Errorf("%s: %w", args[0], v.Unreadable)}
			}
			return reportVerdict(c, args[0], v)
		},
	}
}

func readTrace(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, traceLimit+1))
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	if len(data) > traceLimit {
		return nil, fmt.Errorf("trace %s is larger than %d bytes", path, traceLimit)
	}
	return data, nil
}

func reportVerdict(c *cobra.Command, path string, v transcript.Verdict) error {
	err := show(c, v, func() [][]string {
		if v.Valid {
			return [][]string{{"valid"}}
		}
		rows := [][]string{{"CODE", "PATH"}}
		for _, f := range v.Errors {
			rows = append(rows, []string{string(f.Code), f.Path})
		}
		return rows
	})
	if err != nil || v.Valid {
		return err
	}
	return fmt.Errorf("trace %s is not valid", path)
}
