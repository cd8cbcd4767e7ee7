package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// isCore reports whether a node is up in recovery: it is started at least once, and no stop or remove comes after its last
// start. A crash, a pause or a change of its handlers starts nothing.
func (f *fleet) isCore(p *plan.Node) bool {
	started, stopped := !p.Absent, false
	for _, s := range f.stepsOf(p) {
		started = started || s.Verb.Starts()
		stopped = !s.Verb.Starts() && (stopped || s.Verb == plan.VerbStop || s.Verb == plan.VerbRemove)
	}
	return started && !stopped
}

// stepsOf returns a node's steps, except marks, in execution order.
func (f *fleet) stepsOf(p *plan.Node) []*plan.Step {
	var steps []*plan.Step
	for i := range f.plan.Schedule {
		if s := &f.plan.Schedule[i]; s.Node == p.Name && s.Verb.OfNode() {
			steps = append(steps, s)
		}
	}
	slices.SortStableFunc(steps, func(a, b *plan.Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// onSchedule carries out a step.
func (f *fleet) onSchedule(s *plan.Step) {
	f.changed = true
	f.record(&Record{Kind: record.Scheduled, Schedule: s, Node: f.number(s.Node)})
	switch s.Verb {
	case plan.VerbMark:
		return
	case plan.VerbMigrate:
		f.schema.migrateBack(s.Schema)
		return
	case plan.VerbActivate:
		f.schema.activate(s.Build)
		return
	}
	n := f.list[f.number(s.Node)-1]
	switch s.Verb {
	case plan.VerbUpgrade, plan.VerbRollback:
		n.build = plan.FindBuild(f.builds, s.Build)
		f.restart(n)
	case plan.VerbWiden, plan.VerbNarrow:
		n.options.SupportedReplayVersions = s.Range
		f.restart(n)
	case plan.VerbStop, plan.VerbRemove:
		f.keepDown(n)
		f.drain(n)
	case plan.VerbCrash:
		f.keepDown(n)
		f.crash(n, "by the schedule")
	case plan.VerbStart, plan.VerbAdd:
		f.startSoon(n)
	case plan.VerbPause:
		f.pause(n, s.For)
	case plan.VerbRegister, plan.VerbDeregister:
		n.changes = append(n.changes, s)
		if n.machine != nil {
			f.applyChange(n, s)
		}
	default:
		panic(fmt.Sprintf("cluster: schedule verb %q", s.Verb))
	}
}

// applyChange carries out a register or deregister step on a node that is up or about to start.
func (f *fleet) applyChange(n *nodeState, s *plan.Step) {
	text := s.Handler + " is registered"
	if s.Verb == plan.VerbDeregister {
		withdraw(n.registry, s.Handler)
		text = s.Handler + " is deregistered"
	} else if err := f.registerAgain(n.registry, s.Handler); err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err)) // unknown handlers were rejected by Validate
	}
	f.record(&Record{Kind: record.HandlersChanged, Node: n.number, Incarnation: n.inc, Text: text})
}

// registerAgain registers a shipped orchestration or one of the plan's programs, given as "Name@1.0.0", unless it is
// already registered.
func (f *fleet) registerAgain(r *node.Registry, handler string) error {
	name, v, err := plan.ParseHandler(handler)
	if err != nil || slices.Contains(r.Orchestrations(), handler) {
		return err
	}
	for _, p := range f.plan.Programs.Versions(name, v.String()) {
		if p.At() == v.String() {
			one := node.NewRegistry()
			if err := one.Register(name, v, p.Handler()); err != nil {
				return err
			}
			r.Adopt(one, func(string) bool { return true }) // it may be lower than what is there
			return nil
		}
	}
	return f.ship(r, handler)
}

// tryHandlers makes the registry for each build that a node will run, so that no start can fail later. Without user
// code and declared builds, no start can fail anyway.
func (f *fleet) tryHandlers(p *plan.Node) error {
	if f.shippedHandlers && len(f.plan.Builds) == 0 {
		return nil
	}
	builds := []string{p.Build}
	for _, s := range f.stepsOf(p) {
		if s.Verb == plan.VerbUpgrade || s.Verb == plan.VerbRollback {
			builds = append(builds, s.Build)
			if as := f.plan.ActivatedAs(s.Build); as != "" {
				builds = append(builds, as)
			}
		}
	}
	for _, b := range builds {
		if _, err := f.registryOf(p, plan.FindBuild(f.builds, b)); err != nil {
			return err
		}
	}
	return nil
}
