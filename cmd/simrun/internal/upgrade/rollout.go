package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// The names of the procedures.
const (
	rolling   = "rolling"
	twoPhase  = "two-phase"
	canary    = "canary"
	blueGreen = "blue-green"
	drain     = "drain"
	stopAll   = "stop-all"
	shadow    = "shadow"
)

var procedures = []string{rolling, twoPhase, canary, blueGreen, drain, stopAll, shadow}

// rollout is what a plan upgrades, apart from the way in which it does: procedures are other ways.
type rollout struct {
	// nodes are those that are up and have another build when the roll-out begins, in the order in which the plan
	// upgrades them. to is the build on which all nodes end.
	nodes []nodeState
	to    *engine.Build
	// bridge is the declared build by which two-phase goes. If there is none, noBridge says what is lacking.
	bridge, noBridge string
	// before and others list the steps before the roll-out, which each procedure keeps, and those that none has, since
	// they do not give a node the last build or the bridge.
	before, others []string
	// late are the nodes that are not there when the roll-out begins, and have not been before.
	late []string
	// drained says, by seed, how long what is in flight when the roll-out begins takes to end if nothing starts.
	drained map[uint64]time.Duration
}

// rolloutOf returns what the scenario's plans upgrade. An error has its place in the scenario.
func rolloutOf(s *scenario.Scenario, builds []*engine.Build) (*rollout, error) {
	p := &s.Template
	all := Steps(p)
	if len(all) == 0 {
		return nil, &scenario.Error{File: s.File, Msg: "it has no steps: procedures are ways to carry out an upgrade"}
	}
	fail := func(node, format string, args ...any) error { // at the last step that is about node, or any step if there is none
		part := 0
		for i, st := range s.Template.Schedule {
			if st.Node == node || part == 0 {
				part = i + 1
			}
		}
		return s.Place(&plan.Problem{Part: fmt.Sprintf("step %d", part), Msg: fmt.Sprintf(format, args...)})
	}
	var last *nodeState
	for _, n := range stateAfter(p, all, builds) {
		switch {
		case !n.up:
		case last == nil:
			last = &n
		case n.runs != last.runs:
			return nil, fail(n.name, "%s ends on %s, and %s on %s: to compare procedures, all nodes must end on one build", last.name, last.runs.Name(), n.name, n.runs.Name())
		}
	}
	if last == nil {
		return nil, fail(all[len(all)-1].Node, "no node is up after the last step: to compare procedures, all nodes must end on one build")
	}
	r := &rollout{to: last.runs, drained: map[uint64]time.Duration{}}
	begin, now := r.findBridge(p, all, builds)
	for i := range all {
		switch st := &all[i]; {
		case i < begin:
			r.before = append(r.before, st.String())
		case r.brings(p, st):
			r.add(now.node(st.Node))
		default:
			r.others = append(r.others, st.String())
		}
	}
	for i := range now {
		r.add(&now[i])
		if !now[i].up && !slices.ContainsFunc(all[:begin], func(st plan.Step) bool { return st.Node == now[i].name }) {
			r.late = append(r.late, now[i].name)
		}
	}
	if len(r.nodes) == 0 {
		return nil, fail(last.name, "all nodes end on %s, which no step brings to a node of another build: procedures are ways to carry out an upgrade", last.runs.Name())
	}
	return r, nil
}

// brings reports whether the step gives a node the last build or the bridge.
func (r *rollout) brings(p *plan.Plan, s *plan.Step) bool {
	b := startedBuild(p, s)
	return b != "" && (b == r.to.Name() || b == r.bridge)
}

// add adds a node that is to be upgraded, once.
func (r *rollout) add(n *nodeState) {
	if n.up && n.runs != r.to && !slices.ContainsFunc(r.nodes, func(m nodeState) bool { return m.name == n.name }) {
		r.nodes = append(r.nodes, *n)
	}
}

// startedBuild returns the build with which the step makes a node begin: that of the step, or of a node that begins
// with it.
func startedBuild(p *plan.Plan, s *plan.Step) string {
	if s.Verb == plan.VerbAdd || s.Verb == plan.VerbStart && p.StartsLater(s.Node) {
		if i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == s.Node }); i >= 0 {
			return p.Nodes[i].Build
		}
	}
	return s.Build
}

// findBridge finds the declared build that all nodes can run before the first of them gets the last build: the old
// nodes take what it begins, and it reads what both write. It returns how many steps precede the roll-out, and the
// nodes then.
func (r *rollout) findBridge(p *plan.Plan, all []plan.Step, builds []*engine.Build) (begin int, now state) {
	start := func() {
		if begin = slices.IndexFunc(all, func(s plan.Step) bool { return r.brings(p, &s) }); begin < 0 {
			begin = len(all)
		}
		now = stateAfter(p, all[:begin], builds)
	}
	lacking := ""
	for i := range p.Builds {
		b := plan.FindBuild(builds, p.Builds[i].Name)
		r.bridge = b.Name()
		start()
		if b == r.to || slices.ContainsFunc(now, func(n nodeState) bool { return n.up && n.runs == b }) {
			continue
		}
		why := ""
		if b.Version.Precedence(r.to.Version) > 0 {
			why = "it is newer than " + r.to.Name()
		}
		for i := range now {
			switch n := &now[i]; {
			case !n.up || why != "":
			case n.runs != nil && b.Version.Precedence(n.runs.Version) < 0:
				why = "it is older than " + n.runs.Name()
			default:
				why = r.unfit(n, b)
			}
		}
		if why == "" {
			return begin, now
		}
		if !slices.Contains(plan.ReleaseNames(), b.Name()) {
			lacking += fmt.Sprintf("; not %s: %s", b.Name(), why)
		}
	}
	r.bridge = ""
	start()
	var old []string
	for i := range now {
		if n := &now[i]; n.up && n.runs != r.to && !slices.Contains(old, n.build) {
			old = append(old, n.build)
		}
	}
	r.noBridge = fmt.Sprintf("it needs a declared build whose pin and events each node on %s takes, and which reads what %s writes (docs/recipes.md#two-phases)%s",
		strings.Join(old, " or "), r.to.Name(), lacking)
	return begin, now
}

// unfit says why b is no bridge from n's build to the last one, or "".
func (r *rollout) unfit(n *nodeState, b *engine.Build) string {
	switch pin, was := b.Version.Triple(), n.runs.Version.Triple(); {
	case !n.admits.Contains(pin):
		return fmt.Sprintf("%s does not take its pin %s", n.build, pin)
	case !b.DefaultRange.Contains(was):
		return fmt.Sprintf("it does not take pin %s", was)
	default:
		for _, k := range b.Emits.List() {
			if b.Writes(k, &pin) && !n.runs.Codec.Kinds().Has(k) {
				return fmt.Sprintf("it writes %s, which %s does not read", k, n.build)
			}
		}
		for _, k := range r.to.Emits.List() {
			if !b.Codec.Kinds().Has(k) {
				return fmt.Sprintf("it does not read %s", k)
			}
		}
		return ""
	}
}

// lacks says why the procedure cannot be tried, or "".
func (r *rollout) lacks(procedure string) string {
	switch procedure {
	case twoPhase:
		return r.noBridge
	case shadow:
		return "the model has no node that computes and does not commit: work is fetched under a lock, so such a node would keep it from the others, and what its activities do would be done twice; orchtest.CheckHistories replays recorded histories with the new code instead"
	}
	return ""
}

// schedule writes the steps of a procedure, one after the other.
type schedule struct {
	p         *plan.Plan
	at, pause time.Duration
}

// each makes the step for each of the nodes, pause apart.
func (s *schedule) each(pause time.Duration, verb plan.Verb, build string, nodes ...string) {
	for i, n := range nodes {
		if i > 0 {
			s.at += pause
		}
		s.p.Schedule = append(s.p.Schedule, plan.Step{At: s.at, Verb: verb, Node: n, Build: build})
	}
}

// watching is for how many of the pauses between two nodes an operator watches what a procedure has done before it goes
// on: after the canary, before the old nodes go, and between two phases.
const watching = 3

// apply gives p the schedule of the procedure: the plan's preparation, a mark when the roll-out begins, and the
// procedure's steps, which begin when those of the plan do and are as far apart. It may be "", for no step. apply
// returns how many steps precede the roll-out, and how far apart its steps are.
func (r *rollout) apply(p *plan.Plan, procedure string, seed uint64) (before int, pause time.Duration) {
	var kept []plan.Step
	var times []time.Duration // of the steps that bring a build
	for _, step := range Steps(p) {
		switch {
		case r.brings(p, &step):
			times = append(times, step.At)
		case len(times) == 0:
			kept = append(kept, step)
		}
	}
	first, last := times[0], times[len(times)-1]
	s := schedule{p: p, at: first, pause: lastGap}
	if last > first {
		s.pause = (last - first) / time.Duration(len(times)-1)
	}
	before, p.Schedule = len(kept), append(kept, plan.Step{At: first, Verb: plan.VerbMark, Mark: cmp.Or(procedure, "no step")})
	for i := range p.Nodes {
		p.Nodes[i].Absent = p.Nodes[i].Absent || slices.Contains(r.late, p.Nodes[i].Name)
	}
	to, watch := r.to.Name(), watching*s.pause
	var nodes []string
	for i := range r.nodes {
		nodes = append(nodes, r.nodes[i].name)
	}
	switch procedure {
	case rolling:
		s.each(s.pause, plan.VerbUpgrade, to, nodes...)
	case twoPhase:
		s.each(s.pause, plan.VerbUpgrade, r.bridge, nodes...)
		if s.at += watch; p.ActivatedAs(r.bridge) == to {
			s.each(0, plan.VerbActivate, to, "")
		} else {
			s.each(s.pause, plan.VerbUpgrade, to, nodes...)
		}
	case canary:
		s.each(0, plan.VerbUpgrade, to, nodes[0])
		s.at += watch
		s.each(s.pause, plan.VerbUpgrade, to, nodes[1:]...)
	case blueGreen:
		s.each(0, plan.VerbAdd, "", r.twins(p)...)
		s.at += watch
		s.each(s.pause, plan.VerbRemove, "", nodes...)
	case drain:
		s.at += r.drained[seed]
		s.each(0, plan.VerbUpgrade, to, nodes...)
		hold(p, first, s.at+time.Second)
	case stopAll:
		s.each(0, plan.VerbStop, "", nodes...)
		s.at += s.pause
		s.each(0, plan.VerbUpgrade, to, nodes...)
	}
	if p.FaultPhase > 0 {
		p.FaultPhase = max(p.FaultPhase, s.at+time.Second, LastAction(p)+time.Second)
	}
	showStranded(p)
	return before, s.pause
}

// twins adds a node with the last build beside each of the nodes, not yet up, and returns their names.
func (r *rollout) twins(p *plan.Plan) (names []string) {
	for _, old := range slices.Clone(p.Nodes) {
		if !slices.ContainsFunc(r.nodes, func(n nodeState) bool { return n.name == old.Name }) {
			continue
		}
		twin := old
		for twin.Name = "new-" + old.Name; slices.ContainsFunc(p.Nodes, func(n plan.Node) bool { return n.Name == twin.Name }); {
			twin.Name = "new-" + twin.Name
		}
		twin.Build, twin.Absent = r.to.Name(), true
		twin.Options = slices.DeleteFunc(slices.Clone(old.Options), func(o plan.Setting) bool { return o.Name == "worker_node_id" })
		p.Nodes, names = append(p.Nodes, twin), append(names, twin.Name)
	}
	return names
}

// hold makes clients begin at release what they would have begun since from.
func hold(p *plan.Plan, from, release time.Duration) {
	for i := range p.Instances {
		in := &p.Instances[i]
		if by := release - in.StartAt; !in.Existing && in.StartAt >= from && by > 0 {
			in.StartAt = release
			for k := range in.Actions {
				in.Actions[k].At += by
			}
		}
	}
}

// began returns when the roll-out of a plan that apply has changed begins.
func began(p *plan.Plan) time.Duration {
	i := slices.IndexFunc(p.Schedule, func(s plan.Step) bool { return s.Verb == plan.VerbMark })
	return p.Schedule[i].At
}
