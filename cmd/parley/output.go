package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"
)

// The formats of -o.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatJSONL = "jsonl"
)

func formats() []string { return []string{formatTable, formatJSON, formatJSONL} }

// choices writes the words of a closed set for people.
func choices(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// format is what -o asks of a command.
func format(c *cobra.Command) string {
	f, err := c.Flags().GetString("output")
	if err != nil {
		return formatTable // the help of cobra itself
	}
	return f
}

// show writes data to stdout in the format that was asked for: value as JSON,
// indented or on one line, or as a table, whose first row is the heading.
func show(c *cobra.Command, value any, table func() [][]string) error {
	switch format(c) {
	case formatJSON:
		return writeJSON(c.OutOrStdout(), value)
	case formatJSONL:
		return writeLine(c.OutOrStdout(), value)
	}
	return writeTable(c.OutOrStdout(), table())
}

// showList writes a list like show: as the member name of a JSON object, or
// one element a line.
func showList[T any](c *cobra.Command, name string, list []T, table func() [][]string) error {
	if format(c) != formatJSONL {
		return show(c, map[string][]T{name: append([]T{}, list...)}, table)
	}
	for _, one := range list {
		if err := writeLine(c.OutOrStdout(), one); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes a value as an indented document.
func writeJSON(w io.Writer, value any) error { return encode(w, value, "  ") }

// writeLine writes a value on one line.
func writeLine(w io.Writer, value any) error { return encode(w, value, "") }

// encode writes runes that cannot be printed as escapes: the same document
// to a program, and harmless on a terminal.
func encode(w io.Writer, value any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(value); err != nil {
		return err
	}
	var out bytes.Buffer
	for _, r := range text.String() {
		if unicode.IsPrint(r) || r == '\n' {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	_, err := out.WriteTo(w)
	return err
}

func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

// printable escapes what could move a terminal's cursor or hide text: cells
// hold words of peers and models.
func printable(s string) string {
	var text strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			text.WriteRune(r)
			continue
		}
		escaped := strconv.QuoteRuneToASCII(r)
		text.WriteString(escaped[1 : len(escaped)-1])
	}
	return text.String()
}

// moment writes a time as every format does; the zero time is empty.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
