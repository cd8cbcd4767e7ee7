package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Steps returns the schedule's steps that change something, in execution order.
func Steps(p *plan.Plan) []plan.Step {
	all := slices.DeleteFunc(slices.Clone(p.Schedule), func(s plan.Step) bool { return s.Verb == plan.VerbMark })
	slices.SortStableFunc(all, func(a, b plan.Step) int { return cmp.Compare(a.At, b.At) })
	return all
}

// lastGap is the time between the last step and the start of a rollback.
const lastGap = 10 * time.Second

// gap returns the time between step n, from 1, and the next one that is later. If there is none, it returns lastGap. A
// way back begins after stay, when all of the store has woken up if that is the end of the plan.
func gap(p *plan.Plan, all []plan.Step, n int) (pause, stay time.Duration) {
	for _, next := range all[n:] {
		if pause = next.At - all[n-1].At; pause > 0 {
			return pause, pause
		}
	}
	if p.Contents != nil {
		return lastGap, lastGap + wakeAfter
	}
	return lastGap, lastGap
}

// Stop keeps only the plan's first n steps, and the marks that precede step n+1.
func Stop(p *plan.Plan, n int) {
	all := Steps(p)
	if n < len(all) {
		until := all[n].At
		p.Schedule = slices.DeleteFunc(slices.Clone(p.Schedule), func(s plan.Step) bool {
			return s.Verb != plan.VerbMark || s.At >= until
		})
		p.Schedule = append(p.Schedule, all[:n]...)
	}
	showStranded(p)
}

// showStranded makes the run end with rescue. Rescue reveals which work waits for a build, and which of that work no
// build in the plan can take.
func showStranded(p *plan.Plan) { p.Unaided, p.Until, p.Rescue = false, 0, plan.RescueBuild }

// Back undoes the first n steps in reverse order. The rollback starts at the time of the next later step, but not before
// the steps' migrations have ended. If that is the end of the plan, it starts when all of the store has woken up. It does
// not start before least has passed.
func (c *Config) Back(p *plan.Plan, n int, least time.Duration, builds []*engine.Build) {
	c.backTo(p, 0, n, 0, least, builds)
}

// backTo is like Back, but leaves the first from steps as they are. The others are undone pause apart, and those that
// were taken at the same time at the same time; if pause is 0, one by one, as far apart as step n and what follows it. They
// are lastGap apart at most: who goes back hurries, and a soak between two steps would let what they leave behind end. So
// would a longer while, such as that of a canary: with a pause the way back from a step that is taken while work starts
// begins no later than the last of it, or lastGap after the step.
func (c *Config) backTo(p *plan.Plan, from, n int, pause, least time.Duration, builds []*engine.Build) {
	all := Steps(p)
	Stop(p, n)
	if n == from {
		return
	}
	apart, stay := gap(p, all, n)
	at, together := all[n-1].At+max(stay, least), pause > 0
	if last := lastStart(p); together && last > all[n-1].At {
		at = min(at, max(last, all[n-1].At+lastGap))
	}
	if end := migratedAt(p, all[:n]); end > 0 {
		at = max(at, end+lastGap)
	}
	if !together {
		pause = max(apart, time.Second)
	}
	pause = min(pause, lastGap)
	for i := n - 1; i >= from; i-- {
		back, ok := c.inverse(p, all[:i], all[i], builds)
		if !ok {
			continue
		}
		back.At = at
		p.Schedule = append(p.Schedule, back)
		if i == 0 || !together || all[i-1].At < all[i].At {
			at += pause
		}
	}
	before := p.FirstSchema()
	for i := range all[:from] {
		if s := p.SchemaOf(startedBuild(p, &all[i])); s != nil {
			before = max(before, s.Version)
		}
	}
	if migrated(p, before, all[from:n]) {
		p.Schedule = append(p.Schedule, plan.Step{At: at, Verb: plan.VerbMigrate, Schema: before})
		at += pause
	}
	if p.FaultPhase > 0 {
		p.FaultPhase = max(p.FaultPhase, at+time.Second)
	}
}

// migrated reports whether the steps bring migrations of the store's schema, all of which can be undone.
func migrated(p *plan.Plan, before uint64, done []plan.Step) (any bool) {
	for i := range done {
		to := p.SchemaOf(startedBuild(p, &done[i]))
		if to == nil || to.Version <= before || before == 0 {
			continue
		}
		if !p.Migration(to.Version).Reversible {
			return false
		}
		any = true
	}
	return any
}

// migratedAt returns when the migrations that the steps bring have ended, or 0 if they bring none. A node that has
// failed to migrate tries again after lastGap at most.
func migratedAt(p *plan.Plan, done []plan.Step) (end time.Duration) {
	has := p.FirstSchema()
	for i := range done {
		to := p.SchemaOf(startedBuild(p, &done[i]))
		if has == 0 || to == nil || to.Version <= has {
			continue
		}
		has = to.Version
		end = max(end, done[i].At) + to.Takes + time.Duration(to.Fails)*(to.Takes+lastGap)
	}
	return end
}

// barred says why the nodes that p has after the first from steps cannot start any more with their builds after n
// steps, whatever step comes then. It returns "" if they can.
func barred(p *plan.Plan, from, n int, builds []*engine.Build) string {
	all := Steps(p)
	before, now := stateAfter(p, all[:from], builds), stateAfter(p, all[:n], builds)
	active := now.activated()
	for i := range before {
		old := &before[i]
		if !old.up || old.runs == nil {
			continue
		}
		if was := p.SchemaOf(old.build); was != nil {
			blocks, stays, version := false, false, was.Version
			for k := range all[from:n] {
				if is := p.SchemaOf(startedBuild(p, &all[from+k])); is != nil && is.Version > was.Version {
					blocks, stays = blocks || was.RefusesNewer || is.Destructive, stays || !p.Migration(is.Version).Reversible
					version = max(version, is.Version)
				}
			}
			if blocks && stays {
				return fmt.Sprintf("no node starts as %s on schema %d, and nothing undoes that migration", old.build, version)
			}
		}
		if active != nil && old.runs.Version.Precedence(active.Version) < 0 && p.ActivatedAs(old.build) != active.Name() {
			return fmt.Sprintf("%s is active then, and no node starts as %s", active.Name(), old.build)
		}
	}
	return ""
}

// inverse returns the step that undoes s, or false if s cannot be undone, or changes nothing. before lists the preceding
// steps.
func (c *Config) inverse(p *plan.Plan, before []plan.Step, s plan.Step, builds []*engine.Build) (plan.Step, bool) {
	was := stateAfter(p, before, builds).node(s.Node)
	back := plan.Step{Node: s.Node}
	switch s.Verb {
	case plan.VerbUpgrade, plan.VerbRollback:
		back.Verb, back.Build = plan.VerbRollback, was.build
		if s.Verb == plan.VerbRollback {
			back.Verb = plan.VerbUpgrade
		}
	case plan.VerbWiden, plan.VerbNarrow:
		back.Verb = plan.VerbNarrow
		if was.own {
			back.Range = &was.admits
		}
		if s.Verb == plan.VerbNarrow {
			back.Verb = plan.VerbWiden
		}
	case plan.VerbAdd, plan.VerbStart:
		back.Verb = plan.VerbStop
	case plan.VerbStop, plan.VerbRemove, plan.VerbCrash:
		if !was.up {
			return back, false
		}
		back.Verb = plan.VerbStart
	case plan.VerbRegister, plan.VerbDeregister:
		if c.has(p, before, s.Node, was.build, s.Handler) == (s.Verb == plan.VerbRegister) {
			return back, false
		}
		back.Verb, back.Handler = plan.VerbDeregister, s.Handler
		if s.Verb == plan.VerbDeregister {
			back.Verb = plan.VerbRegister
		}
	default:
		return back, false
	}
	return back, true
}

// has reports whether a node with that build has a handler after the steps in done.
func (c *Config) has(p *plan.Plan, done []plan.Step, node, build, handler string) bool {
	for _, s := range slices.Backward(done) {
		if s.Node == node && s.Handler == handler {
			return s.Verb == plan.VerbRegister
		}
	}
	cfg := cluster.Config{Plan: p, Builds: c.Builds}
	if c.NewRun != nil {
		cfg.Handlers = c.NewRun().Handlers
	}
	cfg.Handlers = c.Handlers(cfg.Handlers)
	return slices.Contains(cfg.Registered(node, build), handler)
}

// state describes a plan's nodes after some of the steps.
type state []nodeState

type nodeState struct {
	name, build string
	runs        *engine.Build // build, or what it has been activated as
	admits      engine.VersionRange
	own         bool // the range was set on the node, not taken from its build
	up          bool
	wanted      bool // it is to be up, although it may not start on the schema that the store has
}

func (s state) node(name string) *nodeState {
	if i := slices.IndexFunc(s, func(n nodeState) bool { return n.name == name }); i >= 0 {
		return &s[i]
	}
	return &nodeState{}
}

func (s state) anyUp() bool { return slices.ContainsFunc(s, func(n nodeState) bool { return n.up }) }

// stateAfter returns the state of the plan's nodes after the steps in done.
func stateAfter(p *plan.Plan, done []plan.Step, builds []*engine.Build) state {
	var all state
	for _, n := range p.Nodes {
		st := nodeState{name: n.Name, up: !n.Absent && !p.StartsLater(n.Name)}
		st.become(n.Build, builds)
		for _, o := range n.Options {
			if r, err := engine.ParseRange(o.Value); o.Name == "supported_replay_versions" && err == nil {
				st.admits, st.own = r, true
			}
		}
		all = append(all, st)
	}
	active, has := "", schema{version: p.FirstSchema()}
	for i := range all {
		if all[i].up {
			has.admit(p.SchemaOf(all[i].build))
		}
	}
	for _, s := range done {
		st := all.node(s.Node)
		switch s.Verb {
		case plan.VerbUpgrade, plan.VerbRollback:
			st.become(s.Build, builds)
		case plan.VerbWiden, plan.VerbNarrow:
			if st.own = s.Range != nil; st.own {
				st.admits = *s.Range
			} else {
				st.become(st.build, builds)
			}
		case plan.VerbStop, plan.VerbRemove, plan.VerbCrash:
			st.up, st.wanted = false, false
		case plan.VerbActivate:
			active = s.Build
		case plan.VerbMigrate:
			has = schema{version: s.Schema}
			for i := range all {
				all[i].up = all[i].up || all[i].wanted
			}
		}
		if s.Verb.Starts() {
			st.up, st.wanted = has.admit(p.SchemaOf(st.build)), true
			for i := range all { // a destructive migration ends who needs an older schema
				needs := p.SchemaOf(all[i].build)
				all[i].up = all[i].up && (needs == nil || needs.Version >= has.oldest)
			}
		}
		all.activate(p, active, builds)
	}
	return all
}

// schema is that of the store, and oldest the oldest one that a build may need to work with it.
type schema struct{ version, oldest uint64 }

// admit reports whether a node whose build has a schema starts, and migrates the store if need be.
func (s *schema) admit(wants *plan.Schema) bool {
	switch {
	case wants == nil || wants.Version == s.version:
	case wants.Version < s.version:
		return !wants.RefusesNewer && wants.Version >= s.oldest
	default:
		if s.version = wants.Version; wants.Destructive {
			s.oldest = wants.Version
		}
	}
	return true
}

// activate lets the nodes whose build awaits the activation of another run that, once each node does. From then on none
// is up as an older build.
func (s state) activate(p *plan.Plan, active string, builds []*engine.Build) {
	if active == "" || s.activated() == nil && slices.ContainsFunc(s, func(n nodeState) bool { return n.up && n.build != active && p.ActivatedAs(n.build) != active }) {
		return
	}
	to := plan.FindBuild(builds, active)
	for i := range s {
		switch n := &s[i]; {
		case p.ActivatedAs(n.build) == active:
			was := n.build
			n.become(active, builds)
			n.build = was
		case to != nil && n.runs != nil && n.runs.Version.Precedence(to.Version) < 0:
			n.up = false
		}
	}
}

func (s state) activated() *engine.Build {
	if i := slices.IndexFunc(s, func(n nodeState) bool { return n.runs != nil && n.runs.Name() != n.build }); i >= 0 {
		return s[i].runs
	}
	return nil
}

func (n *nodeState) become(build string, builds []*engine.Build) {
	n.build, n.runs = build, plan.FindBuild(builds, build)
	if n.runs != nil && !n.own {
		n.admits = n.runs.DefaultRange
	}
}
