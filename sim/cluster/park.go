package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
)

// waitGroup are the parked fetches that ask for the same: one queue and one filter, or one set of tags.
type waitGroup struct {
	key     sim.Key
	kind    engine.CallKind
	filter  *engine.CapabilityFilter
	tags    engine.TagFilter
	text    string // identity of the group
	waiters []int  // calls, in the order of parking
	waking  int    // the call that is being woken, -1 for none
	timer   sim.Handle
	timerAt int64 // store time of the timer
	dirty   bool  // look again whether something is eligible
}

// park lets a fetch wait that found nothing and touched nothing. Its node would poll again at its cadence, counted from
// its first poll; the world does so when there may be something to find.
func (w *World) park(i int) {
	c := w.calls.at(i)
	g := w.groupOf(c)
	c.state = callParked
	if c.parkedAt == 0 {
		c.parkedAt = w.kernel.Now()
	}
	w.groups[g].waiters = append(w.groups[g].waiters, i)
	w.groups[g].dirty = true
	c.group = g
	w.recordCall(RecParked, i)
}

func (w *World) groupOf(c *callState) int {
	if c.group >= 0 {
		return c.group
	}
	g := waitGroup{kind: c.kind, waking: -1, timerAt: never}
	switch r := c.request.(type) {
	case node.FetchOrchestration:
		g.filter = r.Filter
		for i, have := range w.groups {
			if have.kind == g.kind && (have.filter == r.Filter || have.text == filterText(r.Filter)) {
				return i
			}
		}
		g.text = filterText(r.Filter)
	case node.FetchWork:
		g.tags = r.Tags
		for i, have := range w.groups {
			if have.kind == g.kind && sameTags(have.tags, r.Tags) {
				return i
			}
		}
		g.text = "activities"
	}
	g.key = w.root.Name(labelGroup, g.text)
	w.groups = append(w.groups, &g)
	return len(w.groups) - 1
}

func filterText(f *engine.CapabilityFilter) string { return f.String() }

func sameTags(a, b engine.TagFilter) bool {
	if a.Mode != b.Mode || len(a.Tags) != len(b.Tags) {
		return false
	}
	for i := range a.Tags {
		if a.Tags[i] != b.Tags[i] {
			return false
		}
	}
	return true
}

// eligible asks the store by the rules that its fetch follows.
func (w *World) eligible(g *waitGroup) memprovider.Eligibility {
	if g.kind == engine.CallFetchWorkItem {
		return w.store.NextWork(nil, g.tags)
	}
	return w.store.NextOrchestration(g.filter)
}

// pump wakes parked fetches for which something may be eligible: of each group one at a time, the one whose node polls
// first.
func (w *World) pump() {
	changed := w.seenGen != w.store.Generation()
	w.seenGen = w.store.Generation()
	for _, g := range w.groups {
		if len(g.waiters) == 0 || g.waking >= 0 || !changed && !g.dirty && g.timer != (sim.Handle{}) {
			continue
		}
		g.dirty = false
		e := w.eligible(g)
		switch {
		case e.Now:
			w.wakeOne(g)
		case e.AtMs != never && (g.timer == (sim.Handle{}) || g.timerAt != e.AtMs):
			w.kernel.Cancel(g.timer)
			g.timerAt = e.AtMs
			at := max(sim.Time(e.AtMs)*1000, w.kernel.Now())
			g.timer = w.kernel.At(at, g.key, event{kind: evGroup, a: uint64(w.groupIndex(g))})
		}
	}
}

func (w *World) groupIndex(g *waitGroup) int {
	for i := range w.groups {
		if w.groups[i] == g {
			return i
		}
	}
	return -1
}

// wakeOne chooses the waiter of a group whose next poll is due first, and wakes it then.
func (w *World) wakeOne(g *waitGroup) {
	best, bestAt := -1, sim.Time(0)
	for _, i := range g.waiters {
		c := w.calls.at(i)
		if w.alive(c) && w.owner(c).paused {
			continue
		}
		at := w.nextPoll(c)
		if best < 0 || at < bestAt {
			best, bestAt = i, at
		}
	}
	if best < 0 {
		return
	}
	c := w.calls.at(best)
	g.waking = best
	c.wake = w.kernel.At(bestAt, c.key.At(labelWake), event{kind: evWake, node: c.node, inc: c.inc, a: uint64(best)})
}

// nextPoll is when the caller of a parked fetch polls next.
func (w *World) nextPoll(c *callState) sim.Time {
	cadence := w.cadence(c)
	now := w.kernel.Now()
	waited := now.Sub(c.parkedAt)
	periods := (waited + cadence - 1) / cadence
	return c.parkedAt.Add(periods * cadence)
}

func (w *World) cadence(c *callState) time.Duration {
	var d time.Duration
	switch r := c.request.(type) {
	case node.FetchOrchestration:
		d = r.Cadence
	case node.FetchWork:
		d = r.Cadence
	}
	return max(d, time.Millisecond)
}

// onWake tries a parked fetch again.
func (w *World) onWake(i int) {
	c := w.calls.at(i)
	g := w.groups[c.group]
	g.waking, g.dirty = -1, true
	if c.state != callParked || w.alive(c) && w.owner(c).paused {
		return
	}
	w.remove(g, i)
	c.state = callSent
	w.recordCall(RecWoken, i)
	w.execute(i)
}

func (w *World) remove(g *waitGroup, i int) {
	for at, have := range g.waiters {
		if have == i {
			g.waiters = append(g.waiters[:at], g.waiters[at+1:]...)
			return
		}
	}
}

// unpark takes a fetch out of its group.
func (w *World) unpark(i int) {
	c := w.calls.at(i)
	g := w.groups[c.group]
	w.remove(g, i)
	if g.waking == i {
		w.kernel.Cancel(c.wake)
		g.waking = -1
	}
	g.dirty = true
	w.recordCall(RecUnparked, i)
}

// leaveGroups takes the fetches of a dead incarnation out. In turbulence one may stay behind: the store did not notice
// that nobody waits any more, and serves it once.
func (w *World) leaveGroups(n *nodeState) {
	for _, g := range w.groups {
		for at := len(g.waiters) - 1; at >= 0; at-- {
			i := g.waiters[at]
			c := w.calls.at(i)
			if c.node != n.number || c.inc != n.inc {
				continue
			}
			if w.phase == PhaseTurbulence && !n.draining && sim.Chance(w.chooser, c.key.At(labelZombie), 1, 8) {
				continue
			}
			w.unpark(i)
			c.state = callDone
		}
	}
}

// leaveZombies ends what leaveGroups left behind.
func (w *World) leaveZombies() {
	for _, g := range w.groups {
		for at := len(g.waiters) - 1; at >= 0; at-- {
			if i := g.waiters[at]; !w.alive(w.calls.at(i)) {
				w.unpark(i)
				w.calls.at(i).state = callDone
			}
		}
	}
}
