package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/plan"
)

// Help is something that recovery or rescue did so that work could end.
type Help struct {
	VirtualMs int64    `json:"virtual_ms"` // since the start of the run
	Phase     Phase    `json:"phase"`
	Kind      HelpKind `json:"kind"`
	// Name is the name of the instance or the node.
	Name string `json:"name"`
	// Text is the name of the event or queue, the node's new build, or the node's old range.
	Text string `json:"text"`
}

// HelpKind is the kind of a Help.
type HelpKind string

// The kinds of help.
const (
	HelpRaise   HelpKind = "raise"   // raises an event that an instance waits for
	HelpEnqueue HelpKind = "enqueue" // enqueues a message that an instance is waiting to dequeue
	HelpCancel  HelpKind = "cancel"  // cancels an eternal loop
	HelpStart   HelpKind = "start"   // starts a node that the schedule left down
	HelpRange   HelpKind = "range"   // restores the range of its build to a narrowed node
	HelpBuild   HelpKind = "build"   // restarts a node as a build that admits what no live node does
	HelpDelete  HelpKind = "delete"  // deletes an instance that no build admits, with its tree
	HelpWiden   HelpKind = "widen"   // widens a node to every pin (plan.RescueWiden)
)

// String describes the help in a few words.
func (h Help) String() string {
	switch h.Kind {
	case HelpRaise:
		return fmt.Sprintf("%s raised %q for %s", h.Phase, h.Text, h.Name)
	case HelpEnqueue:
		return fmt.Sprintf("%s enqueued %q for %s", h.Phase, h.Text, h.Name)
	case HelpCancel:
		return fmt.Sprintf("%s cancelled %s", h.Phase, h.Name)
	case HelpStart:
		return fmt.Sprintf("%s started node %s", h.Phase, h.Name)
	case HelpBuild:
		return fmt.Sprintf("%s started node %s as build %s", h.Phase, h.Name, h.Text)
	case HelpRange:
		return fmt.Sprintf("%s gave node %s the range of its build, which replayed %s", h.Phase, h.Name, h.Text)
	case HelpDelete:
		return fmt.Sprintf("%s deleted %s, which no build admits", h.Phase, h.Name)
	}
	return fmt.Sprintf("%s widened node %s, which replayed %s", h.Phase, h.Name, h.Text)
}

// Help returns what recovery and rescue have done beyond the plan so far. The caller must not modify it.
func (w *World) Help() []Help { return w.help }

// helped records a Help.
func (b *base) helped(kind HelpKind, name, text string) {
	b.help = append(b.help, Help{VirtualMs: b.nowMs() - b.startMs(), Phase: b.phase, Kind: kind, Name: name, Text: text})
}

// settled reports whether nothing more can happen: no client has anything left to do, no node is about to start or
// resume, and no running node can take work from the store now or later.
func (ph *phases) settled() bool {
	if ph.kernel.Now() <= ph.start.Add(ph.clients.last) {
		return false
	}
	up := false
	for _, n := range ph.fleet.list {
		if n.paused || n.draining || n.startAt != 0 {
			return false
		}
		up = up || n.machine != nil
	}
	for no := range ph.clients.unfinished() {
		p, ok := ph.store.Peek(ph.store.InstanceName(no))
		if finished(p, ok) {
			ph.clients.open.SetAside(no)
			continue
		}
		if p.LockedUntilMs > ph.nowMs() || p.Activities > 0 && ph.served(no) || p.Messages > 0 && (p.Created || p.Starts) && (ph.admitted(p.Pin) || (ph.plan.Strategy == plan.StrategyDeadletter || up && ph.plan.Strategy == plan.StrategySweeper)) {
			return false
		}
	}
	return true
}

// served reports whether a node that is up takes one of the instance's activities.
func (ph *phases) served(no observe.InstanceNo) bool {
	for _, r := range ph.store.PeekRows(ph.store.InstanceName(no)) {
		for i := range ph.infos {
			if n := &ph.infos[i]; r.Queue == observe.QueueWorker && n.Up && n.Options.WorkerConcurrency > 0 && n.Options.WorkerTagFilter.Matches(r.Tag) {
				return true
			}
		}
	}
	return false
}
