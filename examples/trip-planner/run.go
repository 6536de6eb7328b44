package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/calendar"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/rules"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// supplierDelay is how long the suppliers' systems take: long enough that the
// planner hears an agree first.
const supplierDelay = 150 * time.Millisecond

// stopTime is how long the agents may take to stop.
const stopTime = 5 * time.Second

// run is one call of the command.
type run struct {
	stdin  io.Reader
	stdout io.Writer

	yes        bool
	resume     string
	faults     string
	transcript string
	output     string
	dir        string
	today      string
	verbose    bool
}

func (r *run) run(ctx context.Context, args []string) (err error) {
	words := strings.TrimSpace(strings.Join(args, " "))
	if words == "" {
		return usage("say where you want to go, such as: trip-planner \"from Helsinki to Lisbon on 12 March for 4 nights\"")
	}
	if r.output != "text" && r.output != "json" {
		return usage("output %q is neither text nor json", r.output)
	}
	faults, err := trip.ParseFaults(r.faults)
	if err != nil {
		return usage("%v", err)
	}
	today, err := r.day()
	if err != nil {
		return usage("today: %v", err)
	}
	model, err := r.model(faults)
	if err != nil {
		return err
	}
	dir, err := r.folder()
	if err != nil {
		return err
	}
	w, err := trip.Open(ctx, trip.Options{Dir: dir, Model: model, Faults: faults, SupplierDelay: supplierDelay, Log: r.log()})
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err = errors.Join(err, w.Close(stopping))
	}()
	return r.plan(ctx, w, model, words, today)
}

// plan asks the planner, and the traveller as long as there is somebody to
// ask.
func (r *run) plan(ctx context.Context, w *trip.World, model llm.Model, words string, today calendar.Date) error {
	request := contract.PlanRequest{Sentence: agent.Text(words), Today: today.String(), Confirmed: r.yes}
	correlation := ""
	if r.resume != "" {
		var err error
		if request, correlation, err = w.Continue(ctx, r.resume, words); err != nil {
			return err
		}
		request.Confirmed = request.Confirmed || r.yes
		request.Today = today.String()
	}
	answers := bufio.NewScanner(r.stdin)
	for {
		planned, conversation, failed := w.Plan(ctx, request, correlation)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report, err := w.Report(ctx, planned, conversation, failed)
		if err != nil {
			return err
		}
		report.Model = describe(model)
		if report.Status == "needs-input" && r.interactive() {
			fmt.Fprintf(r.stdout, "%s\n> ", report.Question)
			if answers.Scan() {
				if request, correlation, err = w.Continue(ctx, conversation, answers.Text()); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(r.stdout)
		}
		return r.show(ctx, w, report)
	}
}

// interactive reports whether a person at a terminal can be asked.
func (r *run) interactive() bool {
	f, ok := r.stdin.(*os.File)
	if !ok || r.yes || r.output != "text" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// show prints the report and writes the transcript.
func (r *run) show(ctx context.Context, w *trip.World, report trip.Report) error {
	if r.transcript != "" && report.Conversation != "" {
		if err := r.write(ctx, w, report.Conversation); err != nil {
			return err
		}
	}
	if r.output == "json" {
		encoder := json.NewEncoder(r.stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return fmt.Errorf("printing the report: %w", err)
		}
	} else {
		printText(r.stdout, report)
	}
	if report.Status == "failed" {
		return errFailed
	}
	return nil
}

func (r *run) write(ctx context.Context, w *trip.World, conversation string) (err error) {
	f, err := os.Create(r.transcript)
	if err != nil {
		return fmt.Errorf("writing the transcript: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return w.Transcript(ctx, f, conversation)
}

func (r *run) day() (calendar.Date, error) {
	if r.today == "" {
		return calendar.Of(time.Now()), nil
	}
	return calendar.ParseDate(r.today)
}

func (r *run) folder() (string, error) {
	if r.dir != "" {
		return r.dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "parley", "trip-planner"), nil
}

func (r *run) log() *slog.Logger {
	if !r.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// model is the one that the environment names, else the rehearsal. Its JSON
// can only be damaged on purpose when it is the rehearsal's.
func (r *run) model(f trip.Faults) (llm.Model, error) {
	model := llm.FromEnv(rules.Planner()...)
	if !f.BadJSON {
		return model, nil
	}
	if _, rehearsed := model.(*llm.Rehearsed); !rehearsed {
		return nil, usage("the fault bad-json needs the rehearsal model: unset OPENAI_BASE_URL and OPENAI_API_KEY")
	}
	return llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: rules.Planner(), Accidents: rules.BadJSON()})), nil
}

func describe(m llm.Model) string {
	if d, ok := m.(llm.Describer); ok {
		return d.Describe()
	}
	return "a model"
}
