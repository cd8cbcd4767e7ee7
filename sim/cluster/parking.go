package cluster

import (
	"math"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/record"
)

// parking holds the fetches that found nothing until the store reports that something may be eligible.
type parking struct {
	*base
	network *network
	groups  []*waitGroup
	seenGen uint64 // the store's generation when parked fetches were last checked
	dirty   bool   // whether any group is
}

// waitGroup holds parked fetches that look for the same work: they have the same queue and the same filter or tags.
type waitGroup struct {
	key    sim.Key
	kind   observe.CallKind
	filter *engine.CapabilityFilter
	tags   engine.TagFilter
	// sessions is set if each fetch has its own session owner.
	sessions bool
	waiters  []*callState  // in parking order
	waking   *callState    // the call being woken, or nil
	timer    kernel.Handle // fires when time may have made something eligible
	timerAt  int64         // store time of the timer, in milliseconds
	dirty    bool          // recheck eligibility even if the store has not changed
	// eligible is the store's last answer, given when the queue's generation was seen.
	eligible memprovider.Eligibility
	asked    bool
	seen     uint64
}

// park parks a fetch that found nothing and changed nothing. A real node would poll again at its interval, counted from
// its first poll; the world polls only when there may be something to find.
func (p *parking) park(c *callState) {
	g := p.groupOf(c)
	c.state = callParked
	if c.parkedAt == 0 {
		c.parkedAt = p.kernel.Now()
	}
	p.groups[g].waiters = append(p.groups[g].waiters, c)
	p.mark(p.groups[g])
	c.group = g
	p.network.recordCall(record.Parked, c)
}

// groupOf returns the index of a fetch's group, creating the group if necessary.
func (p *parking) groupOf(c *callState) int {
	if c.group >= 0 {
		return c.group
	}
	var filter *engine.CapabilityFilter
	var tags engine.TagFilter
	name, sessions := "activities", false
	switch r := c.request.(type) {
	case call.FetchOrchestrationItem:
		filter = r.Filter
	case call.FetchWorkItem:
		tags, sessions = r.Tags, r.Session != nil
	}
	for i, g := range p.groups {
		if g.kind == c.kind && sameFilter(g.filter, filter) && g.tags.Mode == tags.Mode && slices.Equal(g.tags.Tags, tags.Tags) && g.sessions == sessions {
			return i
		}
	}
	if c.kind == observe.CallFetchOrchestrationItem {
		name = filter.String()
	}
	p.groups = append(p.groups, &waitGroup{
		key: p.root.Name(labelGroup, name), kind: c.kind, filter: filter, tags: tags, sessions: sessions, timerAt: never,
	})
	return len(p.groups) - 1
}

func sameFilter(a, b *engine.CapabilityFilter) bool {
	return a == b || a != nil && b != nil && slices.Equal(a.SupportedVersions, b.SupportedVersions)
}

// eligible returns what the group's fetches may find under the store's rules. It asks the store again only if the queue
// has changed.
func (p *parking) eligible(g *waitGroup) memprovider.Eligibility {
	if p.bySession(g) {
		return p.eligibleToAny(g)
	}
	queue := observe.QueueOrchestrator
	if g.kind == observe.CallFetchWorkItem {
		queue = observe.QueueWorker
	}
	if generation := p.store.QueueGeneration(queue); !g.asked || g.seen != generation {
		g.asked, g.seen = true, generation
		if queue == observe.QueueWorker {
			g.eligible = p.store.NextWork(nil, g.tags)
		} else {
			g.eligible = p.store.NextOrchestration(g.filter)
		}
	}
	return g.eligible
}

// eligibleToAny asks the store about each waiter of the group that is not on a frozen node.
func (p *parking) eligibleToAny(g *waitGroup) memprovider.Eligibility {
	best := memprovider.Eligibility{AtMs: never}
	for _, c := range g.waiters {
		if c.alive() && c.owner.paused {
			continue
		}
		e := p.eligibleTo(c, g)
		if e.Now {
			return e
		}
		best.AtMs = min(best.AtMs, e.AtMs)
	}
	return best
}

// bySession reports whether what a waiter of the group may find depends on the sessions it owns.
func (p *parking) bySession(g *waitGroup) bool { return g.sessions && p.store.HasSessions() }

func (p *parking) eligibleTo(c *callState, g *waitGroup) memprovider.Eligibility {
	return p.store.NextWork(c.request.(call.FetchWorkItem).Session, g.tags)
}

// pump wakes parked fetches for which something may be eligible. It wakes at most one fetch per group, the one whose
// node polls first.
func (p *parking) pump() {
	changed := p.seenGen != p.store.Generation()
	if !changed && !p.dirty {
		return
	}
	p.seenGen, p.dirty = p.store.Generation(), false
	for i, g := range p.groups {
		if len(g.waiters) == 0 || g.waking != nil || !changed && !g.dirty {
			continue
		}
		g.dirty = false
		e := p.eligible(g)
		switch {
		case e.Now || e.Drops:
			p.wakeOne(g)
		case e.AtMs != never && g.timerAt != e.AtMs:
			p.kernel.Cancel(g.timer)
			g.timerAt = e.AtMs
			at := max(sim.Time(e.AtMs)*1000, p.kernel.Now())
			g.timer = p.kernel.At(at, g.key, event{kind: evGroup, a: uint64(i)})
		}
		if changed && !e.Now && !e.Drops {
			p.pollInVain(g)
		}
	}
}

// pollInVain lets a waiter poll even though the store has nothing for it. Real nodes do that all the time. Here it
// happens only occasionally, when there is work that the filter must not touch, so that parking does not hide a
// provider that touches such work. With a store other than durosim's own, it happens whether or not there is such work.
// If the provider is correct, the poll changes nothing. No fault applies to it either, so it has no other effect.
func (p *parking) pollInVain(g *waitGroup) {
	if p.foreign == nil && g.filter == nil || !sim.Chance(p.chooser, g.key.Num(labelWake, p.seenGen), 1, 4) ||
		p.foreign == nil && !p.store.NextOrchestration(nil).Now {
		return
	}
	if c, at := p.firstToPoll(g, true); c != nil {
		p.kernel.At(at, c.key.At(labelWake), event{kind: evEmptyPoll, node: c.node, inc: c.inc, a: c.no})
	}
}

// onEmptyPoll carries out such a poll, unless the waiter has been woken or may find something after all.
func (p *parking) onEmptyPoll(c *callState) {
	if c.state != callParked || !c.alive() || c.owner.paused {
		return
	}
	g := p.groups[c.group]
	if e := p.eligible(g); g.waking != nil || e.Now || e.Drops {
		return
	}
	p.remove(g, c)
	c.state, c.emptyPoll = callSent, true
	p.network.recordCall(record.Woken, c)
	p.network.execute(c)
	c.emptyPoll = false
}

// onGroup marks a group that may find something because time has passed.
func (p *parking) onGroup(g *waitGroup) {
	g.timerAt = never
	p.mark(g)
}

// mark has pump check a group again. Whatever lets a group wake a waiter that it could not wake before must mark it.
func (p *parking) mark(g *waitGroup) { g.dirty, p.dirty = true, true }

// wakeOne wakes one waiter of a group: the one that polls next, at the time of that poll.
func (p *parking) wakeOne(g *waitGroup) {
	c, at := p.firstToPoll(g, false)
	if c == nil {
		return
	}
	g.waking = c
	c.wake = p.kernel.At(at, c.key.At(labelWake), event{kind: evWake, node: c.node, inc: c.inc, a: c.no})
}

// firstToPoll returns the waiter of a group that polls next and the time of that poll, or nil if none polls. Among
// waiters that poll at the same time, the earliest call wins, regardless of the order of parking.
func (p *parking) firstToPoll(g *waitGroup, alive bool) (best *callState, bestAt sim.Time) {
	for _, c := range g.waiters {
		if c.alive() && c.owner.paused || alive && !c.alive() {
			continue
		}
		if p.bySession(g) && !p.eligibleTo(c, g).Now {
			continue
		}
		at := p.nextPoll(c)
		if best == nil || at < bestAt || at == bestAt && c.no < best.no {
			best, bestAt = c, at
		}
	}
	return best, bestAt
}

// nextPoll returns when the caller of a parked fetch polls next: now at the earliest, and never twice at the same time.
func (p *parking) nextPoll(c *callState) sim.Time {
	every := max(c.cadence, time.Millisecond)
	at := p.kernel.Now()
	if parked := at.Sub(c.parkedAt); parked <= math.MaxInt64-every { // a run may wait for a timer that means for ever
		at = c.parkedAt.Add((parked + every - 1) / every * every)
	}
	if at == c.triedAt {
		at = at.Add(every)
	}
	return at
}

func (p *parking) onWake(c *callState) {
	g := p.groups[c.group]
	g.waking = nil
	p.mark(g)
	if c.state != callParked || c.alive() && c.owner.paused {
		return
	}
	p.remove(g, c)
	c.state = callSent
	p.network.recordCall(record.Woken, c)
	p.network.arrive(c)
}

// leaveWaking cancels the wake-ups of a node that is frozen and will not poll, so that other waiters can be woken.
func (p *parking) leaveWaking(n *nodeState) {
	for _, g := range p.groups {
		if c := g.waking; c != nil && c.node == n.number && c.inc == n.inc {
			p.kernel.Cancel(c.wake)
			g.waking = nil
			p.mark(g)
		}
	}
}

func (p *parking) remove(g *waitGroup, c *callState) {
	if at := slices.Index(g.waiters, c); at >= 0 {
		g.waiters = slices.Delete(g.waiters, at, at+1)
	}
}

func (p *parking) unpark(c *callState) {
	g := p.groups[c.group]
	p.remove(g, c)
	if g.waking == c {
		p.kernel.Cancel(c.wake)
		g.waking = nil
	}
	p.mark(g)
	p.network.recordCall(record.Unparked, c)
}

// leaveGroups removes the fetches of a dead incarnation from their groups. In the fault phase some of them may stay:
// the store has not noticed that their caller is gone, and serves them once.
func (p *parking) leaveGroups(n *nodeState) {
	p.leave(func(c *callState) bool {
		return c.node == n.number && c.inc == n.inc && (p.phase != PhaseFaults || !sim.Chance(p.chooser, c.key.At(labelZombie), 1, 8))
	})
}

// leaveZombies removes the fetches that leaveGroups has left in their groups.
func (p *parking) leaveZombies() { p.leave(func(c *callState) bool { return !c.alive() }) }

// leave removes the fetches that are gone from their groups.
func (p *parking) leave(gone func(c *callState) bool) {
	for _, g := range p.groups {
		for _, c := range slices.Backward(g.waiters) {
			if gone(c) {
				p.unpark(c)
				c.state = callDone
			}
		}
	}
}
