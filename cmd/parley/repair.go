package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
)

// mended is what repair prints as JSON.
type mended struct {
	Outcome    repair.Outcome  `json:"outcome"`
	Value      json.RawMessage `json:"value"` // null unless the outcome is ok or repaired
	Fixes      []fix           `json:"fixes"`
	Violations []violation     `json:"violations"`
}

type fix struct {
	Op      string `json:"op"`
	Offset  int    `json:"offset"`
	Pointer string `json:"pointer,omitempty"`
}

type violation struct {
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
	Want    string `json:"want"`
	Got     string `json:"got"`
}

func (p process) repairCommand() *cobra.Command {
	var schemaFile, finish string
	var effect bool
	c := &cobra.Command{
		Use:                   "repair --schema S.json [flags] < raw",
		DisableFlagsInUseLine: true,
		Short:                 "Mend what a model wrote, without a model",
		Long: `Read what a model wrote from standard input and print the value that it
holds, if there is exactly one way to read it and the value fits the schema.

-o json prints {"outcome", "value", "fixes": [{"op", "offset", "pointer"}],
"violations": [{"rule", "pointer", "want", "got"}]}. The outcome is
  ok           nothing was changed
  repaired     value is what the text says after the fixes
  needs-model  only who wrote it can say what was meant; value is null
  reject       not worth asking about; value is null
Offsets are bytes of the input. A fix has a pointer if it was made within the
value. The last two outcomes exit with 4. A schema that cannot be read is
wrong usage.`,
		Example: `  parley repair --schema weather.json --finish-reason stop -o json < reply.txt`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := readSchema(schemaFile)
			if err != nil {
				return &usageError{err}
			}
			reason, err := finishReason(finish)
			if err != nil {
				return &usageError{err}
			}
			raw, err := readInput(c.Context(), p.stdin)
			if err != nil {
				return fmt.Errorf("read standard input: %w", err)
			}
			m := repair.Mend(raw, s, repair.Options{Finish: reason, Effect: effect})
			return reportMended(c, m)
		},
	}
	c.Flags().StringVar(&schemaFile, "schema", "", "the JSON Schema that the value must fit (a file)")
	c.Flags().StringVar(&finish, "finish-reason", "", "why the model stopped: stop, length, content_filter, tool_calls or refusal (default: not known)")
	c.Flags().BoolVar(&effect, "effect", false, "the value will cause an effect: complete nothing that could have been cut")
	return c
}

func readSchema(path string) (*schema.Schema, error) {
	if path == "" {
		return nil, fmt.Errorf("--schema is missing: name the JSON Schema that the value must fit")
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	s, err := schema.Parse(document)
	if err != nil {
		return nil, fmt.Errorf("read the schema in %s: %w", path, err)
	}
	return s, nil
}

// finishReason reads the wire's word.
func finishReason(word string) (llm.Finish, error) {
	switch word {
	case "":
		return "", nil // Mend is cautious then
	case "stop":
		return llm.FinishStop, nil
	case "length":
		return llm.FinishLength, nil
	case "content_filter":
		return llm.FinishFilter, nil
	case "tool_calls":
		return llm.FinishCalls, nil
	case "refusal":
		return llm.FinishRefusal, nil
	}
	return "", fmt.Errorf("finish reason %q: want stop, length, content_filter, tool_calls or refusal", word)
}

// inputLimit is one byte more than Mend looks at, so that it can say so.
const inputLimit = 256<<10 + 1

// readInput reads until the end of r, or until ctx ends: a terminal may never
// end. A read that is cut short goes on until the process ends.
func readInput(ctx context.Context, r io.Reader) ([]byte, error) {
	type input struct {
		data []byte
		err  error
	}
	done := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, inputLimit))
		done <- input{data, err}
	}()
	select {
	case in := <-done:
		return in.data, in.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func reportMended(c *cobra.Command, m repair.Mended) error {
	out := mended{Outcome: m.Outcome, Value: m.Value, Fixes: []fix{}, Violations: []violation{}}
	for _, f := range m.Fixes {
		out.Fixes = append(out.Fixes, fix(f))
	}
	for _, v := range m.Violations {
		out.Violations = append(out.Violations, violation(v))
	}
	err := show(c, out, func() [][]string {
		rows := [][]string{{"outcome", string(out.Outcome)}}
		if m.Value != nil {
			rows = append(rows, []string{"value", string(m.Value)})
		}
		for _, f := range out.Fixes {
			rows = append(rows, []string{"fix", f.Op, "at byte " + strconv.Itoa(f.Offset), f.Pointer})
		}
		for _, v := range out.Violations {
			rows = append(rows, []string{"violation", v.Rule, v.Pointer, "want " + v.Want, "got " + v.Got})
		}
		return rows
	})
	if err != nil {
		return err
	}
	if m.Outcome != repair.OK && m.Outcome != repair.Repaired {
		return &violationError{fmt.Sprintf("the text does not hold a value that fits the schema: %s", m.Outcome)}
	}
	return nil
}
