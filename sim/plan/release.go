package plan

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/program"
)

// releasedBuilds are shared by all plans; nobody changes them.
var releasedBuilds = engine.ReleasedBuilds()

// Releases are the released builds that the plan names, in ascending order of version.
func (p *Plan) Releases() []*engine.Build {
	var out []*engine.Build
	for _, b := range releasedBuilds {
		runs := func(n Node) bool { return n.Build == b.Release }
		becomes := func(s Step) bool { return s.Build == b.Release }
		if slices.ContainsFunc(p.Nodes, runs) || slices.ContainsFunc(p.Schedule, becomes) {
			out = append(out, b)
		}
	}
	return out
}

// releases refuses what a released runtime cannot run: it has the plan's programs, and nothing else.
func (v *validation) releases() {
	released := v.plan.Releases()
	if len(released) == 0 {
		return
	}
	name := released[0].Release
	for _, n := range v.plan.Nodes {
		if n.Handlers != nil {
			v.fail("node %s: handlers beside nodes that run %s, which have programs only", n.Name, name)
		}
	}
	for _, s := range v.plan.Schedule {
		if s.Verb == VerbRegister || s.Verb == VerbDeregister {
			v.fail("%s: beside nodes that run %s, which have programs only", s.String(), name)
		}
	}
	for _, in := range v.plan.Instances {
		if v.plan.Programs.Lookup(in.Orchestration) == nil {
			v.fail("instance %s runs %s, and nodes that run %s have programs only: want the name of a program", in.ID, in.Orchestration, name)
		}
	}
	for _, h := range v.plan.Histories {
		v.fail("history %s: nodes that run %s have programs only, and it is a history of something else", h.Instance, name)
	}
	if released[0].Codec.Kinds().Has(engine.KindExternalSubscribed2) {
		return
	}
	for i := range v.plan.Programs {
		program.Walk(v.plan.Programs[i].Body, func(n *program.Node) {
			if n.Op == program.OpWait && n.Text != "" {
				v.fail("program %s: wait %s with topic %s, and nodes that run %s know no topics", v.plan.Programs[i].Name, n.Name, n.Text, name)
			}
		})
	}
}
