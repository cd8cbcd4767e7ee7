package command

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/scenario"
)

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
	root := newParser(&cli{}, p.name(), io.Discard, io.Discard).Model.Node
	verb := root.DefaultCmd
	for _, child := range root.Children {
		if len(before) > 0 && child.Name == before[0] {
			verb = child
		}
	}
	candidates := arguments(p, verb, before)
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
			candidates = append(candidates, "--"+f.Name)
		}
	}
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, last) })
	slices.Sort(candidates)
	return slices.Compact(candidates)
}

// arguments returns the known values for the last word. If the word before it is a flag, these are the flag's values.
// If not, they are the values of the verb's argument.
func arguments(p *Program, verb *kong.Node, before []string) []string {
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
		return idsOf(listings(), func(l listing) string { return l.kind })
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
