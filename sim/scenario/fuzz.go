package scenario

import (
	"fmt"
	"strings"

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

// lines returns the limits as statements, one per limit.
func (f *Fuzz) lines() (out []string) {
	for _, c := range []struct {
		what string
		n    int
	}{{"nodes", f.Nodes}, {"instances", f.Instances}, {"steps", f.Steps}, {"statements", f.Statements}} {
		if c.n > 0 || c.what == "statements" && f.NoPrograms {
			out = append(out, fmt.Sprintf("fuzz %s %d", c.what, c.n))
		}
	}
	if f.NoFaults {
		out = append(out, "fuzz faults none")
	}
	list := func(what string, names []string) {
		if len(names) > 0 {
			out = append(out, "fuzz "+what+" "+strings.Join(names, " "))
		}
	}
	var kinds, builds []string
	for _, k := range f.Faults {
		kinds = append(kinds, string(k))
	}
	for _, b := range f.Builds {
		builds = append(builds, quote(b))
	}
	list("faults", kinds)
	list("builds", builds)
	return out
}
