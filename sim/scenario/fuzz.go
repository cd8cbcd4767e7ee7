package scenario

import (
	"github.com/durosim/durosim/faults"
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

// fuzz parses `nodes|instances|steps|statements COUNT...`, `faults none | KIND...`, or `builds BUILD...`.
func (p *parser) fuzz() {
	f := &p.s.Fuzz
	if p.err == nil && !p.more() {
		p.failf("the line ends too early: expected a limit, as in: %s", p.form)
	}
	for seen := map[string]bool{}; p.more(); {
		what := p.clause(seen, "nodes", "instances", "steps", "statements", "faults", "builds")
		p.unique("limit of the fuzzer", what)
		least := uint64(1)
		var to *int
		switch what {
		case "nodes":
			to = &f.Nodes
		case "instances":
			to = &f.Instances
		case "steps":
			to = &f.Steps
		case "statements":
			to, least = &f.Statements, 0
		case "faults":
			p.fuzzFaults()
		case "builds":
			for ok := true; ok; ok = p.more() {
				f.Builds = append(f.Builds, p.build())
			}
		}
		if to != nil {
			*to = int(p.number("a number of "+what, least, maxFuzz))
			f.NoPrograms = f.NoPrograms || what == "statements" && *to == 0
		}
	}
}

func (p *parser) fuzzFaults() {
	if p.accept("none") {
		p.s.Fuzz.NoFaults = true
		return
	}
	for ok := true; ok; ok = p.more() {
		kind := p.name("a kind of fault")
		p.known("fault", kind, faultKinds())
		p.s.Fuzz.Faults = append(p.s.Fuzz.Faults, faults.Kind(kind))
	}
}

// fuzzLines are the limits, one on each line that is written.
func fuzzLines() lines {
	return lines{func(at place) []item {
		return []item{{"[nodes COUNT] [instances COUNT] [steps COUNT] [statements COUNT] | faults none | faults KIND... | builds BUILD...", (*parser).fuzz, nil}}
	}, func(at place, line func(string, int, []item)) {
		f := &at.s.Fuzz
		for _, c := range []struct {
			what string
			n    int
		}{{"nodes", f.Nodes}, {"instances", f.Instances}, {"steps", f.Steps}, {"statements", f.Statements}} {
			if c.n > 0 || c.what == "statements" && f.NoPrograms {
				line("", 0, []item{word(c.what), count(&c.n, "", "", 0, 0)})
			}
		}
		if f.NoFaults {
			line("", 0, []item{word("faults"), word("none")})
		}
		if len(f.Faults) > 0 {
			line("", 0, []item{word("faults"), several(&f.Faults, "", "", "", nil)})
		}
		if len(f.Builds) > 0 {
			items := []item{word("builds")}
			for i := range f.Builds {
				items = append(items, named(&f.Builds[i], "", ""))
			}
			line("", 0, items)
		}
	}}
}
