package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// report is what came of running the kit.
type report struct {
	Kit  kit       `json:"kit"`
	Runs []kitRun  `json:"runs"`
	Kept *kitTally `json:"kept_ids,omitempty"`
}

// kit says which kit it was.
type kit struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Date       string `json:"date"`
}

// kitRun is one run of the whole kit against one agent.
type kitRun struct {
	// Offers is what the agent offered: all, least, or strict, which is least to
	// whoever knows an extension.
	Offers string `json:"offers"`
	// Results has the tests whose verdict counts, by their ids.
	Results []result `json:"results"`
}

// kitTally counts verdicts without gRPC's.
type kitTally struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// result is the verdict on one test.
type result struct {
	Test string `json:"test"`
	// Level is MUST, SHOULD or MAY.
	Level string `json:"level"`
	// Binding is JSONRPC, HTTP+JSON, GRPC or card; "" when a test tries all.
	Binding      string   `json:"binding"`
	Requirements []string `json:"requirements"`
	// Verdict is passed, failed or skipped.
	Verdict string `json:"verdict"`
	// Reason is the kit's, of what did not pass.
	Reason string `json:"reason,omitempty"`
}

const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
	grpc    = "GRPC"
)

// tally counts the verdicts of what counts in the bindings that are offered.
func tally(results []result) kitTally {
	var t kitTally
	for _, r := range results {
		switch {
		case r.Binding == grpc:
		case r.Verdict == passed:
			t.Passed++
		case r.Verdict == failed:
			t.Failed++
		default:
			t.Skipped++
		}
	}
	return t
}

// final is one verdict for each test: that of the first run that did not skip it.
func (r *report) final() []result {
	byTest := map[string]result{}
	for _, run := range r.Runs {
		for _, got := range run.Results {
			if had, ok := byTest[got.Test]; !ok || had.Verdict == skipped && got.Verdict != skipped {
				byTest[got.Test] = got
			}
		}
	}
	all := make([]result, 0, len(byTest))
	for _, got := range byTest {
		all = append(all, got)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.Test, b.Test) })
	return all
}

func (r *report) write(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func read(path string) (*report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var r report
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// parse reads the lines that verdicts.py wrote.
func parse(lines []byte) ([]result, error) {
	var all []result
	d := json.NewDecoder(bytes.NewReader(lines))
	for d.More() {
		var r result
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("reading the verdicts: %w", err)
		}
		if !slices.Contains([]string{passed, failed, skipped}, r.Verdict) {
			return nil, fmt.Errorf("test %s has the verdict %q", r.Test, r.Verdict)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.Test, b.Test) })
	return all, nil
}
