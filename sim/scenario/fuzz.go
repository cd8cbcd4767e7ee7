package scenario

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
)

// Fuzz limits what a fuzzer may add to the scenario's plans and how large the plans may get. Where a field is 0 or nil,
// the fuzzer decides.
type Fuzz struct {
	Nodes, Instances, Steps int
	// Statements limits the number of statements in programs. NoPrograms forbids adding any.
	Statements int
	NoPrograms bool
	// Faults lists the kinds of faults that the fuzzer may add; NoFaults forbids adding any. Builds lists the builds
	// that it may give to nodes.
	Faults   []faults.Kind
	NoFaults bool
	Builds   []string
}

// maxFuzz is the upper bound of the counts in fuzz lines.
const maxFuzz = 10_000

// fuzzLimits are the clauses of fuzz lines, in the lines in which they are written. The last two go up to the end of a line.
func fuzzLimits(at place) [][]clause {
	f := &at.s.Fuzz
	once := func(word string, set bool, items ...item) clause {
		return with(word, set, append(items, check(func(p *parser) { p.unique("limit of the fuzzer", word) }))...)
	}
	limit := func(word string, x *int) clause {
		return once(word, *x > 0, count(x, "COUNT", "a number of "+word, 1, maxFuzz))
	}
	statements := count(&f.Statements, "COUNT", "a number of statements", 0, maxFuzz)
	return [][]clause{
		{limit("nodes", &f.Nodes), limit("instances", &f.Instances), limit("steps", &f.Steps),
			once("statements", f.Statements > 0 || f.NoPrograms, statements, check(func(*parser) { f.NoPrograms = f.Statements == 0 }))},
		{once("faults", f.NoFaults || len(f.Faults) > 0, item{"none | faults KIND...", func(p *parser) {
			if f.NoFaults = p.accept("none"); f.NoFaults {
				return
			}
			several(&f.Faults, "", "a kind of fault", "kind of fault", func(p *parser, kind string) { p.known("fault", kind, faultKinds()) }).read(p)
		}, func() string {
			if f.NoFaults {
				return "none"
			}
			return strings.Join(texts(f.Faults), " ")
		}}).instead()},
		{once("builds", len(f.Builds) > 0, item{"BUILD...", func(p *parser) {
			for ok := true; ok; ok = p.more() {
				f.Builds = append(f.Builds, p.build())
			}
		}, func() string { return strings.Join(pretty.Texts(f.Builds, formatBuild), " ") }}).instead()},
	}
}

func fuzzLines() lines {
	return lines{func(at place) []item {
		return []item{anyClauses(slices.Concat(fuzzLimits(at)...)...)}
	}, func(at place, line func(string, int, []item)) {
		for _, limits := range fuzzLimits(at) {
			if slices.ContainsFunc(limits, func(c clause) bool { return c.set }) {
				line("", 0, []item{clauses(limits...)})
			}
		}
	}}
}
