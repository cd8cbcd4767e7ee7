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
	// Text is the name of the event or queue, the node's new build, the node's old range, or the pin that no build admits.
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

// helpTexts describe what the phase, the name and the text of a Help say, by its kind.
var helpTexts = map[HelpKind]string{
	HelpRaise:   "%[1]s raised %[3]q for %[2]s",
	HelpEnqueue: "%[1]s enqueued %[3]q for %[2]s",
	HelpCancel:  "%[1]s cancelled %[2]s",
	HelpStart:   "%[1]s started node %[2]s",
	HelpBuild:   "%[1]s started node %[2]s as build %[3]s",
	HelpRange:   "%[1]s gave node %[2]s the range of its build, which replayed %[3]s",
	HelpDelete:  "%[1]s deleted %[2]s, which no build takes to its end",
	HelpWiden:   "%[1]s widened node %[2]s, which replayed %[3]s",
}

// String describes the help in a few words.
func (h Help) String() string { return fmt.Sprintf(helpTexts[h.Kind], h.Phase, h.Name, h.Text) }

// Help returns what recovery and rescue have done beyond the plan so far. The caller must not modify it.
func (w *World) Help() []Help { return w.help }

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
	swept := ph.plan.Strategy == plan.StrategyDeadletter || up && ph.plan.Strategy == plan.StrategySweeper // work that no node admits ends
	for no := range ph.clients.unfinished() {
		p, ok := ph.store.Peek(ph.store.InstanceName(no))
		if finished(p, ok) {
			ph.clients.open.SetAside(no)
			continue
		}
		if p.LockedUntilMs > ph.nowMs() || p.Activities > 0 && ph.served(no) || p.Messages > 0 && (p.Created || p.Starts) && (ph.admitted(p.Pin, 1) || swept) {
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
