package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
)

// Warnings returns what is suspicious in a scenario without being an error, in line order: a step that has no effect,
// an upgrade to an older build, a range above a node's build, two parts with the same name. Stored runs have no
// warnings.
func (s *Scenario) Warnings() []*Error { return s.warnings }

// Unused returns those of the warnings that are about declared builds that nothing in the text uses.
func (s *Scenario) Unused() []*Error { return s.unused }

// WarningsOf calls doubts for each of the scenario's instances and for one instance of each kind in its load, and
// returns the resulting warnings with their lines. If an input is drawn from a range, doubts gets the minimum.
func (s *Scenario) WarningsOf(doubts func(*plan.Instance) []string) []*Error {
	var all []*Error
	about := func(in *plan.Instance, line int) {
		for _, msg := range doubts(in) {
			all = append(all, &Error{File: s.File, Line: line, Msg: msg})
		}
	}
	for i := range s.Template.Instances {
		in := &s.Template.Instances[i]
		about(in, s.lines["instance "+in.ID])
	}
	if s.Load == nil {
		return all
	}
	for i, m := range s.Load.Mix {
		for _, input := range m.inputs() {
			in := plan.Instance{Orchestration: m.Orchestration, Version: m.Version, Input: LeastInput(input), Expect: m.Expect}
			for _, a := range m.Actions {
				in.Actions = append(in.Actions, a.Action)
			}
			about(&in, s.lines["mix "+strconv.Itoa(i)])
		}
	}
	return all
}

// WarningsOfHandlers warns about steps that register a handler that the node has in each build that it runs from then on, or
// remove one that it has in none. registered lists what a node has when it starts with a build, before any step.
func (s *Scenario) WarningsOfHandlers(registered func(node, build string) []string) []*Error {
	var all []*Error
	for _, c := range s.changes {
		idle := !slices.ContainsFunc(c.builds, func(build string) bool {
			return slices.Contains(registered(c.step.Node, build), c.step.Handler) != (c.step.Verb == plan.VerbRegister)
		})
		switch {
		case idle && c.step.Verb == plan.VerbRegister:
			all = append(all, &Error{File: s.File, Line: c.line, Msg: fmt.Sprintf("%s: %s has that already", c.step, c.builds[0])})
		case idle:
			all = append(all, &Error{File: s.File, Line: c.line, Msg: fmt.Sprintf("%s: %s does not have that", c.step, c.builds[0])})
		}
	}
	return all
}

// handlerChange is the first step that changes a handler of a node, and the builds that the node runs from then on.
type handlerChange struct {
	step   *plan.Step
	line   int
	builds []string
}

// LeastInput returns the least input that a mix draws from a range such as 2..6. An input that is no range is returned as
// it is.
func LeastInput(input string) string {
	r, err := parseInputRange(input)
	if err != nil || !r.ok {
		return input
	}
	return r.text(r.lo)
}

func (p *parser) warn(line int, format string, args ...any) {
	if p.entry == nil {
		p.s.warnings = append(p.s.warnings, &Error{File: p.file, Line: line, Msg: fmt.Sprintf(format, args...)})
	}
}

// warnMarks warns about parts with the same name.
func (p *parser) warnMarks() {
	first := map[string]int{}
	for i, s := range p.s.Template.Schedule {
		if s.Verb != plan.VerbMark {
			continue
		}
		if before, twice := first[s.Mark]; twice && before != p.stepLines[i] {
			p.warn(p.stepLines[i], "the part %q also begins in line %d: an expectation about it applies to both", s.Mark, before)
		}
		if first[s.Mark] == 0 {
			first[s.Mark] = p.stepLines[i]
		}
	}
}

// act is what a client does, and the earliest time at which it may do that.
type act struct {
	line     int
	action   *plan.Action
	earliest time.Duration
}

// warnUntil warns about instances that start when the run has ended, and about what clients do then.
func (p *parser) warnUntil() {
	t := &p.s.Template
	for i := range t.Instances {
		if in := &t.Instances[i]; t.Until > 0 && in.StartAt >= t.Until {
			p.warn(p.named["instance "+in.ID], "instance %s: it starts at %v, and the run ends at %v", in.ID, in.StartAt, t.Until)
		}
	}
	if l := p.s.Load; l != nil && t.Until > 0 && l.From+l.Over > t.Until {
		p.warn(p.once["load"], "load: its last instance starts at %v at the latest, and the run ends at %v", l.From+l.Over, t.Until)
	}
	for _, a := range p.acts {
		if t.Until > 0 && a.earliest >= t.Until {
			p.warn(a.line, "%s: it comes at %v at the earliest, and the run ends at %v", strings.TrimSpace(string(a.action.Verb)+" "+a.action.Name), a.earliest, t.Until)
		}
	}
}

// warnSometimes warns about what no campaign is judged by, since the scenario does not say how many seeds it takes.
func (p *parser) warnSometimes() {
	for i, e := range p.s.Expect {
		if e.Mode == plan.ModeSometimes && p.s.Seeds.Count == 0 {
			p.warn(p.expectLines[i], "expect %s: no campaign is judged by it without a line such as \"seeds 100\", the number of seeds from which on it must have happened", e.Text)
		}
	}
}

// warnKept warns about what needs a node that keeps executions, if there is none.
func (p *parser) warnKept() {
	t := &p.s.Template
	for i := range t.Nodes {
		if slices.ContainsFunc(t.Nodes[i].Options, func(o plan.Setting) bool { return o.Name == "kept_executions" && o.Value != "0" }) {
			return
		}
	}
	const missing = "no node keeps executions between turns (option kept_executions)"
	for i, line := range p.faultLines {
		if t.Faults.Rates[i].Kind == faults.ExecutionForgotten {
			p.warn(line, "fault %s: it never happens, since %s", faults.ExecutionForgotten, missing)
		}
	}
	for i, e := range p.s.Expect {
		for _, a := range e.Where {
			if a.Name == "resumed" && a.Match("yes") && !a.Match("no") {
				p.warn(p.expectLines[i], "%s: it selects nothing, since %s", a, missing)
			}
		}
	}
}

// warnFaults warns about a fault that never happens as its line says, since an earlier line is about all of that.
func (p *parser) warnFaults() {
	for j, line := range p.faultLines {
		r := p.s.Template.Faults.Rates[j]
		for i, first := range p.s.Template.Faults.Rates[:j] {
			if first.Kind == r.Kind && (first.Node == "" || first.Node == r.Node) && first.From <= r.From && (first.To == 0 || r.To != 0 && r.To <= first.To) {
				p.warn(line, "fault %s: it has no effect, since line %d is about the same and comes first", r.Kind, p.faultLines[i])
				break
			}
		}
	}
}

// when holds the earliest and latest time of a step. A relative step comes after the previous step.
type when struct {
	earliest, latest time.Duration
	relative         bool
}

// warnSteps follows each node through its steps and warns about steps that have no effect or a different one from what
// they say. It skips nodes for which the order of steps is uncertain.
func (p *parser) warnSteps() {
	for _, n := range p.s.Template.Nodes {
		starts := func(s plan.Step) bool { return s.Node == n.Name && s.Verb.Starts() }
		if n.Absent && !slices.ContainsFunc(p.s.Template.Schedule, starts) {
			p.warn(p.named["node "+n.Name], "node %s: it is absent, and no step adds it", n.Name)
		}
		p.warnNode(&n)
	}
}

func (p *parser) warnNode(n *plan.Node) {
	steps := p.s.Template.Schedule
	var mine []int
	for i := range steps {
		if steps[i].Node == n.Name && steps[i].Verb.OfNode() || steps[i].Verb == plan.VerbMigrate {
			mine = append(mine, i)
		}
	}
	slices.SortStableFunc(mine, func(i, j int) int { return cmp.Compare(p.stepWhen[i].earliest, p.stepWhen[j].earliest) })
	for k := range mine {
		if k > 0 && !p.follows(mine[k-1], mine[k]) {
			return
		}
	}
	up, build := !n.Absent && !p.s.Template.StartsLater(n.Name), n.Build
	var down *plan.Step               // what stopped it last, or nil if it is absent
	var frozen time.Duration          // when the pause that it is in ends at the earliest
	changed := map[string]plan.Verb{} // the last change of each handler; never iterated over
	var admits *engine.VersionRange   // the range that it was given, or nil for that of its build
	for _, o := range n.Options {
		if r, err := engine.ParseRange(o.Value); o.Name == "supported_replay_versions" && err == nil {
			admits = &r
		}
	}
	ranges := func(v plan.Verb) bool { return v == plan.VerbWiden || v == plan.VerbNarrow }
	for k, i := range mine {
		s, line := &steps[i], p.stepLines[i]
		if up && slices.Contains(graceful, s.Verb) {
			if p.stepWhen[i].latest < frozen {
				p.warn(line, "%s: it is frozen by then, and a graceful stop ends that: it finishes what it holds, which a crash loses", s)
			}
			frozen = 0
		}
		switch s.Verb {
		case plan.VerbRegister, plan.VerbDeregister:
			switch changed[s.Handler] {
			case s.Verb:
				p.warn(line, "%s: an earlier step has done that", s)
			case "":
				c := handlerChange{s, line, []string{build}}
				for _, later := range mine[k+1:] {
					if to := steps[later].Build; to != "" {
						c.builds = append(c.builds, to)
					}
				}
				p.s.changes = append(p.s.changes, c)
			}
			changed[s.Handler] = s.Verb
		case plan.VerbUpgrade, plan.VerbRollback:
			if !up && (down == nil || down.Verb == plan.VerbRemove) { // after a stop or crash, that is how all nodes are upgraded at once
				p.warnStarts(line, s, down)
			}
			p.warnBuild(line, s, build)
			build = s.Build
			if admits != nil && !slices.ContainsFunc(mine[k+1:], func(i int) bool { return ranges(steps[i].Verb) }) {
				p.warnStays(line, s, *admits)
			}
		case plan.VerbWiden, plan.VerbNarrow:
			if !up {
				p.warnStarts(line, s, down)
			}
			if was, r := admits, s.Range; s.Verb == plan.VerbNarrow && was != nil && r != nil && (r.Min.Compare(was.Min) < 0 || r.Max.Compare(was.Max) > 0) {
				p.warn(line, "%s: that takes what its range %s leaves out; use widen", s, was)
			}
			admits = s.Range
			switch own, err := engine.ParseVersion(build); {
			case err != nil || admits == nil:
			case s.Verb == plan.VerbWiden && s.Range.Max.Compare(own.Triple()) < 0:
				p.warn(line, "%s: that leaves out %s, the build that it runs by then; use narrow", s, build)
			default:
				p.warnAbove(line, s.String(), *s.Range, build, "the build that it runs by then")
			}
		case plan.VerbMigrate:
			if needs := p.s.Template.SchemaOf(build); up && needs != nil && needs.Version > s.Schema {
				p.warn(line, "%s: %s runs %s by then, which needs schema %d, and migrates to that anew: stop it before", s, n.Name, build, needs.Version)
			}
		case plan.VerbStart, plan.VerbAdd:
			if up {
				p.warn(line, "%s %s: it is already running", s.Verb, n.Name)
			}
		case plan.VerbStop, plan.VerbCrash, plan.VerbRemove, plan.VerbPause:
			if !up {
				p.warn(line, "%s %s: it is not running at that time", s.Verb, n.Name)
			}
		}
		switch s.Verb {
		case plan.VerbStop, plan.VerbCrash, plan.VerbRemove:
			if up {
				up, down, frozen = false, s, 0
			}
		case plan.VerbPause:
			frozen = max(frozen, p.stepWhen[i].earliest+s.For)
		default:
			up = up || s.Verb.Starts()
		}
	}
}

// graceful are the verbs of steps that stop a node gracefully, if it is up.
var graceful = []plan.Verb{plan.VerbUpgrade, plan.VerbRollback, plan.VerbWiden, plan.VerbNarrow, plan.VerbStop, plan.VerbRemove}

// warnStarts warns about a step that starts a node although it says nothing of a start.
func (p *parser) warnStarts(line int, s, down *plan.Step) {
	if down == nil {
		p.warn(line, "%s: it is absent until it is added, and this starts it", s)
		return
	}
	p.warn(line, "%s: it is down since %q, and this starts it", s, down)
}

func (p *parser) warnBuild(line int, s *plan.Step, runs string) {
	switch older, newer := differ(s.Build, runs); {
	case s.Build == runs:
		p.warn(line, "%s %s to %s: it already runs that build", s.Verb, s.Node, s.Build)
	case older && !newer && s.Verb == plan.VerbUpgrade:
		p.warn(line, "upgrade %s to %s: it runs %s by then, which is newer; use rollback", s.Node, s.Build, runs)
	case newer && !older && s.Verb == plan.VerbRollback:
		p.warn(line, "rollback %s to %s: it runs %s by then, which is older; use upgrade", s.Node, s.Build, runs)
	}
}

// warnStays warns about a step that changes a node's build, if the range that the node was given before, and keeps, leaves
// out the new build or goes above it.
func (p *parser) warnStays(line int, s *plan.Step, r engine.VersionRange) {
	what := fmt.Sprintf("%s: its range stays %s", s, r)
	if own, err := engine.ParseVersion(strings.SplitN(s.Build, "+", 2)[0]); err == nil && !r.Contains(own) {
		p.warn(line, "%s, which leaves out %s, so that it cannot continue what it starts; \"widen %s to default\" ends that", what, s.Build, s.Node)
	}
	p.warnAbove(line, what, r, s.Build, "the build that it runs then")
}

// warnRange warns about a range that a build or a node declares if it excludes the build or goes above it.
func (p *parser) warnRange(what string, r engine.VersionRange, build string) {
	if own, err := engine.ParseVersion(strings.SplitN(build, "+", 2)[0]); err == nil && !r.Contains(own) {
		p.warn(p.line, "%s: that excludes %s, its build, so it may be unable to continue what it starts", what, build)
	}
	p.warnAbove(p.line, what, r, build, "its build")
}

// warnAbove warns about a range above the build that has it, unless that is 1.5.x on 1.5.0.
func (p *parser) warnAbove(line int, what string, r engine.VersionRange, build, which string) {
	own, err := engine.ParseVersion(strings.SplitN(build, "+", 2)[0])
	patches, _ := engine.ParseRange(fmt.Sprintf("%d.%d.x", own.Major, own.Minor))
	if err == nil && r.Max.Compare(own.Triple()) > 0 && r.Max != patches.Max {
		p.warn(line, "%s: that is above %s, %s: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid", what, build, which)
	}
}

// differ reports whether the runtime or the application of a build, as in 1.5.0+2.1.0, is older than that of another, and
// whether one is newer. What is no version is neither.
func differ(build, from string) (older, newer bool) {
	runtime, application, _ := strings.Cut(build, "+")
	fromRuntime, fromApplication, _ := strings.Cut(from, "+")
	for _, pair := range [][2]string{{runtime, fromRuntime}, {application, fromApplication}} {
		to, errTo := engine.ParseVersion(pair[0])
		was, errWas := engine.ParseVersion(pair[1])
		if errTo == nil && errWas == nil {
			older, newer = older || to.Precedence(was) < 0, newer || to.Precedence(was) > 0
		}
	}
	return older, newer
}

// follows reports whether step j is certain to happen after step i.
func (p *parser) follows(i, j int) bool {
	if p.stepWhen[j].earliest >= p.stepWhen[i].latest {
		return true
	}
	return i < j && !slices.ContainsFunc(p.stepWhen[i+1:j+1], func(w when) bool { return !w.relative })
}

// warnBuilds warns about declared builds that are not used by any node, step, probe, clients or other build.
func (p *parser) warnBuilds() {
	pl, before := &p.s.Template, len(p.s.warnings)
	runs := pl.RunBuilds()
	defer func() { p.s.unused = slices.Clone(p.s.warnings[before:]) }()
	for i, b := range pl.Builds {
		used := pl.Clients == b.Name || slices.Contains(runs, b.Name) ||
			slices.ContainsFunc(pl.Probes, func(pr plan.Probe) bool { return pr.Build == b.Name }) ||
			slices.ContainsFunc(pl.Builds[i+1:], func(later plan.Build) bool { return later.Like == b.Name })
		if !used {
			p.warn(p.named["build "+b.Name], "build %s: nothing uses it", b.Name)
		}
	}
}
