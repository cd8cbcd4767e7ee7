package gen

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/workload"
)

// Space configures what plans are made of. The zero value uses the shipped parts. Plans are valid by construction, so a
// test wastes no draws on invalid ones, and they shrink towards fewer and simpler parts.
type Space struct {
	// Builds returns the builds that nodes may run, as in cluster.Config. If it is nil, they run the shipped builds,
	// except for those with different replay semantics.
	Builds func() []*engine.Build
	// Work lists the instances to choose from, instead of the shipped orchestrations. A plan may contain the same entry
	// several times. An entry's ID is the prefix for the ids of the instances drawn from it. Its times are relative to
	// the start of the instance. An instance with no expected end may end in any way, since faults may make it time
	// out.
	Work []plan.Instance
	// NoPrograms turns off generated programs.
	NoPrograms bool
}

// Workload is a plan's work.
type Workload struct {
	Programs  plan.Programs
	Instances []plan.Instance
	Histories []plan.History
	Probes    []plan.Probe
}

// PlanFrom adapts a generator for use as durosim.Config.Plan. The function that it returns gives the same plan each
// time for the same seed.
func PlanFrom(g *rapid.Generator[*plan.Plan]) func(seed uint64) (*plan.Plan, error) {
	return func(seed uint64) (*plan.Plan, error) {
		plan := g.Example(int(seed))
		plan.Name = fmt.Sprintf("generated-%d", seed)
		return plan, nil
	}
}

// horizon is the latest time for a schedule's last step and for an instance's start.
const horizon = plan.EditHorizon

// Plan draws whole plans: one to four nodes, a schedule, a workload, and faults from some of the families.
func (s Space) Plan() *rapid.Generator[*plan.Plan] {
	return rapid.Custom(func(t *rapid.T) *plan.Plan {
		p := &plan.Plan{Name: "generated", Strategy: plan.StrategyFilter, Profile: plan.ProfileContract}
		p.Nodes = s.nodes().Draw(t, "nodes")
		p.Schedule = s.Schedule(p.Nodes).Draw(t, "schedule")
		w := s.Workload().Draw(t, "workload")
		p.Programs, p.Instances, p.Histories, p.Probes = w.Programs, w.Instances, w.Histories, w.Probes
		withdrawn(t, p)
		p.Faults = s.faults(p.Nodes).Draw(t, "faults")
		p.FaultPhase = 2 * horizon
		return p
	})
}

func (s Space) builds() []*engine.Build {
	if s.Builds != nil {
		return s.Builds()
	}
	return slices.DeleteFunc(engine.ShippedBuilds(), func(b *engine.Build) bool { return b.Semantics != engine.SemanticsStandard })
}

func (s Space) build() *rapid.Generator[string] {
	var names []string
	for _, b := range s.builds() {
		names = append(names, b.Name())
	}
	return rapid.SampledFrom(names)
}

func upTo(d time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(0, int64(d/time.Millisecond)), func(n int64) time.Duration {
		return time.Duration(n) * time.Millisecond
	})
}

// number draws a number from a range, inclusive.
func number(t *rapid.T, from, to int, label string) int {
	return rapid.IntRange(from, to).Draw(t, label)
}

// rarely returns true in one out of `in` draws.
func rarely(t *rapid.T, in int, label string) bool {
	return rapid.IntRange(0, in-1).Draw(t, label) == in-1
}

// nodes draws one to four nodes. The first node is never absent, so at least one node runs.
func (s Space) nodes() *rapid.Generator[[]plan.Node] {
	return rapid.Custom(func(t *rapid.T) []plan.Node {
		nodes := make([]plan.Node, number(t, 1, 4, "count"))
		for i := range nodes {
			nodes[i] = plan.Node{Name: string(rune('A' + i)), Build: s.build().Draw(t, "build")}
			nodes[i].Absent = i > 0 && rarely(t, 6, "absent")
			if rapid.Bool().Draw(t, "tuned") {
				nodes[i].Options = s.nodeOptions().Draw(t, "options")
			}
		}
		return nodes
	})
}

// nodeOptions draws settings from one to three groups of options.
func (s Space) nodeOptions() *rapid.Generator[[]plan.Setting] {
	return rapid.Custom(func(t *rapid.T) []plan.Setting {
		var out []plan.Setting
		rows := plan.RandomOptions()
		var groups []int = rapid.SliceOfNDistinct(rapid.IntRange(0, len(rows)-1), 1, 3, rapid.ID).Draw(t, "groups")
		for _, i := range groups {
			values := rapid.SampledFrom(rows[i].Values).Draw(t, "values")
			for j, name := range rows[i].Names {
				out = append(out, plan.Setting{Name: name, Value: values[j]})
			}
		}
		return out
	})
}

// Schedule draws up to eight steps, sorted by time. Each step fits the state of its node at that time: up, down or
// absent.
func (s Space) Schedule(nodes []plan.Node) *rapid.Generator[[]plan.Step] {
	return rapid.Custom(func(t *rapid.T) []plan.Step {
		var times []time.Duration = rapid.SliceOfN(upTo(horizon), 0, 8).Draw(t, "times")
		slices.Sort(times)
		up := make([]bool, len(nodes))
		gone := make([]bool, len(nodes))
		for i := range nodes {
			up[i] = !nodes[i].Absent
		}
		var steps []plan.Step
		for _, at := range times {
			i := number(t, 0, len(nodes)-1, "node")
			if gone[i] {
				continue
			}
			step := plan.Step{At: at, Node: nodes[i].Name}
			s.step(t, &step, up[i], len(steps) == 0 && nodes[i].Absent)
			switch step.Verb {
			case plan.VerbStop, plan.VerbCrash:
				up[i] = false
			case plan.VerbRemove:
				up[i], gone[i] = false, true
			case plan.VerbPause, plan.VerbRegister, plan.VerbDeregister:
			default:
				up[i] = true
			}
			steps = append(steps, step)
		}
		return steps
	})
}

// step chooses what a step does to a node.
func (s Space) step(t *rapid.T, step *plan.Step, up, absent bool) {
	switch {
	case absent:
		step.Verb = plan.VerbAdd
		return
	case !up:
		step.Verb = plan.VerbStart
		return
	}
	step.Verb = rapid.SampledFrom([]plan.Verb{
		plan.VerbUpgrade, plan.VerbUpgrade, plan.VerbUpgrade, plan.VerbRollback, plan.VerbCrash, plan.VerbCrash,
		plan.VerbPause, plan.VerbStop, plan.VerbWiden, plan.VerbNarrow, plan.VerbDeregister, plan.VerbRegister, plan.VerbRemove,
	}).Draw(t, "verb")
	switch step.Verb {
	case plan.VerbUpgrade, plan.VerbRollback:
		step.Build = s.build().Draw(t, "build")
	case plan.VerbPause:
		step.For = time.Second + upTo(9*time.Second).Draw(t, "for")
	case plan.VerbWiden:
		step.Range = &engine.VersionRange{Max: engine.V(99, 0, 0)}
	case plan.VerbNarrow:
		step.Range = &engine.VersionRange{
			Min: rapid.SampledFrom([]engine.Version{{}, engine.V(1, 0, 0), engine.V(2, 0, 0)}).Draw(t, "min"),
			Max: rapid.SampledFrom([]engine.Version{engine.V(1, 5, 0), engine.V(2, 0, 0), engine.V(9, 0, 0)}).Draw(t, "max"),
		}
	case plan.VerbRegister, plan.VerbDeregister:
		if s.Work != nil { // it is unknown which handlers a user's builds have
			*step = plan.Step{At: step.At, Node: step.Node, Verb: plan.VerbCrash}
			return
		}
		o := rapid.SampledFrom(workload.Common()).Draw(t, "handler")
		step.Handler = o.Name + "@" + o.Version.String()
	}
}

// faults draws rates for some of the fault kinds. A rate applies in a window or throughout the fault phase, and to one
// node or to all.
func (s Space) faults(nodes []plan.Node) *rapid.Generator[faults.Plan] {
	return rapid.Custom(func(t *rapid.T) faults.Plan {
		var p faults.Plan
		if rarely(t, 5, "recovery weather") {
			return p
		}
		all := faults.Kinds()
		var kinds []int = rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), 1, 6, rapid.ID).Draw(t, "kinds")
		for _, i := range kinds {
			r := faults.Rate{Kind: all[i].Kind, Num: 1, Den: rapid.SampledFrom([]uint64{200, 100, 50, 20, 10}).Draw(t, "odds")}
			if r.Kind.Rare() {
				r.Den *= 10
			}
			if rarely(t, 3, "window") {
				r.From = upTo(horizon).Draw(t, "from")
				r.To = r.From + time.Second + upTo(horizon).Draw(t, "length")
			}
			if rarely(t, 4, "one node") {
				r.Node = rapid.SampledFrom(nodes).Draw(t, "on").Name
			}
			p.Rates = append(p.Rates, r)
		}
		return p
	})
}

// program draws a program with the given name. The programs that it starts come before it in the result.
func (s Space) program(name string) *rapid.Generator[plan.Programs] {
	return rapid.Custom(func(t *rapid.T) plan.Programs {
		return program.Generate(name, func(n int) int { return number(t, 0, n-1, "choice") })
	})
}

func numbered(name string, n int) string { return name + "-" + strconv.Itoa(n+1) }
