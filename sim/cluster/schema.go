package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// schema is what becomes of the store's schema and of the activation of builds: which nodes migrate it, and which
// cannot work with it.
type schema struct {
	*base
	fleet   *fleet
	used    bool        // whether any build has a schema
	running []migration // the migrations that take place; a second one is a node's mistake
	// failed counts, by version, the attempts that have failed.
	failed map[uint64]uint64 // lookups only, never iterated over
	// invalid has a bit, by node number - 1 and kind of call, for each statement that was prepared for an older schema.
	invalid []uint64
	// pending is the build that an operator waits to activate, or nil.
	pending *engine.Build
}

type migration struct {
	by    *nodeState
	to    *plan.Schema
	until sim.Time
}

func (s *schema) rules(n *nodeState) *memprovider.Rules {
	return s.planted.For(n.plan.Name, n.build.Name()).Provider
}

func (s *schema) opens(n *nodeState, b *engine.Build) bool {
	if active := plan.FindBuild(s.builds, s.store.Activated(s.rules(n))); active != nil && s.older(b, active) {
		return false
	}
	wants := s.plan.SchemaOf(b.Name())
	return wants == nil || s.store.Opens(s.rules(n), wants.Version, wants.RefusesNewer)
}

// older reports whether a node of build b is not ready for the activation of another build.
func (s *schema) older(b, active *engine.Build) bool {
	return b.Version.Precedence(active.Version) < 0 && s.plan.ActivatedAs(b.Name()) != active.Name()
}

// activate activates a build as soon as every node is ready for it. Nodes learn of it within seconds.
func (s *schema) activate(build string) {
	s.pending = plan.FindBuild(s.builds, build)
	if waits := s.tryActivate(); waits != nil {
		s.record(&Record{Kind: record.ActivationWaits, Node: waits.number, Text: build})
	}
}

// tryActivate activates the pending build, or returns a node that is not ready for it. It tries again until the fault
// phase ends.
func (s *schema) tryActivate() *nodeState {
	var waits *nodeState
	for _, n := range s.fleet.list {
		if n.machine != nil && s.older(n.running, s.pending) || n.wantUp && s.older(n.build, s.pending) {
			waits = n
			break
		}
	}
	if s.store.Activate(nil, s.pending.Name(), waits == nil, false) {
		s.activated(nil)
		return nil
	}
	s.kernel.After(time.Second, s.root.At(labelSchedule), event{kind: evActivate})
	return waits
}

// activated tells every node of the activation, which a node's start has brought about, or an operator.
func (s *schema) activated(by *nodeState) {
	r := &Record{Kind: record.Activated, Text: s.pending.Name()}
	if by != nil {
		r.Node, r.Incarnation = by.number, by.inc
	}
	s.record(r)
	for _, n := range s.fleet.list {
		if n != by {
			key := n.key.Num(labelStart, n.starts)
			n.starts++
			s.kernel.After(sim.Between(s.chooser, key, 100*time.Millisecond, 5*time.Second), key, event{kind: evActivate, node: n.number})
		}
	}
	s.pending = nil
}

// onActivate restarts a node as the build that is activated, or tries once more to activate one.
func (s *schema) onActivate(node uint32) {
	if node == 0 {
		if s.pending != nil && s.phase == PhaseFaults {
			s.tryActivate()
		}
		return
	}
	if n := s.fleet.list[node-1]; n.wantUp && s.becomes(n) {
		s.fleet.changed = true
		s.fleet.restart(n)
	}
}

// becomes gives a node the build that is activated if its own has waited for that, and reports whether it did.
func (s *schema) becomes(n *nodeState) bool {
	as := s.plan.ActivatedAs(n.build.Name())
	if as == "" || as != s.store.Activated(s.rules(n)) {
		return false
	}
	n.build = plan.FindBuild(s.builds, as)
	return true
}

// readyFor reports whether a node can start now. If not, it migrates the store and starts then, waits for somebody
// else's migration, or does not start at all.
func (s *schema) readyFor(n *nodeState) bool {
	if !s.used {
		return true
	}
	if !s.finish(n) {
		s.fleet.startWithin(n, time.Second, 5*time.Second)
		return false
	}
	if as := s.plan.ActivatedAs(n.build.Name()); as != "" && n.inc > 0 && s.store.Activated(nil) == "" && s.store.Activate(s.rules(n), as, false, true) {
		s.pending = plan.FindBuild(s.builds, as)
		s.activated(n)
	}
	s.becomes(n)
	switch wants := s.plan.SchemaOf(n.build.Name()); {
	case !s.opens(n, n.build):
		s.bar(n)
		return false
	case wants == nil:
	case wants.Version <= s.store.Schema():
	case !s.store.BeginMigration(s.rules(n)):
		s.startAt(n, s.running[0].until.Add(time.Millisecond))
		return false
	default:
		until := s.kernel.Now().Add(wants.Takes)
		s.running = append(s.running, migration{n, wants, until})
		s.record(&Record{Kind: record.MigrationBegan, Node: n.number, Incarnation: n.inc, Schema: wants.Version, Text: n.build.Name(), For: wants.Takes})
		if wants.Destructive && wants.Takes > 0 {
			s.record(&Record{Kind: record.Fault, Fault: faults.Unavailable, For: wants.Takes})
		}
		s.startAt(n, until)
		return false
	}
	return true
}

func (s *schema) startAt(n *nodeState, at sim.Time) {
	key := n.key.Num(labelStart, n.starts)
	n.starts++
	n.start, n.startAt = s.kernel.At(at, key, event{kind: evNodeStart, node: n.number}), at
}

// finish ends the migration of a node that is to start, or to stay down, and reports whether it did not fail. It comes
// to nothing if the node has got another build meanwhile.
func (s *schema) finish(n *nodeState) bool {
	i := s.migration(n)
	if i < 0 {
		return true
	}
	m := s.running[i]
	s.running = slices.Delete(s.running, i, i+1)
	ended := &Record{Kind: record.MigrationEnded, Node: n.number, Incarnation: n.inc}
	givenUp := s.plan.SchemaOf(n.build.Name()) != m.to || !n.wantUp
	switch {
	case givenUp:
		ended.Text = "the migration is given up"
	case s.failed[m.to.Version] < m.to.Fails:
		s.failed[m.to.Version]++
		ended.Text = "the migration fails half-way"
	}
	s.store.EndMigration(s.rules(n), m.to.Version, m.to.Destructive, ended.Text != "")
	ended.Schema = s.store.Schema()
	s.record(ended)
	if ended.Text == "" && m.to.Invalidates { // the next call of each kind fails on every node that is up
		s.invalid = make([]uint64, len(s.fleet.list))
		for i, n := range s.fleet.list {
			if n.machine != nil {
				s.invalid[i] = ^uint64(0)
			}
		}
	}
	return ended.Text == "" || givenUp
}

// fails reports whether a call fails since its statement was prepared for an older schema. The next one of its kind
// does not.
func (s *schema) fails(c *callState) bool {
	if s.invalid == nil {
		return false
	}
	node, kind := &s.invalid[c.owner.number-1], uint64(1)<<c.kind
	invalid := *node&kind != 0
	*node &^= kind
	return invalid
}

// migration returns the index of the node's migration among those that take place, or -1.
func (s *schema) migration(n *nodeState) int {
	return slices.IndexFunc(s.running, func(m migration) bool { return m.by == n })
}

// locked reports whether a migration keeps everybody out of the store.
func (s *schema) locked() bool {
	return slices.ContainsFunc(s.running, func(m migration) bool { return m.to.Destructive })
}

// lasts returns how long a step may take to migrate the store, with what fails and the pauses after that.
func (s *schema) lasts(step *plan.Step) time.Duration {
	wants := s.plan.SchemaOf(step.Build)
	switch {
	case step.Verb == plan.VerbActivate:
		return 2 * drainMax
	case wants == nil:
		return 0
	}
	return drainMax + time.Duration(wants.Fails+1)*(wants.Takes+6*time.Second)
}

// migrateBack undoes migrations, as an operator's tool does. Nodes that had been refused start.
func (s *schema) migrateBack(version uint64) {
	if version >= s.store.Schema() {
		return
	}
	s.store.SetSchema(version)
	s.record(&Record{Kind: record.MigrationEnded, Schema: version})
	for _, n := range s.fleet.list {
		if n.barred && s.opens(n, n.build) {
			s.fleet.startSoon(n)
		}
	}
}

// stops reports whether a call has no effect since the store's schema is not, or no longer, one that the node's build
// can work with. That ends the node.
func (s *schema) stops(c *callState) bool {
	if !s.used {
		return false
	}
	n := c.owner
	wants := s.plan.SchemaOf(n.running.Name())
	rules := s.planted.For(n.plan.Name, n.running.Name()).Provider
	if wants == nil || s.store.Opens(rules, wants.Version, false) && wants.Version <= s.store.Schema() {
		return false
	}
	if c.alive() {
		s.fleet.crash(n, fmt.Sprintf("the store has schema %d, and its build needs %d", s.store.Schema(), wants.Version))
		if n.wantUp {
			s.fleet.startSoon(n)
		}
	}
	return true
}

// bar keeps a node down, since it does not start on the store's schema, or as a build older than what is activated.
func (s *schema) bar(n *nodeState) {
	s.fleet.keepDown(n)
	n.barred = true
	why := fmt.Sprintf("%s is activated, and build %s is older", s.store.Activated(nil), n.build.Name())
	if wants := s.plan.SchemaOf(n.build.Name()); wants != nil && !s.store.Opens(s.rules(n), wants.Version, wants.RefusesNewer) {
		why = fmt.Sprintf("the store has schema %d, and build %s works with %d", s.store.Schema(), n.build.Name(), wants.Version)
	}
	s.infos[n.number-1].Refusal = why
	s.record(&Record{Kind: record.StartRefused, Node: n.number, Incarnation: n.inc, Text: n.build.Name()})
}
