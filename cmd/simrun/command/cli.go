package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// cli describes the command line. It has one field per verb.
type cli struct {
	Run     runCmd     `cmd:"" default:"withargs" group:"Try an upgrade:" help:"Run a scenario for many seeds and report which properties held (the default)."`
	Plan    planCmd    `cmd:"" group:"Try an upgrade:" help:"Try an upgrade before you do it: what gets stuck or lost, who waits, where the way back ends."`
	Compare compareCmd `cmd:"" group:"Try an upgrade:" help:"Run a scenario under each strategy for work that a node cannot run, side by side."`
	Replay  replayCmd  `cmd:"" group:"Try an upgrade:" help:"Show one seed, or a stored run, as a story; run it twice and compare."`
	Why     whyCmd     `cmd:"" group:"Try an upgrade:" help:"Say what keeps an instance waiting at a time: the one rule, with its values."`
	Init    initCmd    `cmd:"" group:"Try an upgrade:" help:"Write a first scenario for your builds and nodes."`

	Fuzz   fuzzCmd   `cmd:"" group:"Hunt for failures:" help:"Hunt for failing runs near a scenario, or try a small one exhaustively."`
	Shrink shrinkCmd `cmd:"" group:"Hunt for failures:" help:"Make a failing run small: remove everything that the violation does not need."`
	Export exportCmd `cmd:"" group:"Hunt for failures:" help:"Write a stored run as a Go test, or as a script of calls on a provider."`
	Merge  mergeCmd  `cmd:"" group:"Hunt for failures:" help:"Merge the results of shards into one report, as if one process had run them."`

	Oracle      oracleCmd      `cmd:"" group:"Check a provider:" help:"Check a storage provider in any language, or a log of its calls, against the contract."`
	Conformance conformanceCmd `cmd:"" group:"Check a provider:" help:"Run the cases of the contract against a storage provider in any language."`
	Serve       serveCmd       `cmd:"" group:"Check a provider:" help:"Serve the in-memory provider over JSON-RPC on standard input and output."`

	List       listCmd       `cmd:"" group:"Look up:" help:"List builds, scenarios, properties, faults, bugs or coverage points."`
	Hosts      hostsCmd      `cmd:"" group:"Look up:" help:"List the host programs in which released runtimes run, or build them."`
	Help       helpCmd       `cmd:"" group:"Look up:" help:"Show the help of a verb."`
	Version    versionCmd    `cmd:"" group:"Look up:" help:"Show the version of the program and of durosim."`
	Completion completionCmd `cmd:"" group:"Look up:" help:"Print a script that lets a shell complete this program's verbs, flags and names."`
	Complete   completeCmd   `cmd:"" group:"Look up:" hidden:"" help:"Print the completions of a line, for the shell."`

	ShowVersion bool `name:"version" help:"Show the version of the program and of durosim."`
}

// renamed says what has replaced a verb.
var renamed = map[string]string{
	"bugs":      "go -C internal/dev run ./simdev bugs, in a clone of durosim",
	"diff":      "go -C internal/dev run ./simdev diff, in a clone of durosim",
	"check-log": "simrun oracle --log FILE",
	"explore":   "simrun fuzz --exhaustive",
	"doctor":    "simrun hosts",
}

const description = `Simulates clusters of mixed versions under crashes, lost answers and delays, from one seed, and checks after every step that the contract holds.

Without arguments it runs 1,000 seeds of the built-in scenario rolling-upgrade.`

// parse parses the command line. If help was requested, it prints the help text and panics with a leave.
func parse(args []string, name string, stdout, stderr io.Writer) (command, error) {
	if len(args) > 0 && renamed[args[0]] != "" {
		return nil, fmt.Errorf("the verb %s has gone; instead of it: %s", args[0], strings.ReplaceAll(renamed[args[0]], "simrun", name))
	}
	var c cli
	ctx, err := newParser(&c, name, stdout, stderr).Parse(args)
	switch {
	case err != nil:
		return nil, err
	case c.ShowVersion:
		return &c.Version, nil
	}
	for _, p := range ctx.Path {
		if err := notEmpty(p); err != nil {
			return nil, err
		}
	}
	return ctx.Selected().Target.Addr().Interface().(command), nil
}

// notEmpty returns an error if p is a flag or an argument with an empty value. That of an unset variable in a script
// must not count as a flag left out. The arguments of other programs may be empty.
func notEmpty(p *kong.Path) error {
	var v *kong.Value
	name, wanted := "", "value"
	switch {
	case p.Flag != nil:
		v, name, wanted = p.Flag.Value, "--"+p.Flag.Name, p.Flag.PlaceHolder
	case p.Positional != nil && p.Positional.Name != "command" && !p.Positional.Passthrough:
		v, name = p.Positional, "<"+p.Positional.Name+">"
	default:
		return nil
	}
	one, isText := v.Target.Interface().(string)
	if many, _ := v.Target.Interface().([]string); isText && one == "" || slices.Contains(many, "") {
		return fmt.Errorf("%s: the value is empty, as that of an unset variable: expected a %s", name, wanted)
	}
	return nil
}

func newParser(c *cli, name string, stdout, stderr io.Writer) *kong.Kong {
	parser, err := kong.New(c,
		kong.Name(name),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { panic(leave(status)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		panic(err) // the tags in cli are malformed
	}
	callItself(name, parser.Model.Node)
	return parser
}

// callItself replaces simrun with name in the help texts of n and its descendants.
func callItself(name string, n *kong.Node) {
	n.Detail = strings.ReplaceAll(n.Detail, "simrun", name)
	for _, f := range n.Flags {
		f.Help = strings.ReplaceAll(f.Help, "simrun", name)
	}
	for _, child := range n.Children {
		callItself(name, child)
	}
}

// oneOf returns an error unless value is empty or is listed in known.
func oneOf(what, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%s %q: expected one of %s", what, value, strings.Join(known, ", "))
}
