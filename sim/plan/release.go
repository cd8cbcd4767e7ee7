package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/program"
)

// Releases returns the released builds named in the plan, in ascending order of version.
func (p *Plan) Releases() []*engine.Build {
	var out []*engine.Build
	for _, name := range p.RunBuilds() {
		if release, ok := strings.CutPrefix(name, engine.ReleasePrefix); ok {
			if b := engine.ReleasedBuild(release); b != nil {
				out = append(out, b)
			}
		}
	}
	slices.SortFunc(out, func(a, b *engine.Build) int {
		return cmp.Or(a.Version.Compare(b.Version), strings.Compare(a.Release, b.Release))
	})
	return out
}

// Planted reports whether the plan has planted bugs, be it as a profile.
func (p *Plan) Planted() bool {
	return len(p.Bugs) > 0 || p.Profile != "" && p.Profile != ProfileContract
}

// releases rejects plans that a released runtime cannot run. Such a runtime runs only the plan's programs.
func (v *validation) releases() {
	released := v.plan.Releases()
	if len(released) == 0 {
		return
	}
	name := released[0].Release
	for _, n := range v.plan.Nodes {
		v.part = "node " + n.Name
		if n.Handlers != nil {
			v.fail("node %s: the plan also has nodes that run %s, which run only programs: want no handlers", n.Name, name)
		}
	}
	for i, s := range v.plan.Schedule {
		v.part = fmt.Sprintf("step %d", i+1)
		if s.Verb == VerbRegister || s.Verb == VerbDeregister {
			v.fail("%s: the plan also has nodes that run %s, which run only programs", s.String(), name)
		}
	}
	for _, in := range v.plan.Instances {
		v.part = "instance " + in.ID
		if v.plan.Programs.Lookup(in.Orchestration) == nil {
			v.fail("instance %s runs %s, but nodes that run %s run only programs: want the name of a program", in.ID, in.Orchestration, name)
		}
	}
	for _, h := range v.plan.Histories {
		v.part = "instance " + h.Instance
		v.fail("history %s: nodes that run %s run only programs, and this is not the history of a program", h.Instance, name)
	}
	mixed := v.plan.mixed()
	for i := range v.plan.Programs {
		p := &v.plan.Programs[i]
		v.part = "program " + p.Name
		program.Walk(p.Body, func(n *program.Node) {
			if n.Op == program.OpWait && n.Text != "" {
				v.fail("program %s: wait %s has topic %s, but nodes that run %s do not support topics", p.Name, n.Name, n.Text, name)
			}
			if mixed && !plain(n) {
				v.fail("program %s: a branch of %s that is more than one call, timer, wait, dequeue or child, beside nodes that run %s and others that do not: "+
					"they begin such branches in another order", p.Name, n.Op, name)
			}
		})
	}
}

// Suit changes programs in place so that all nodes in the plan can run them, with the same results. Released runtimes
// do not support topics, have different limits on keys than modelled builds, and start branches that are blocks in a
// different order.
func (p *Plan) Suit(set Programs) {
	if len(p.Releases()) == 0 {
		return
	}
	mixed := p.mixed()
	for i := range set {
		program.Walk(set[i].Body, func(n *program.Node) {
			if n.Op == program.OpWait {
				n.Text = ""
			}
			if n.Op == program.OpSetMany {
				n.Size = min(n.Size, engine.MaxKVKeys/2)
			}
			if n.Op == program.OpSet && n.Size > engine.MaxKVValueBytes {
				n.Size = 0
			}
			if !mixed || !branches(n.Op) {
				return
			}
			for j := range n.Kids {
				if !schedules(n.Kids[j].Op) {
					n.Kids[j] = program.Node{Op: program.OpCall, Text: "branch"}
				}
			}
		})
	}
}

func (p *Plan) mixed() bool {
	modelled := func(build string) bool { return !strings.HasPrefix(build, engine.ReleasePrefix) }
	return len(p.Releases()) > 0 && slices.ContainsFunc(p.RunBuilds(), modelled)
}

// branches reports whether the statements in op's block run concurrently.
func branches(op program.Op) bool {
	return op == program.OpJoin || op == program.OpSelect || op == program.OpDrop
}

func schedules(op program.Op) bool {
	single := []program.Op{program.OpCall, program.OpCallFails, program.OpTimer, program.OpWait, program.OpDequeue, program.OpChild}
	return slices.Contains(single, op)
}

// plain reports whether every branch of a statement is a single API call.
func plain(n *program.Node) bool {
	return !branches(n.Op) || !slices.ContainsFunc(n.Kids, func(k program.Node) bool { return !schedules(k.Op) })
}
