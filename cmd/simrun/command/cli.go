package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/durosim/durosim/cmd/simrun/internal/fuzz"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/scenario"
)

// cli describes the command line. It has one field per verb.
type cli struct {
	Run     runCmd     `cmd:"" default:"withargs" group:"Try an upgrade:" help:"Run a scenario for many seeds and report which properties held (the default)."`
	Plan    planCmd    `cmd:"" group:"Try an upgrade:" help:"Try an upgrade before you do it: what gets stuck or lost, who waits, where the way back ends."`
	Compare compareCmd `cmd:"" group:"Try an upgrade:" help:"Run a scenario under each strategy for work that a node cannot run, or roll an upgrade out by each procedure, side by side."`
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

	List       listCmd       `cmd:"" group:"Look up:" help:"List {kinds}."`
	Hosts      hostsCmd      `cmd:"" group:"Look up:" help:"List the host programs in which released runtimes run, or build them."`
	Help       helpCmd       `cmd:"" group:"Look up:" help:"Show the help of a verb."`
	Version    versionCmd    `cmd:"" group:"Look up:" help:"Show the version of the program and of durosim."`
	Completion completionCmd `cmd:"" group:"Look up:" help:"Print a script that lets a shell complete this program's verbs, flags and names."`
	Complete   completeCmd   `cmd:"" group:"Look up:" hidden:"" help:"Print the completions of a line, for the shell."`

	ShowVersion bool `name:"version" help:"Show the version of the program and of durosim."`
}

// renamed says what has replaced a verb.
var renamed = map[string]string{
	"bugs":      "simrun list bugs, or go -C internal/dev run ./simdev bugs in a clone of durosim",
	"diff":      "go -C internal/dev run ./simdev diff in a clone of durosim",
	"check-log": "simrun oracle --log FILE",
	"explore":   "simrun fuzz --exhaustive",
	"doctor":    "simrun hosts",
}

const description = `Simulates clusters of mixed versions under crashes, lost answers and delays, from one seed, and checks after every step that the contract holds.

Without arguments it runs 1,000 seeds of the built-in scenario rolling-upgrade.`

// parse parses the command line. If help was requested, it prints the help text and panics with a leave.
func parse(args []string, p *Program, stdout, stderr io.Writer) (command, error) {
	if len(args) > 0 && renamed[args[0]] != "" {
		return nil, fmt.Errorf("the verb %s has gone; instead of it: %s", args[0], strings.ReplaceAll(renamed[args[0]], "simrun", p.name()))
	}
	var c cli
	parser := newParser(&c, p, stdout, stderr)
	isVerb := func(n *kong.Node) bool { return n.Name == args[0] }
	if help := slices.Contains(args, "--help") || slices.Contains(args, "-h"); help && !strings.HasPrefix(args[0], "-") && !slices.ContainsFunc(parser.Model.Children, isVerb) {
		if _, err := p.openScenario(args[0]); errors.Is(err, fs.ErrNotExist) { // the help of run would hide the typo
			return nil, err
		}
	}
	ctx, err := parser.Parse(args)
	switch {
	case err != nil:
		return nil, err
	case c.ShowVersion:
		return &c.Version, nil
	}
	verb := ctx.Selected().Target.Addr().Interface().(command)
	refused := refusedBy(verb)
	for _, p := range ctx.Path {
		if err := notEmpty(p); err != nil {
			return nil, err
		}
		if p.Flag != nil && refused[p.Flag.Name] != "" {
			return nil, fmt.Errorf("--%s: %s", p.Flag.Name, refused[p.Flag.Name])
		}
	}
	if err := overwrites(ctx.Path); err != nil {
		return nil, err
	}
	return verb, nil
}

// refusedBy returns why a verb does not take some flags, by their names.
func refusedBy(verb any) map[string]string {
	if r, ok := verb.(refusing); ok {
		return r.refuses()
	}
	return nil
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

// overwrites returns an error if the command would write a file that it reads, or one of an export that it reads, or that
// it writes twice.
func overwrites(path []*kong.Path) error {
	files := map[bool][]string{} // by whether they are to be written
	var seen []*kong.Value       // a flag that is given twice is one
	for _, p := range path {
		v := p.Positional
		if p.Flag != nil && slices.Contains([]string{"FILE", "PATH", "DIR"}, p.Flag.PlaceHolder) {
			v = p.Flag.Value
		}
		if v == nil || slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		many, _ := v.Target.Interface().([]string)
		one, _ := v.Target.Interface().(string)
		files[v.Tag.Has("writes")] = append(append(files[v.Tag.Has("writes")], many...), one)
	}
	for i, name := range files[true] {
		if name == "-" {
			return errors.New("-: standard output has the report: name a file, or ./- for one with that name")
		}
		file, err := os.Stat(name)
		writes := func(out string) bool {
			if other, err := os.Stat(out); err == nil {
				return os.SameFile(other, file) && (file.Mode().IsRegular() || file.IsDir()) // not /dev/null
			}
			path, err := filepath.Abs(name)
			other, err2 := filepath.Abs(out)
			return name != "" && errors.Join(err, err2) == nil && path == other
		}
		if slices.ContainsFunc(files[true][:i], writes) {
			return fmt.Errorf("%s would be written twice: name another file", name)
		}
		above, _ := os.Stat(filepath.Dir(name))
		reads := func(in string) bool {
			read, err := os.Stat(in)
			return err == nil && (os.SameFile(read, file) || os.SameFile(read, above) && filepath.Ext(name) == ".jsonl")
		}
		if err == nil && slices.ContainsFunc(files[false], reads) {
			return fmt.Errorf("%s is an input, and would be overwritten: name another file", name)
		}
	}
	return nil
}

func newParser(c *cli, p *Program, stdout, stderr io.Writer) *kong.Kong {
	parser, err := kong.New(c,
		kong.Name(p.name()),
		kong.Description(p.inHelp(description)),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { panic(leave(status)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		panic(err) // the tags in cli are malformed
	}
	p.rename(parser.Model.Node)
	return parser
}

// rename makes the help texts of n and its descendants speak of the program and of its scenario, and leaves out flags
// that a verb refuses.
func (p *Program) rename(n *kong.Node) {
	refused := refusedBy(n.Target.Addr().Interface())
	n.Help, n.Detail = p.inHelp(n.Help), strings.ReplaceAll(n.Detail, "simrun", p.name())
	for _, v := range n.Positional {
		v.Help = p.inHelp(v.Help)
	}
	for _, f := range n.Flags {
		f.Help, f.Hidden = p.inHelp(f.Help), f.Hidden || refused[f.Name] != ""
	}
	for _, child := range n.Children {
		p.rename(child)
	}
}

// tables has what help texts take from tables. kong's own variables make each start a third slower.
var tables = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("{kinds}", pretty.And(kinds()), "{strategies}", strings.Join(strategies(), ", "),
		"{small}", fmt.Sprintf("at most %d nodes, %d instances and %d schedule steps", fuzz.MaxNodes, fuzz.MaxInstances, fuzz.MaxSteps),
		"{crashes}", strconv.Itoa(fuzz.MaxCrashes))
})

func (p *Program) inHelp(text string) string {
	if strings.Contains(text, "{") {
		text = tables().Replace(text)
	}
	if p.Scenario != "" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "built-in scenario "+scenario.Default, p.Scenario), scenario.Default, p.Scenario)
	}
	return strings.ReplaceAll(text, "simrun", p.name())
}

// oneOf returns an error unless value is empty or is listed in known.
func oneOf(what, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%s %q: expected one of %s%s", what, value, strings.Join(known, ", "), pretty.Hint(value, known))
}

// helpCmd implements `simrun help`.
type helpCmd struct {
	Verb []string `arg:"" optional:"" help:"The verb; without one, what there is."`
	Man  bool     `help:"Print the manual page of the program, for man."`
}

func (c *helpCmd) run(a *app) (int, error) {
	if c.Man {
		a.printf("%s", a.man())
		return exitOK, nil
	}
	if verbs := a.verbs(); len(c.Verb) > 0 && !slices.Contains(verbs, c.Verb[0]) && renamed[c.Verb[0]] == "" {
		return 0, fmt.Errorf("help %q: there is no such verb%s; the verbs are %s", c.Verb[0], pretty.Hint(c.Verb[0], verbs), strings.Join(verbs, ", "))
	}
	return a.main(append(c.Verb, "--help")), nil
}

// versionCmd implements `simrun version`.
type versionCmd struct{}

func (versionCmd) run(a *app) (int, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	version := func(m *debug.Module) string {
		if m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)")
	}
	a.printf("%s %s\n", a.program.name(), version(&info.Main))
	for _, m := range info.Deps {
		if m.Path == durosimModule { // a module of its own
			a.printf("durosim %s\n", version(m))
		}
	}
	a.printf("%s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK, nil
}

// durosimModule is the path of the module that contains this package.
const durosimModule = "github.com/durosim/durosim"

// completionCmd implements `simrun completion`.
type completionCmd struct {
	Shell string `arg:"" help:"The shell: bash, zsh or fish."`
}

// Help returns the text printed below the flags.
func (completionCmd) Help() string {
	return `Prints lines for the start-up file of the shell, which let it complete verbs, flags, scenarios, bugs and properties.

Examples:

    simrun completion bash >> ~/.bashrc
    simrun completion fish > ~/.config/fish/completions/simrun.fish`
}

func (c *completionCmd) run(a *app) (int, error) {
	bash := fmt.Sprintf("complete -o default -C '%[1]s complete' %[1]s\n", a.program.name())
	scripts := map[string]string{
		"bash": bash,
		"zsh":  "autoload -Uz bashcompinit && bashcompinit\n" + bash,
		"fish": fmt.Sprintf("complete -c %[1]s -a '(COMP_LINE=(commandline -cp) %[1]s complete)'\n", a.program.name()),
	}
	script, ok := scripts[c.Shell]
	if !ok {
		return 0, oneOf("shell", c.Shell, []string{"bash", "zsh", "fish"})
	}
	a.printf("%s", script)
	return exitOK, nil
}

// completeCmd implements the hidden verb that the shell runs to complete a line. The line up to the cursor is in
// COMP_LINE. The arguments that bash passes are ignored.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

func (completeCmd) run(a *app) (int, error) {
	for _, candidate := range completions(a.program, os.Getenv("COMP_LINE")) {
		a.printf("%s\n", candidate)
	}
	return exitOK, nil
}

// completions returns the possible completions of line's last word.
func completions(p *Program, line string) []string {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	last, before := words[len(words)-1], words[min(1, len(words)-1):len(words)-1]
	root := newParser(&cli{}, p, io.Discard, io.Discard).Model.Node
	verb := root.DefaultCmd
	for _, child := range root.Children {
		if len(before) > 0 && child.Name == before[0] {
			verb = child
		}
	}
	candidates := arguments(verb, before)
	if len(before) == 0 {
		for _, child := range root.Children {
			if !child.Hidden {
				candidates = append(candidates, child.Name)
			}
		}
	}
	if strings.HasPrefix(last, "-") {
		candidates = []string{"--help"}
		for _, f := range verb.Flags {
			if !f.Hidden {
				candidates = append(candidates, "--"+f.Name)
			}
		}
	}
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, last) })
	slices.Sort(candidates)
	return slices.Compact(candidates)
}

// arguments returns the known values for the last word. If the word before it is a flag, these are the flag's values.
// If not, they are the values of the verb's argument.
func arguments(verb *kong.Node, before []string) []string {
	flag := ""
	if len(before) > 0 {
		flag = before[len(before)-1]
	}
	switch {
	case flag == "--bug":
		return idsOf(faults.Catalogue(), func(b faults.Bug) string { return string(b.ID) })
	case flag == "--property":
		return idsOf(properties.Catalogue(), func(p properties.Property) string { return p.ID })
	case flag == "--faults":
		return []string{"none", "light", "full"}
	case verb.Name == "list":
		return kinds()
	case verb.Name == "completion":
		return []string{"bash", "zsh", "fish"}
	case slices.ContainsFunc(verb.Positional, func(v *kong.Positional) bool { return v.Name == "scenario" }):
		return idsOf(slices.Concat(scenario.Builtin(), scenario.Released()), func(n scenario.Named) string { return n.Name })
	}
	return nil
}

func idsOf[T any](items []T, id func(T) string) []string {
	var out []string
	for _, i := range items {
		out = append(out, id(i))
	}
	return out
}
