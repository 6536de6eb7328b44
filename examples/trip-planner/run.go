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
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
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

	// file is the open transcript.
	file *os.File
	// answers are the lines that the traveller types, nil if nobody can be asked.
	answers <-chan string
	// asking is held while one of them is waited for, and over is set when there
	// are no more.
	asking sync.Mutex
	over   atomic.Bool
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
	if r.transcript != "" { // before anything is booked, since it may not be possible
		if r.file, err = os.Create(r.transcript); err != nil {
			return fmt.Errorf("writing the transcript: %w", err)
		}
		defer func() { err = errors.Join(err, r.file.Close()) }()
	}
	dir, err := r.folder()
	if err != nil {
		return err
	}
	o := trip.Options{Dir: dir, Model: model, Faults: faults, SupplierDelay: supplierDelay, Log: logger(r.verbose), Verbose: r.verbose}
	if r.interactive() {
		r.answers, o.Answer = lines(r.stdin), r.answer
	}
	w, err := trip.Open(ctx, o)
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
	request := contract.PlanRequest{Sentence: agent.Text(words), Today: today.String()}
	var question trip.Question
	var err error
	if r.resume != "" {
		if request, question, err = w.Continue(ctx, r.resume, words); err != nil {
			return err
		}
	}
	request.Confirmed = request.Confirmed || r.yes
	done, ended, err := r.takeUp(ctx, w, model, request)
	if done || err != nil {
		return err
	}
	for {
		planned, conversation, failed := w.Plan(ctx, request, question)
		report, err := r.report(ctx, w, model, planned, conversation, failed)
		if err != nil {
			return err
		}
		report.Interrupted = ended
		if report.Status != "needs-input" || r.answers == nil || r.over.Load() {
			return r.show(ctx, w, report)
		}
		answer, err := r.answer(ctx, report.Question)
		if errors.Is(err, trip.ErrNoAnswer) {
			return r.show(ctx, w, report)
		}
		if err != nil {
			return err
		}
		if request, question, err = w.Continue(ctx, conversation, answer); err != nil {
			return err
		}
	}
}

// answer asks at the terminal and waits for a line, for the planner while the
// trip stays open and for what it ended with.
func (r *run) answer(ctx context.Context, question string) (string, error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	fmt.Fprintf(r.stdout, "%s\n> ", question)
	select {
	case answer, more := <-r.answers:
		if !more {
			r.over.Store(true)
			fmt.Fprintln(r.stdout)
			return "", trip.ErrNoAnswer
		}
		return answer, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// takeUp waits for what an earlier, interrupted run of the command began. If
// that was the same request, its result is this run's: nothing is booked twice.
func (r *run) takeUp(ctx context.Context, w *trip.World, model llm.Model, request contract.PlanRequest) (done bool, ended []trip.Ended, err error) {
	interrupted, err := w.Interrupted(ctx)
	if err != nil {
		return false, nil, err
	}
	for _, i := range interrupted {
		planned, failed := w.Await(ctx, i.Conversation)
		if ctx.Err() != nil {
			return false, nil, ctx.Err()
		}
		if !reflect.DeepEqual(i.Request, request) {
			ended = append(ended, trip.EndedAs(i.Conversation, planned, failed))
			continue
		}
		report, err := r.report(ctx, w, model, planned, i.Conversation, failed)
		if err != nil {
			return false, nil, err
		}
		report.Interrupted = ended
		return true, nil, r.show(ctx, w, report)
	}
	return false, ended, nil
}

func (r *run) report(ctx context.Context, w *trip.World, model llm.Model, p contract.Plan, conversation string, failed error) (trip.Report, error) {
	if ctx.Err() != nil {
		return trip.Report{}, ctx.Err()
	}
	report, err := w.Report(ctx, p, conversation, failed)
	report.Model = describe(model)
	return report, err
}

// lines hands out what is typed, so that waiting for it can be interrupted. Its
// goroutine ends with the input, or with the process.
func lines(in io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			out <- scanner.Text()
		}
	}()
	return out
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
	var failed error
	if r.file != nil && report.Conversation != "" {
		failed = w.Transcript(ctx, r.file, report.Conversation)
	}
	if r.output == "json" {
		encoder := json.NewEncoder(r.stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return fmt.Errorf("printing the report: %w", err)
		}
	} else {
		out := bufio.NewWriter(r.stdout)
		printText(out, report)
		if err := out.Flush(); err != nil {
			return fmt.Errorf("printing the report: %w", err)
		}
	}
	if failed == nil && report.Status == "failed" {
		failed = errFailed
	}
	return failed
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

// logger is where a process says what its host does.
func logger(verbose bool) *slog.Logger {
	if !verbose {
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
