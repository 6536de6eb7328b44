package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// schemaPrefix and a schema's name are its $id.
const schemaPrefix = "urn:schema:"

// publishedSchemas are the envelope's and those of every built-in content.
func publishedSchemas() []protocol.BuiltIn {
	first := protocol.BuiltIn{Name: strings.TrimPrefix(envelope.SchemaID, schemaPrefix), Document: envelope.JSONSchema()}
	return append([]protocol.BuiltIn{first}, protocol.BuiltIns()...)
}

// publishedSchema is one line of schema ls.
type publishedSchema struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

func (p process) schemaCommand() *cobra.Command {
	ls := &cobra.Command{
		Use:   "ls",
		Short: "List the published JSON Schemas",
		Long: `List the published JSON Schemas: that of the envelope, and of every content
that is built in.

-o json prints {"schemas": [{"name", "id"}]}.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var list []publishedSchema
			rows := [][]string{{"NAME", "ID"}}
			for _, s := range publishedSchemas() {
				list = append(list, publishedSchema{s.Name, schemaPrefix + s.Name})
				rows = append(rows, []string{s.Name, schemaPrefix + s.Name})
			}
			return showList(c, "schemas", list, func() [][]string { return rows })
		},
	}
	showOne := &cobra.Command{
		Use:     "show NAME",
		Short:   "Print a published JSON Schema",
		Long:    "Print a published JSON Schema (draft 2020-12). The name may be its $id, or\nthe last word of its path: envelope for the newest parley.envelope.\n\n-o json prints the same document as without it.",
		Example: "  parley schema show envelope",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := strings.TrimPrefix(args[0], schemaPrefix)
			for _, s := range publishedSchemas() {
				if s.Name == name || strings.HasPrefix(s.Name, "parley."+name+"/") {
					_, err := bytes.NewReader(s.Document).WriteTo(c.OutOrStdout())
					return err
				}
			}
			return fmt.Errorf("schema %q: %w: see parley schema ls", name, store.ErrNotFound)
		},
	}
	return group("schema", "Show the published JSON Schemas", ls, showOne)
}
