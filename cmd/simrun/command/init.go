package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// initCmd implements `simrun init`, which writes a first scenario.
type initCmd struct {
	File string `arg:"" optional:"" help:"The file to write, which must not exist; standard output if none is named."`

	Nodes         []string `help:"The nodes' names." default:"A,B,C" placeholder:"NAME,..."`
	Old           string   `help:"The build that the nodes run at first; if not given, the one before --new (1.5.0 with the shipped builds)." placeholder:"BUILD"`
	New           string   `help:"The build to which they are upgraded; if not given, the newest (2.0.0 with the shipped builds)." placeholder:"BUILD"`
	Build         []string `help:"A build of your own, by its version, and the build that it is like; may be repeated. The upgrade goes from the first, if there are several, to the last, unless --old and --new are given." placeholder:"VERSION=BUILD" sep:"none"`
	Orchestration []string `help:"An orchestration that clients start, with its input, if any; may be repeated." placeholder:"NAME[=INPUT]" sep:"none"`
}

// Help returns the text printed below the flags.
func (initCmd) Help() string {
	return `Writes a first scenario: nodes of one build that are upgraded to another, one by one, under load and light faults, with comments that say what to change. It runs without changes.

Examples:

    simrun init my-upgrade.txt
    simrun init --nodes east,west --old 1.5.0 --new 2.0.0 --orchestration Chain=3..6 --orchestration Leaf my-upgrade.txt
    simrun init --build 1.0.0=1.5.0 --build 1.1.0=2.0.0 my-upgrade.txt

Exit status: 0 written, 2 usage or bad input.`
}

func (c *initCmd) run(a *app) (int, error) {
	text, err := c.text(a.program)
	if err != nil {
		return 0, err
	}
	if c.File == "" {
		a.printf("%s", text)
		return exitOK, nil
	}
	if err := isNew(c.File); err != nil {
		return 0, err
	}
	if err := writeWhole(c.File, []byte(text)); err != nil {
		return 0, err
	}
	a.printf("%s is written. Does it hold?\n%s\n", c.File, itself("run", "--seeds", "200", c.File))
	return exitOK, nil
}

// nodeName matches the names that nodes may have without quotes.
var nodeName = regexp.MustCompile(`^[\w.:-]+$`)

// isNew returns an error if the file exists, since its user may have changed it.
func isNew(file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the file exists; name another one, or remove it first", file)
	}
	return nil
}

// text returns the scenario's text. It parses the text first, so a wrong flag is reported before any file is written.
func (c *initCmd) text(p *Program) (string, error) {
	declared, err := c.declared()
	if err != nil {
		return "", err
	}
	from, to, err := c.builds(p, declared)
	if err != nil {
		return "", err
	}
	runs, err := c.runs(p)
	if err != nil {
		return "", err
	}
	file := c.File
	if file == "" {
		file = "FILE"
	}
	if len(c.Nodes) == 0 {
		return "", errors.New("--nodes: no node is named")
	}
	if i := slices.IndexFunc(c.Nodes, func(n string) bool { return !nodeName.MatchString(n) || slices.Contains([]string{"run", "runs"}, n) }); i >= 0 {
		return "", fmt.Errorf("--nodes: %q is no name of a node here: expected letters, digits or one of _.:-, and none of the words run and runs", c.Nodes[i])
	}
	if _, err := strconv.Atoi(c.Nodes[0]); err == nil && len(c.Nodes) == 1 {
		return "", fmt.Errorf("--nodes %s: expected the name of each node, as in A,B,C", c.Nodes[0])
	}
	quoted := commandline.Quote(file)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A rolling upgrade of %s from %s to %s, one node after another, under load.", strings.Join(c.Nodes, ", "), from, to)
	line("#")
	line("#   %s run --seeds 200 %s         does it hold?", p.name(), quoted)
	line("#   %s replay --seed 1 %s         one run as a story", p.name(), quoted)
	line("")
	line("# A node's build is the version of the runtime: it decides which histories the node can replay.")
	line("# The version of an orchestration is another matter: a build may have several.")
	if len(declared) > 0 {
		line("# The builds below are yours: each is like another build, and the lines below it list the differences, such as")
		line("#   range >=1.0.0, <=%s", declared[len(declared)-1].Name)
		line("#   handlers without ORCHESTRATION@1.0.0 ACTIVITY")
		b.Write(scenario.Format(&plan.Plan{Builds: declared}))
	}
	line("nodes %s run %s", strings.Join(c.Nodes, " "), from)
	line("")
	line("# The faults: none, light or full; \"%s list faults\" lists each kind, which you can use here alone.", p.name())
	line("faults light")
	line("")
	line("# Clients start this work. \"expect END\" after a line says how it must end; without it, it must complete.")
	watched := runs[0]
	if name, input, has := strings.Cut(watched, " with "); has {
		watched = name + " with " + scenario.LeastInput(input) // only a mix draws from a range
	}
	line("instance watched-1 runs %s at 1s", watched)
	line("load 30 instances over %dm", 10*len(c.Nodes)+10)
	for _, r := range runs {
		line("  mix 1 %s", r)
	}
	line("")
	line("# The upgrade. Each seed draws a time from a range of times. Minutes pass between the nodes, as with a canary, and cost")
	line("# nothing; steps within seconds would hide what waits or ends as poison in the meantime.")
	for i, node := range c.Nodes {
		when := "after 8m..12m"
		if i == 0 {
			when = "at 5m..10m"
		}
		line("%s upgrade %s to %s", when, node, to)
	}
	line("")
	line("# What if you must roll it back? Remove the # to try.")
	line("# after 5m rollback %s to %s", c.Nodes[0], from)
	text := b.String()
	s, err := scenario.Parse(file, []byte(text), p.builds()...)
	if err != nil {
		return "", fmt.Errorf("these flags do not give a valid scenario: %w", err)
	}
	orchestrations, activities, err := p.registered()
	if err != nil {
		return "", err
	}
	return text, s.CheckHandlers(orchestrations, activities)
}

func (c *initCmd) declared() ([]plan.Build, error) {
	var declared []plan.Build
	for _, text := range c.Build {
		name, like, ok := strings.Cut(text, "=")
		if !ok || name == "" || like == "" {
			return nil, fmt.Errorf("--build %q: expected VERSION=BUILD, the build that it is like, such as 2.1.0=2.0.0", text)
		}
		declared = append(declared, plan.Build{Name: name, Like: like})
	}
	return declared, nil
}

// builds returns the names of the builds before and after the upgrade.
func (c *initCmd) builds(p *Program, declared []plan.Build) (from, to string, err error) {
	all, err := (&plan.Plan{Builds: p.releases(declared)}).AllBuilds(p.builds())
	if err != nil {
		return "", "", fmt.Errorf("--build: %w", err)
	}
	slices.SortStableFunc(all, func(a, b *engine.Build) int { return a.Version.Precedence(b.Version) })
	names := idsOf(all, (*engine.Build).Name)
	if err := errors.Join(oneOf("--old", c.Old, names), oneOf("--new", c.New, names)); err != nil {
		return "", "", err
	}
	from, to = c.Old, c.New
	if n := len(declared); n > 0 && to == "" {
		to = declared[n-1].Name
		if from == "" && n > 1 {
			from = declared[0].Name
		} else if from == "" {
			from = declared[0].Like
		}
	}
	if from == "" && to == "" && p.Builds == nil {
		from, to = "1.5.0", "2.0.0" // the same upgrade as in the README
	}
	if to == "" {
		to = names[len(names)-1]
	}
	if from == "" {
		from = names[max(slices.Index(names, to)-1, 0)]
	}
	if slices.Index(names, from) >= slices.Index(names, to) {
		return "", "", fmt.Errorf("--old %s --new %s: expected a newer build to upgrade to", from, to)
	}
	return from, to, nil
}

// runs returns the lines, in scenario syntax, that start the orchestrations.
func (c *initCmd) runs(p *Program) ([]string, error) {
	asked := c.Orchestration
	if len(asked) == 0 {
		orchestrations, _, err := p.registered()
		switch {
		case err != nil:
			return nil, err
		case !p.ownHandlers():
			asked = []string{"Chain=3..6"}
		case len(orchestrations) == 0:
			return nil, errors.New("the program registers no orchestration")
		default:
			name, _, _ := strings.Cut(orchestrations[0], "@")
			asked = []string{name}
		}
	}
	var runs []string
	for _, r := range asked {
		name, input, has := strings.Cut(r, "=")
		if has {
			name += " with " + input
		}
		runs = append(runs, name)
	}
	return runs, nil
}
