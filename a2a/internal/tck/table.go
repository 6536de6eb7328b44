package main

import (
	"fmt"
	"strings"
)

// draw puts what the report says into the page: each part that stands between
// "<!-- generated: NAME -->" and "<!-- end -->" is drawn anew.
func draw(page string, r *report) (string, error) {
	results := r.final()
	for name, text := range map[string]string{
		"kit":         kitLine(r),
		"summary":     summary(results),
		"kept":        keptLine(r),
		"differences": explained(results, failed),
		"skipped":     explained(results, skipped),
		"tests":       every(results, r),
	} {
		before, rest, ok := strings.Cut(page, "<!-- generated: "+name+" -->\n")
		_, after, ended := strings.Cut(rest, "<!-- end -->")
		if !ok || !ended {
			return "", fmt.Errorf("the page has no generated part %q", name)
		}
		page = before + "<!-- generated: " + name + " -->\n" + text + "<!-- end -->" + after
	}
	return page, nil
}

func kitLine(r *report) string {
	return fmt.Sprintf("The kit is [a2a-tck](%s), commit `%s` of %s.\n", r.Kit.Repository, r.Kit.Commit, r.Kit.Date)
}

func keptLine(r *report) string {
	if r.Kept == nil {
		return "It was not run with its own ids.\n"
	}
	return fmt.Sprintf("With the kit's own ids %d tests pass, %d fail and %d are skipped.\n", r.Kept.Passed, r.Kept.Failed, r.Kept.Skipped)
}

// summary counts the verdicts by level and binding.
func summary(results []result) string {
	var b strings.Builder
	b.WriteString("| level | binding | passed | failed | skipped |\n|---|---|---|---|---|\n")
	for _, level := range []string{"MUST", "SHOULD", "MAY"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON", "card", ""} {
			var of []result
			for _, got := range results {
				if got.Level == level && got.Binding == binding {
					of = append(of, got)
				}
			}
			if t := tally(of); len(of) > 0 {
				fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", level, bindingName(binding), t.Passed, t.Failed, t.Skipped)
			}
		}
	}
	t := tally(results)
	fmt.Fprintf(&b, "| all | | %d | %d | %d |\n", t.Passed, t.Failed, t.Skipped)
	return b.String()
}

func bindingName(binding string) string {
	if binding == "" {
		return "every binding"
	}
	return binding
}

// explained lists the explanations of tests with the verdict, each with its tests.
func explained(results []result, verdict string) string {
	var b strings.Builder
	for _, d := range differences() {
		if d.verdict != verdict {
			continue
		}
		fmt.Fprintf(&b, "**%s.** %s (%s)\n\n", d.what, d.why, d.clause)
		hidden := 0
		for _, got := range results {
			switch {
			case got.Verdict != verdict || !d.matches(got):
			case got.Binding == grpc:
				hidden++
			default:
				fmt.Fprintf(&b, "* %s `%s`: %s\n", got.Level, got.Test, plain(got.Reason))
			}
		}
		if hidden > 0 {
			fmt.Fprintf(&b, "* %d tests of gRPC\n", hidden)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// every is the table of all tests but gRPC's.
func every(results []result, r *report) string {
	later := map[string]string{}
	for _, run := range r.Runs {
		how := map[string]string{"least": ", offering the least", "strict": ", requiring an extension"}[run.Offers]
		for _, got := range run.Results {
			later[got.Test] = how // all tests are in the first run
		}
	}
	var b strings.Builder
	b.WriteString("| requirement | level | binding | test | verdict |\n|---|---|---|---|---|\n")
	for _, got := range results {
		if got.Binding == grpc {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s |\n", strings.Join(got.Requirements, ", "), got.Level, bindingName(got.Binding), got.Test, got.Verdict+later[got.Test])
	}
	return b.String()
}

// plain keeps a reason of the kit from being read as Markdown or HTML.
func plain(s string) string {
	return strings.NewReplacer("<", "&lt;", "|", "\\|", "*", "\\*", "[", "\\[", "_", "\\_").Replace(s)
}
