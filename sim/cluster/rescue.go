package cluster

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/plan"
)

// maxRescues limits how often rescue begins. Once is not always enough, because work that continues may strand other
// work. maxHelped limits how often it begins for one instance: two loops of two builds on one node, which under strategy
// exact admits one of them, would take the node from each other for ever.
const (
	maxRescues = 32
	maxHelped  = 8
)

// rescue begins rescue if a message is waiting for an instance that no live node admits, and reports whether it did.
//
// It never widens a node beyond its own build, because a build does not replay what a newer build began
// (docs/contract/runtime.md#r15.2). It tries the following in order: restore the range of its build to a narrowed node;
// restart a node as the build to which the work is pinned or, failing that, as the next higher build named in the plan,
// with an application that the plan names; delete work that no build admits, or that was helped as often as is allowed.
func (ph *phases) rescue() bool {
	stuck := ph.stuck()
	switch {
	case len(stuck) == 0 || ph.rescues == maxRescues:
		return false
	case ph.plan.Rescue == plan.RescueWiden:
		if ph.phase == PhaseRescue {
			return false
		}
		ph.beginRescue()
		ph.widenAll()
		return true
	case !slices.ContainsFunc(ph.infos, func(n NodeInfo) bool { return n.Core }):
		return false
	}
	ph.beginRescue()
	for _, s := range stuck {
		if ph.helpedFor[s.id] < maxHelped && (ph.unnarrow(s.pin) || ph.rebuild(s.pin, stuck)) {
			if ph.helpedFor == nil {
				ph.helpedFor = map[string]int{}
			}
			ph.helpedFor[s.id]++
			return true
		}
	}
	for _, s := range stuck {
		ph.deleteTree(s)
	}
	return true
}

func (ph *phases) beginRescue() {
	ph.rescues++
	ph.begin(PhaseRescue)
}

// stuckInstance is an instance that has a waiting message but is not admitted by any live node.
type stuckInstance struct {
	id    string
	pin   *engine.Version
	wrote *engine.Build // as in holding
}

// stuck returns the stuck instances, ordered by number.
func (ph *phases) stuck() (all []stuckInstance) {
	for no := observe.InstanceNo(1); ph.store.InstanceName(no) != ""; no++ {
		id := ph.store.InstanceName(no)
		if p, ok := ph.store.Peek(id); ok && p.Messages > 0 && !ph.admitted(p.Pin, 0) {
			all = append(all, stuckInstance{id, p.Pin, ph.fleet.network.heldBy(id).wrote})
		}
	}
	return all
}

// admitted reports whether any live node with that many slots for orchestrations admits a pin. A node that is stopping
// for good is not live: it finishes what it holds, and fetches nothing more (docs/contract/runtime.md#r5.6).
func (ph *phases) admitted(pin *engine.Version, slots int) bool {
	return ph.admittedBy(pin, slots, func(*NodeInfo) bool { return true })
}

// admittedBy is like admitted, and counts only nodes for which counts returns true.
func (ph *phases) admittedBy(pin *engine.Version, slots int, counts func(n *NodeInfo) bool) bool {
	for i, n := range ph.fleet.list {
		info := &ph.infos[i]
		if leaves := info.Draining && !n.wantUp; info.Up && !leaves && info.Options.OrchestrationConcurrency >= slots && info.Filter.Admits(pin) && counts(info) {
			return true
		}
	}
	return false
}

// admits reports whether a node running the build admits a pin by default.
func (ph *phases) admits(b *engine.Build, pin *engine.Version) bool {
	if ph.plan.Strategy == plan.StrategyExact {
		return pin == nil || b.Version.Compare(*pin) == 0
	}
	return engine.FilterFor(b.DefaultRange).Admits(pin)
}

// unnarrow restores a core node's range to that of its build, if that makes it admit the pin.
func (ph *phases) unnarrow(pin *engine.Version) bool {
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core && n.options.SupportedReplayVersions != nil && ph.admits(n.build, pin) {
			ph.helped(HelpRange, n.plan.Name, ph.infos[n.number-1].Filter.String())
			n.options.SupportedReplayVersions = nil
			ph.fleet.restart(n)
			return true
		}
	}
	return false
}

// rebuild restarts a core node as a build that admits the pin, if there is such a build. It picks the last node that
// keeps all its build's handlers or, failing that, the last node.
func (ph *phases) rebuild(pin *engine.Version, stuck []stuckInstance) bool {
	var takes *nodeState
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core && (takes == nil || n.plan.Handlers == nil || takes.plan.Handlers != nil) {
			takes = n
		}
	}
	b := ph.buildFor(takes, pin, stuck)
	if b == nil {
		return false
	}
	ph.helped(HelpBuild, takes.plan.Name, b.Name())
	takes.build, takes.options.SupportedReplayVersions = b, nil
	ph.fleet.restart(takes)
	return true
}

// buildFor returns the build that makes a node admit a pin: the pinned build or, failing that, the lowest higher one
// named in the plan. It returns nil if there is none. Of builds that differ in the application alone, it takes the one
// that suits best, and none whose application no node runs: nobody would deploy that.
func (ph *phases) buildFor(n *nodeState, pin *engine.Version, stuck []stuckInstance) *engine.Build {
	var best *engine.Build
	for _, b := range ph.builds {
		if !ph.admits(b, pin) || (b.Release == "") != (n.build.Release == "") {
			continue
		}
		own := pin != nil && b.Version.Compare(*pin) == 0
		deployed := func(c *engine.Build) bool { return c.Application == b.Application && ph.names(c) }
		if !ph.names(b) && (!own || b.Application != "" && !slices.ContainsFunc(ph.builds, deployed)) {
			continue
		}
		if as := ph.plan.ActivatedAs(b.Name()); !ph.fleet.schema.opens(n, b) || as != "" && as == ph.store.Activated(nil) {
			continue // no node starts, or it starts as what is activated
		}
		if _, err := ph.fleet.registryOf(n.plan, b); err != nil {
			continue // its handlers cannot be registered
		}
		if best == nil || lower(b, best) || !lower(best, b) && ph.suits(n, b, stuck) > ph.suits(n, best, stuck) {
			best = b
		}
	}
	return best
}

// suits ranks builds that differ in the application: those that the plan names first, then the application that wrote the
// newest of the stuck instances, which mostly has the code of the others, too, then the one that the node has.
func (ph *phases) suits(n *nodeState, b *engine.Build, stuck []stuckInstance) (rank int) {
	if b.Application == n.build.Application {
		rank = 1
	}
	for i, s := range stuck {
		if s.wrote != nil && s.wrote.Application == b.Application {
			rank = i + 2
		}
	}
	if ph.names(b) {
		rank += len(stuck) + 2
	}
	return rank
}

// lower reports whether b comes before c: by version, and a release before its pre-release.
func lower(b, c *engine.Build) bool {
	if by := b.Version.Compare(c.Version); by != 0 {
		return by < 0
	}
	return b.Version.Pre == "" && c.Version.Pre != ""
}

// names reports whether any node runs the build at any time according to the plan.
func (ph *phases) names(b *engine.Build) bool {
	return slices.Contains(ph.plan.RunBuilds(), b.Name())
}

// deleteTree force-deletes the tree to which a stuck instance belongs, as an operator would if no node can run it.
func (ph *phases) deleteTree(stuck stuckInstance) {
	admin := ph.clients.provider.Admin()
	root := stuck.id
	for range maxDepth {
		parent, err := admin.GetParentID(ph.ctx, root)
		if err != nil || parent == "" {
			break
		}
		root = parent
	}
	pin := "none"
	if stuck.pin != nil {
		pin = stuck.pin.String()
	}
	ph.helped(HelpDelete, root, pin)
	_, err := admin.DeleteInstance(ph.ctx, root, true) // it may have been deleted with another tree
	ph.tellOperated("rescue deletes "+root+" with its tree, since no build of the plan takes "+stuck.id+" to its end", err)
}

// widenAll restarts every core node with a range that admits everything, as release 0.1.26's documentation recommended.
func (ph *phases) widenAll() {
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core {
			ph.helped(HelpWiden, n.plan.Name, ph.infos[n.number-1].Filter.String())
			n.options.SupportedReplayVersions = &engine.VersionRange{Max: engine.V(999, 999, 999)}
			ph.fleet.restart(n)
		}
	}
}
