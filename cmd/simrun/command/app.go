package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// app is a single invocation of a program.
type app struct {
	program *Program
	stdout  *bufio.Writer
	stderr  io.Writer
	// help is where help goes: to the terminal itself, if it is one, because kong asks that for its width.
	help io.Writer
	// width is the number of columns of a table on standard output.
	width int
	// style is the style for standard output.
	style style
	stop  func() // see interruptible
}

// command is a verb with its parsed arguments.
type command interface {
	// run executes the command and returns the exit status. A non-nil error means bad input, unless it is a *crash.
	run(a *app) (status int, err error)
}

// refusing is a verb that does not take all flags of planFlags.
type refusing interface {
	// refuses returns why the verb does not take a flag, by the name of the flag.
	refuses() map[string]string
}

// crash is an error that reports a defect in durosim.
type crash struct{ err error }

func (c *crash) Error() string { return c.err.Error() }
func (c *crash) Unwrap() error { return c.err }

// leave is the panic value that aborts parsing when kong calls Exit after printing help.
type leave int

// Run executes a command line, given without the program's name, and returns the exit status.
func (p Program) Run(args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if cause := recover(); cause != nil {
			status = exitInternal
			fmt.Fprintf(stderr, "%s: internal error: %v\n\n%s\nThis is a defect of durosim, not of your input. Please report it together with the command line.\n", p.name(), cause, debug.Stack())
		}
	}()
	if err := p.deploy(); err != nil {
		fmt.Fprintf(stderr, "%s: the program: %v\n", p.name(), err)
		return exitUsage
	}
	p.stores = &stores{idle: map[string][]*remote{}, one: map[string]chan bool{}}
	defer p.stores.close()
	a := &app{program: &p, stdout: bufio.NewWriterSize(stdout, 1<<16), stderr: stderr, stop: func() {}}
	defer func() { a.stop() }()
	a.help, a.width = a.stdout, 100
	if f, ok := terminal(stdout); ok {
		a.help, a.width, a.style.on = f, widthOf(f), os.Getenv("NO_COLOR") == ""
	}
	status = a.untilLeave(args)
	if err := a.stdout.Flush(); err != nil {
		fmt.Fprintf(stderr, "%s: standard output cannot be written, so the output is incomplete: %v\n", p.name(), err)
		status = exitOutput
	}
	return status
}

// untilLeave calls main and returns its status. If kong exits after printing help, it returns kong's status instead.
func (a *app) untilLeave(args []string) (status int) {
	defer func() {
		p := recover()
		if l, ok := p.(leave); ok {
			status = int(l)
		} else if p != nil {
			panic(p)
		}
	}()
	return a.main(args)
}

func (a *app) main(args []string) int {
	cmd, err := parse(args, a.program, a.help, a.stderr)
	status := exitUsage
	if err == nil {
		status, err = cmd.run(a)
	}
	if err != nil && len(args) > 0 && (errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(err.Error(), "unexpected argument ")) {
		err = a.orVerb(args[0], err)
	}
	var c *crash
	switch {
	case errors.As(err, &c):
		fmt.Fprintf(a.stderr, "%s: internal error: %v\n", a.program.name(), err)
		return exitInternal
	case err != nil:
		return a.usage(err)
	}
	return status
}

// interruptible returns a context that SIGINT and SIGTERM cancel. A second signal kills the process, as usual.
func (a *app) interruptible() (ctx context.Context) {
	ctx, a.stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, a.stop)
	return ctx
}

// show prints a result as JSON, if that is asked for, or with print. It returns the status.
func (a *app) show(verb string, asJSON bool, status int, v any, print func()) (int, error) {
	if asJSON {
		return status, a.writeJSON(verb, v)
	}
	print()
	return status, nil
}

// orVerb returns the error for word, which names no scenario. If word resembles a verb, the error suggests that verb;
// otherwise, orVerb returns err.
func (a *app) orVerb(word string, err error) error {
	verbs := a.verbs()
	if hint := pretty.Hint(word, verbs); hint != "" && !slices.Contains(verbs, word) {
		return fmt.Errorf("%q is neither a verb, nor a scenario, nor a file%s", word, hint)
	}
	return err
}

func (a *app) verbs() (verbs []string) {
	for _, v := range newParser(&cli{}, a.program, a.help, a.stderr).Model.Children {
		if !v.Hidden {
			verbs = append(verbs, v.Name)
		}
	}
	return verbs
}

// inPlain replaces what the parser says of the types of values.
var inPlain = strings.NewReplacer(`expected value value but got "EOL" (<EOL>)`, "expected a value, found the end of the line",
	` value but got "EOL" (<EOL>)`, ", found the end of the line", "expected value value but got", "expected a value, found", "cluster: Config.Store", "--provider", "a valid 64 bit uint but got", "a number of at least 0, found")

// complain prints a line on standard error.
func (a *app) complain(format string, args ...any) {
	fmt.Fprintf(a.stderr, "%s: %s\n", a.program.name(), a.printable(fmt.Sprintf(format, args...)))
}

func (a *app) usage(err error) int {
	a.complain("%s", strings.NewReplacer("simrun list", a.program.name()+" list", "simrun hosts", a.program.name()+" hosts").Replace(inPlain.Replace(err.Error())))
	var p *kong.ParseError
	if errors.As(err, &p) {
		verb := ""
		if p.Context != nil && p.Context.Command() != "" {
			verb = strings.Fields(p.Context.Command())[0] + " "
		}
		fmt.Fprintf(a.stderr, "Run %s for help.\n", a.program.hint(verb+"--help"))
	}
	return exitUsage
}

// The exit statuses.
const (
	exitOK       = 0
	exitSafety   = 1   // a safety property was violated
	exitUsage    = 2   // usage error or bad input
	exitLiveness = 3   // a liveness property was violated
	exitDrift    = 4   // two runs of one seed differ
	exitVacuous  = 5   // the campaign did not reach a required point
	exitHandler  = 6   // user code is not deterministic, panics or does not come back
	exitPlan     = 7   // the contract held, but some work did not end as the plan expects
	exitInternal = 70  // a defect in durosim
	exitOutput   = 74  // standard output could not be written
	exitStopped  = 130 // interrupted by the user
)

// severity lists the failing statuses, most severe first. If several apply, the exit status is the most severe one.
var severity = []struct {
	status int
	text   string
}{
	{exitInternal, "internal error"},
	{exitDrift, "two runs of one seed differ"},
	{exitHandler, "a handler is not deterministic, panics or does not return"},
	{exitSafety, "a safety property is violated"},
	{exitLiveness, "a liveness property is violated"},
	{exitPlan, "work did not end as the plan expects"},
	{exitVacuous, "the campaign did not reach every required point"},
}

// worst returns the more severe of two statuses.
func worst(a, b int) int {
	for _, s := range severity {
		if a == s.status || b == s.status {
			return s.status
		}
	}
	return exitOK
}

// classExit has the exit statuses for violations.
var classExit = map[cluster.Class]int{
	cluster.ClassSafety: exitSafety, cluster.ClassLiveness: exitLiveness, cluster.ClassHandler: exitHandler, cluster.ClassPlan: exitPlan, cluster.ClassInternal: exitInternal,
}

// summaryExit returns the exit status for a campaign. missed lists the required points that the campaign did not reach.
func summaryExit(s *campaign.Summary, missed []string) int {
	status := exitOK
	for _, p := range s.Properties {
		status = worst(status, classExit[p.Class])
	}
	if len(s.Internal) > 0 {
		status = worst(status, exitInternal)
	}
	if len(s.Drifts) > 0 {
		status = worst(status, exitDrift)
	}
	if len(missed) > 0 {
		status = worst(status, exitVacuous)
	}
	return status
}

func exitText(status int) string {
	for _, s := range severity {
		if s.status == status {
			return s.text
		}
	}
	if status == exitStopped {
		return "interrupted"
	}
	return "usage or bad input"
}

// terminal returns the file that w writes to, if any, and reports whether it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// progress is a campaign's progress line. It does nothing unless it writes to a terminal.
type progress struct {
	w     io.Writer // nil if it is not a terminal
	what  string
	width int // of the terminal, in columns
	every time.Duration
	begun time.Time
	drawn time.Time
}

func newProgress(w io.Writer, what string) *progress {
	f, ok := terminal(w)
	if !ok {
		return &progress{}
	}
	return &progress{w: w, what: what, width: widthOf(f), every: 100 * time.Millisecond, begun: time.Now()}
}

// widthOf returns the number of columns of a terminal.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 {
		return 80 // as usual
	}
	return width
}

// show draws the line anew, but not more often than p.every. What does not fit into the terminal is left out.
func (p *progress) show(done, total, failed uint64) {
	if p.w == nil || time.Since(p.drawn) < p.every {
		return
	}
	p.drawn = time.Now()
	passed := p.drawn.Sub(p.begun)
	text := fmt.Sprintf("%s: %d%%", p.what, 100*done/max(total, 1))
	if failed > 0 {
		text = fmt.Sprintf("%s, %d failed", text, failed)
	}
	left := time.Duration(float64(passed) / float64(max(done, 1)) * float64(total-done))
	if more := fmt.Sprintf(" (%d of %d, %s left)", done, total, left.Round(time.Second)); len(text)+len(more) < p.width {
		text += more
	}
	fmt.Fprintf(p.w, "\r\x1b[K%.*s", p.width-1, text) // the campaign continues even if the terminal is closed
}

// none shows the progress of what cannot fail.
func (p *progress) none(done, total uint64) { p.show(done, total, 0) }

// clear removes the line from the terminal.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// style highlights words on a terminal, unless NO_COLOR is set.
type style struct{ on bool }

const (
	styleBad   = "\x1b[1;31m"
	styleTitle = "\x1b[1m"
	styleQuiet = "\x1b[2m"
	styleEnd   = "\x1b[0m"
)

func (s style) bad(text string) string   { return s.with(styleBad, text) }
func (s style) title(text string) string { return s.with(styleTitle, text) }
func (s style) quiet(text string) string { return s.with(styleQuiet, text) }

func (s style) with(code, text string) string {
	if !s.on {
		return text
	}
	return code + text + styleEnd
}
