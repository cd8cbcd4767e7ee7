package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/durosim/durosim/internal/spelling"
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
}

// command is a verb with its parsed arguments.
type command interface {
	// run executes the command and returns the exit status. A non-nil error means bad input, unless it is a *crash.
	run(a *app) (status int, err error)
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
	p.stores = &stores{idle: map[string][]*remote{}}
	defer p.stores.close()
	a := &app{program: &p, stdout: bufio.NewWriterSize(stdout, 1<<16), stderr: stderr, style: newStyle(stdout)}
	a.help, a.width = a.stdout, 100
	if f, ok := terminal(stdout); ok {
		a.help, a.width = f, widthOf(f)
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
	cmd, err := parse(args, a.program.name(), a.help, a.stderr)
	if err != nil {
		if strings.HasPrefix(err.Error(), "unexpected argument ") {
			err = a.orVerb(args[0], err)
		}
		return a.usage(err)
	}
	status, err := cmd.run(a)
	if len(args) > 0 && errors.Is(err, fs.ErrNotExist) {
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

// orVerb returns the error for word, which names no scenario. If word resembles a verb, the error suggests that verb;
// otherwise, orVerb returns err.
func (a *app) orVerb(word string, err error) error {
	var c cli
	var verbs []string
	for _, v := range newParser(&c, a.program.name(), a.help, a.stderr).Model.Children {
		if !v.Hidden {
			verbs = append(verbs, v.Name)
		}
	}
	if hint := spelling.Hint(word, verbs); hint != "" && !slices.Contains(verbs, word) {
		return fmt.Errorf("%q is neither a verb, nor a scenario, nor a file%s", word, hint)
	}
	return err
}

// inPlain replaces what the parser says of the types of values.
var inPlain = strings.NewReplacer("expected value value but got", "expected a value, found", "a valid 64 bit uint but got", "a number of at least 0, found")

func (a *app) usage(err error) int {
	fmt.Fprintf(a.stderr, "%s: %s\n", a.program.name(), inPlain.Replace(err.Error()))
	var p *kong.ParseError
	if errors.As(err, &p) {
		fmt.Fprintf(a.stderr, "Run %s for help.\n", a.program.hint(helpFor(p.Context)))
	}
	return exitUsage
}

func helpFor(ctx *kong.Context) string {
	if ctx != nil && ctx.Command() != "" {
		return strings.Fields(ctx.Command())[0] + " --help"
	}
	return "--help"
}
