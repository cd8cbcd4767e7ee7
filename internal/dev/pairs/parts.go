package pairs

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

//go:embed parts.txt
var source string

// Part is a piece of a plan. Its name is its first line.
type Part struct {
	Name  string
	lines []string
}

// Exclusion says why no part has a word of the language, or, with Two, why two parts do not meet in a plan. One and Two
// are beginnings of the names of parts.
type Exclusion struct{ One, Two, Why string }

// lists has what a word in braces stands for.
var lists = map[string][]string{
	"{STRATEGY}": texts(plan.Strategies()), "{FIELD}": texts(engine.Fields()), "{HOLD}": texts(plan.Holds()), "{SWEEP}": texts(plan.Sweeps()), "{FAULT}": kinds(),
	// An older build does not write the new kind, which has a part of its own, and so has the act that needs a pin.
	"{SHAPE}":   texts(slices.DeleteFunc(plan.Shapes(), func(s plan.Shape) bool { return s == plan.ShapeNewKind })),
	"{ACT}":     texts(slices.DeleteFunc(plan.Acts(), func(a plan.Act) bool { return a == plan.ActRepin })),
	"{WORKACT}": texts(slices.DeleteFunc(plan.Acts(), plan.Act.ForTurns)),
	"{FAULTS}":  {"light", "full", "timing"}, "{RELEASE}": {"0.1.26", "0.1.32"}, "{SEMANTICS}": {"standard", "discard", "eager-timers"},
}

func texts[T ~string](list []T) (out []string) {
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}

func kinds() (out []string) {
	for _, k := range faults.Kinds() {
		out = append(out, string(k.Kind))
	}
	return out
}

// Parts returns all parts and exclusions.
func Parts() (parts []Part, excluded []Exclusion) {
	for paragraph := range strings.SplitSeq(source, "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(paragraph), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
		if len(lines) == 0 {
			continue
		}
		if strings.HasPrefix(lines[0], "never ") {
			for _, line := range lines {
				what, why, _ := strings.Cut(strings.TrimPrefix(line, "never "), ": ")
				one, two, _ := strings.Cut(what, " + ")
				excluded = append(excluded, Exclusion{one, two, why})
			}
			continue
		}
		whole := strings.Join(lines, "\n")
		elements, word := []string{""}, "{}"
		for w, list := range lists { //tidy:ordered a paragraph has one of them
			if strings.Contains(whole, w) {
				elements, word = list, w
			}
		}
		for _, x := range elements {
			lines := strings.Split(strings.ReplaceAll(whole, word, x), "\n")
			parts = append(parts, Part{lines[0], lines})
		}
	}
	return parts, excluded
}

// Text returns a scenario with these parts: two nodes of 1.5.0, of which one is upgraded to 2.1.0, and one of 2.1.0.
func Text(parts []Part) string {
	var builds, own, options, actions, features, top, steps []string
	for _, p := range parts {
		if strings.HasPrefix(p.Name, "feature ") {
			features = append(features, strings.Join(p.lines[1:], "\n"))
			continue
		}
		into := &top
		for _, line := range p.lines {
			word, rest, _ := strings.Cut(line, " ")
			switch below := belowOf(word); {
			case below == "node", word == "handlers" && !strings.HasPrefix(rest, "with"):
				into = &options
			case below == "build" || word == "handlers":
				if into != &builds {
					into = &own
				}
			case below == "instance, mix":
				into = &actions
			case word == "build":
				into = &builds
			case word == "at" || word == "cycle" || word == "after":
				into = &steps
			case below == "":
				into = &top
			}
			if into == &own || word == "store" {
				*into = merged(*into, line)
			} else {
				*into = append(*into, line)
			}
		}
	}
	if features == nil {
		features = []string{"instance activities runs FanOut with 3 at 1s..6s expect any"}
	}
	var instances, others []string
	for _, f := range features {
		instances = append(append(instances, f), actions...)
	}
	for _, line := range top {
		if !strings.Contains(line, "{INSTANCE}") {
			others = append(others, line)
			continue
		}
		for _, f := range features {
			others = append(others, strings.ReplaceAll(line, "{INSTANCE}", strings.Fields(f)[1]))
		}
	}
	return strings.Join(slices.Concat(builds, []string{"build 2.1.0 like 2.0.0"}, own, []string{"nodes A B run 1.5.0"}, options, []string{"node C runs 2.1.0"},
		others, instances, []string{"at 6s..8s upgrade A to 2.1.0"}, steps), "\n") + "\n"
}

// merged adds a line, to the line of the same statement if a build or a plan has at most one.
func merged(lines []string, line string) []string {
	words := strings.Fields(line)
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, words[0]+" ") })
	if i < 0 || words[0] == "semantics" || words[0] == "handlers" { // these have further lines
		return append(lines, line)
	}
	for _, w := range strings.Fields(lines[i]) {
		if len(words) == 0 || words[0] != w {
			break
		}
		words = words[1:]
	}
	lines[i] += " " + strings.Join(words, " ")
	return lines
}

var statements = scenario.Statements()

// belowOf returns the statements below which a statement stands, "" if it stands alone, and "-" if it is none.
func belowOf(word string) string {
	i := slices.IndexFunc(statements, func(s scenario.StatementInfo) bool { return s.Name == word })
	if i < 0 {
		return "-"
	}
	return statements[i].Below
}

// Refused returns why the language does not let these parts meet, or nil.
func Refused(parts []Part) error {
	s, err := scenario.Parse("pairs", []byte(Text(parts)))
	if err != nil {
		return err
	}
	p, err := s.Expand(1, scenario.Overrides{})
	if err != nil {
		return err
	}
	return p.Validate(plan.Known{Builds: engine.ShippedBuilds(), Orchestrations: workload.Names()})
}

// Apart returns for each two parts, by their indexes, why they cannot meet. It returns an error if a part cannot stand
// alone.
func Apart(parts []Part, excluded []Exclusion) (map[[2]int]string, error) {
	apart := map[[2]int]string{}
	for j, two := range parts {
		if err := Refused(parts[j : j+1]); err != nil {
			return nil, fmt.Errorf("%s: %w", two.Name, err)
		}
		for i, one := range parts[:j] {
			if k := slices.IndexFunc(excluded, func(e Exclusion) bool { return e.of(one, two) || e.of(two, one) }); k >= 0 {
				apart[[2]int{i, j}] = excluded[k].Why
			} else if err := Refused([]Part{one, two}); err != nil {
				_, why, _ := strings.Cut(err.Error(), ": ") // without the line
				apart[[2]int{i, j}] = why
			}
		}
	}
	return apart, nil
}

func (e Exclusion) of(one, two Part) bool {
	return e.Two != "" && strings.HasPrefix(one.Name, e.One) && strings.HasPrefix(two.Name, e.Two)
}

// Cover returns plans of at most so many parts. Each two that are not apart meet in one of them.
func Cover(parts []Part, apart map[[2]int]string, most int) (plans [][]Part) {
	open := make([][]bool, len(parts))
	meet := func(i, j int) bool { return i != j && apart[[2]int{min(i, j), max(i, j)}] == "" }
	for i := range open {
		open[i] = make([]bool, len(parts))
		for j := range open {
			open[i][j] = meet(i, j)
		}
	}
	next := func(chosen, tried []int) (best int) {
		best, most := -1, 0
		for k := range parts {
			gain := 0
			for _, c := range chosen {
				if !meet(c, k) {
					gain = -len(parts)
				} else if open[c][k] {
					gain++
				}
			}
			if gain > most && !slices.Contains(tried, k) {
				best, most = k, gain
			}
		}
		return best
	}
	for i := range parts {
		for j := range i {
			if !open[i][j] {
				continue
			}
			chosen, tried, list := []int{j, i}, []int(nil), []Part{parts[j], parts[i]}
			for len(chosen) < most {
				k := next(chosen, tried)
				if k < 0 {
					break
				}
				longer := append(slices.Clone(list), parts[k])
				if Refused(longer) != nil { // three that do not go together
					tried = append(tried, k)
					continue
				}
				chosen, list = append(chosen, k), longer
			}
			for _, a := range chosen {
				for _, b := range chosen {
					open[a][b] = false
				}
			}
			plans = append(plans, list)
		}
	}
	return plans
}
