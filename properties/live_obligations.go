package properties

import (
	"cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// turnsMax bounds the turns that an instance may take in calm before it ends.
const turnsMax = 1000

// obligations are what must happen in calm and relief: messages that a live node admits leave their queue (L01, or L03 and
// L04 for those that waited), and instances that a live node runs reach their end (L02). They are looked at when the world
// asks what is open, and at the end of each phase.
//
// Nothing is kept up to date in between: one look costs a pass over the instances that have not ended.
type obligations struct {
	base
	live *liveState
	// What the present look has found.
	openNow bool
	untilMs int64
	now     int64
	ready   int64 // instances with queued messages
	working int64 // queued activities
	// Since when the nodes are those of an upgraded cluster, 0 for not, and its build.
	convergedMs int64
	highest     *engine.Build
}

func newObligations(s *liveState) checker { return &obligations{base: s.base, live: s} }

func (c *obligations) observes() []engine.ObservationKind { return nil }
func (c *obligations) records() []cluster.RecordKind      { return nil }

func (c *obligations) open(nowMs int64) (bool, int64) {
	c.look(nowMs)
	return c.openNow, c.untilMs
}

func (c *obligations) endPhase(p cluster.Phase) {
	c.look(c.m.w.NowMs())
	if p != cluster.PhaseCalm {
		return
	}
	for no := 1; no <= c.m.store.instanceCount(); no++ {
		in := c.m.store.instance(engine.InstanceNo(no))
		if ok, _ := c.live.admitted(in); ok {
			continue
		}
		for _, r := range in.queue {
			c.live.row(r.no).stuck = true
		}
	}
}

// look judges everything at a time.
func (c *obligations) look(nowMs int64) {
	c.now, c.openNow, c.untilMs, c.ready, c.working = nowMs, false, 0, 0, 0
	if c.live.calmMs == 0 {
		c.openNow, c.untilMs = true, neverMs
		return
	}
	store := c.m.store
	for no := 1; no <= store.instanceCount(); no++ {
		in := store.instance(engine.InstanceNo(no))
		if len(in.queue) > 0 {
			c.ready++
		}
		c.working += int64(len(in.work))
	}
	c.converge()
	settling := c.settling()
	for no := 1; no <= store.instanceCount(); no++ {
		in := store.instance(engine.InstanceNo(no))
		mine := c.live.instance(in.no)
		if settling && (mine.known && !mine.ended || len(in.queue) > 0) {
			c.until(c.live.phaseMs + settleMs)
		}
		if len(in.queue) > 0 {
			c.messages(in, settling)
		}
		for _, r := range in.work {
			c.activity(in, r)
		}
		if mine.known && !mine.ended && (in.created || len(in.queue) > 0) {
			c.end(in, mine)
		}
	}
}

// until notes an open obligation.
func (c *obligations) until(ms int64) {
	c.openNow = true
	c.untilMs = max(c.untilMs, ms)
}

// settling says whether core nodes are still on their way up, so that who admits what is not settled.
func (c *obligations) settling() bool {
	if c.now > c.live.phaseMs+settleMs {
		return false
	}
	for i := range c.live.nodes {
		if n := &c.live.nodes[i]; c.m.w.Node(n.number).Core && !n.live() {
			return true
		}
	}
	return false
}

// turnInput is what bounds about an instance's messages are computed from: the live nodes that admit it.
func (c *obligations) turnInput(in *instanceState) boundInput {
	b := boundInput{others: c.ready - 1, lost: c.live.instance(in.no).lost}
	for i := range c.live.nodes {
		if n := &c.live.nodes[i]; c.live.admits(n, in) {
			b.worstOf(&n.options, n.options.OrchestratorLockTimeout, n.options.OrchestrationConcurrency)
		}
	}
	return b
}

// workInput is the same for an activity.
func (c *obligations) workInput(r *rowState) (b boundInput, sinceMs int64) {
	sinceMs = neverMs
	b.others, b.backoffMs = c.working-1, c.live.row(r.no).backoffMs
	for i := range c.live.nodes {
		n := &c.live.nodes[i]
		if takes, _ := c.live.takes(n, r); takes {
			b.worstOf(&n.options, n.options.WorkerLockTimeout, n.options.WorkerConcurrency)
			sinceMs = min(sinceMs, n.liveSinceMs)
		}
	}
	return b, sinceMs
}

// messages judges an instance's queued messages.
func (c *obligations) messages(in *instanceState, settling bool) {
	if !in.hasContext(c.m.store, c.now) && !startQueued(in) {
		return // it waits for a start that nobody has sent
	}
	admitted, since := c.live.admitted(in)
	if !admitted {
		if c.live.phase == cluster.PhaseRelief && !settling {
			c.notWidened(in)
		}
		return
	}
	input := c.turnInput(in)
	start, startMs := boundInput{}, int64(0)
	for _, r := range in.queue {
		if isStart(r.kind) {
			start, startMs = input, max(startMs, c.live.row(r.no).againMs)
			start.backoffMs = max(start.backoffMs, c.live.row(r.no).backoffMs)
		}
	}
	for _, r := range in.queue {
		mine := c.live.row(r.no)
		input.backoffMs = mine.backoffMs
		if mine.firstVisibleMs > c.now {
			continue // its instance answers for it
		}
		from := max(c.live.calmMs, since, mine.firstVisibleMs, mine.againMs, c.live.instance(in.no).outsideMs)
		var b bound
		property := "L01"
		switch {
		case mine.stuck && c.live.phase == cluster.PhaseRelief:
			property, b = "L04", drainBound(input)
		default:
			b = poisonBound(input)
		}
		if waitsForStart(in, r) {
			from = max(from, startMs)
			b.add(1, max(poisonBound(start).ms, b.ms), "for the start before it")
		}
		if c.now <= from+b.ms {
			c.until(from + b.ms)
			continue
		}
		if mine.reported {
			continue
		}
		mine.reported = true
		if property == "L01" && c.live.anyRuns(in) {
			property = "L02"
		}
		c.report(property, in, r, from, b)
	}
	input.backoffMs = 0
	c.delivered(in, input)
	c.recovered(in, input, since)
	c.converged(in, input)
}

// delivered judges that what waited for a node goes on soon after one has appeared (L03).
func (c *obligations) delivered(in *instanceState, input boundInput) {
	mine := c.live.instance(in.no)
	if mine.releasedMs == 0 || mine.waitReported {
		return
	}
	b := deliveryBound(input)
	from := max(c.live.calmMs, mine.releasedMs, mine.outsideMs)
	if !in.visible(c.now) || c.now <= from+b.ms {
		return // it is open already, for a longer time
	}
	mine.waitReported = true
	c.m.liveness("L03", 0, in.no,
		"%s waited until a live node admitted it, %s, and has not been delivered since: bound %s, overdue by %s. Live nodes: %s",
		in.name, c.at(from), b, spanText(c.now-from-b.ms), c.live.whyNot(in))
}

// notWidened judges what nobody admits although the core has been widened (L04).
func (c *obligations) notWidened(in *instanceState) {
	core := false
	for i := range c.live.nodes {
		core = core || c.m.w.Node(c.live.nodes[i].number).Core
	}
	for _, r := range in.queue {
		mine := c.live.row(r.no)
		if !core || !mine.stuck || mine.reported || mine.firstVisibleMs > c.now {
			continue
		}
		mine.reported = true
		c.m.liveness("L04", 0, in.no,
			"message %d (%s) of %s is still queued: the core was widened %s, and no live node admits pin %s. Live nodes: %s",
			r.no, r.kind, in.name, c.at(c.live.phaseMs), pinText(in.pin()), c.live.whyNot(in))
	}
}

// activity judges a queued activity.
func (c *obligations) activity(in *instanceState, r *rowState) {
	mine := c.live.row(r.no)
	input, since := c.workInput(r)
	if input.slots == 0 || mine.firstVisibleMs > c.now {
		return
	}
	b := workBound(input)
	from := max(c.live.calmMs, since, mine.firstVisibleMs, mine.againMs)
	if c.now <= from+b.ms {
		c.until(from + b.ms)
		return
	}
	if mine.reported {
		return
	}
	mine.reported = true
	c.report("L01", in, r, from, b)
}

// end judges that an instance reaches its end (L02), a cancelled one by its cancel (L10).
func (c *obligations) end(in *instanceState, mine *liveInstance) {
	admitted, since := c.live.admitted(in)
	if !admitted || mine.untold || mine.children > 0 && !mine.cancelled || mine.stallReported || !c.live.anyRuns(in) {
		return // nobody can take it on, or its children answer for it, or its messages do
	}
	if mine.parent != 0 && c.leftAlone(mine.parent) {
		return
	}
	var work boundInput
	from, next := max(c.live.calmMs, since, mine.outsideMs), int64(neverMs)
	if mine.cancelMs != 0 {
		from = max(from, mine.cancelMs)
	} else {
		from = max(from, mine.progressMs)
	}
	turn := c.turnInput(in)
	for _, r := range in.queue {
		row := c.live.row(r.no)
		next = min(next, row.firstVisibleMs)
		turn.backoffMs = max(turn.backoffMs, row.backoffMs)
		from = max(from, row.againMs)
	}
	for _, r := range in.work {
		next = min(next, c.live.row(r.no).firstVisibleMs)
		from = max(from, c.live.row(r.no).againMs)
		w, _ := c.workInput(r)
		if w.slots == 0 {
			return // an activity that no live node takes
		}
		work = w
	}
	if next != neverMs && mine.cancelMs == 0 {
		from = max(from, next)
	}
	b := stallBound(turn, work, len(in.work) > 0)
	if c.now <= from+b.ms && mine.turns <= turnsMax {
		c.until(from + b.ms)
		return
	}
	mine.stallReported = true
	property := "L02"
	if mine.cancelMs != 0 {
		property = "L10"
	}
	if mine.turns > turnsMax {
		c.m.liveness(property, 0, in.no, "%s (%s@%s, pin %s) has taken %d turns since calm began %s and has not ended; the bound is %d turns. It is run by: %s",
			in.name, in.orchestration, in.version, pinText(in.pin()), mine.turns, c.at(c.live.calmMs), turnsMax, c.live.whyNot(in))
		return
	}
	c.m.liveness(property, 0, in.no,
		"%s (%s@%s, execution %d, %s, pin %s) has not ended: calm since %s, last progress %s, counted from %s, bound %s, overdue by %s. Queued: %s. Live nodes: %s",
		in.name, in.orchestration, in.version, in.currentID, in.status(), pinText(in.pin()), c.at(c.live.calmMs), c.at(mine.progressMs), c.at(from), b,
		spanText(c.now-from-b.ms), c.queued(in), c.live.whyNot(in))
}

// leftAlone says whether a child of that parent may go on for ever: its parent, which alone may end it, waits for a node that
// admits it, or has ended with a history that could not be read, which cannot say which children it leaves behind.
func (c *obligations) leftAlone(parent engine.InstanceNo) bool {
	in := c.m.store.instance(parent)
	if !c.live.instance(parent).ended {
		admitted, _ := c.live.admitted(in)
		return !admitted
	}
	ex := in.latest()
	return c.m.store.damaged > 0 || ex != nil && ex.event(engine.CorruptedPoisonEventID) != nil
}

// finish compares how the plan's instances ended with how they had to.
func (c *obligations) finish() {
	c.look(c.m.w.NowMs())
	for i := range c.live.plan.Instances {
		p := &c.live.plan.Instances[i]
		no := c.m.store.number(p.ID)
		if no == 0 {
			continue
		}
		in, mine := c.m.store.instance(no), c.live.instance(no)
		if !mine.ended || mine.deleted {
			continue
		}
		want := engine.StatusCompleted
		switch p.Expect {
		case plan.EndAny:
			continue
		case plan.EndFailed, plan.EndEternal, plan.EndPoison:
			want = engine.StatusFailed
		}
		got, output := engine.Status(""), ""
		if ex := in.latest(); ex != nil {
			got, output = ex.status, ex.output
		}
		if got == want || got == engine.StatusFailed && c.excused(mine) {
			continue
		}
		c.m.liveness("L02", 0, no, "%s must end as %s (the plan expects %q) and ended as %s with %q, although nothing cancelled, poisoned or damaged it",
			in.name, want, cmp.Or(p.Expect, plan.EndCompleted), got, output)
	}
}

// excused says whether an instance may have failed for what the plan did to it: a cancel, poison that L05 has judged,
// damage, or an activity that was made to panic.
func (c *obligations) excused(mine *liveInstance) bool {
	if mine.cancelled || mine.poisoned || c.m.store.damaged > 0 {
		return true
	}
	for i := range c.live.plan.Faults.Rates {
		switch r := &c.live.plan.Faults.Rates[i]; r.Kind {
		case "activity-panic", "corrupt-event", "corrupt-message":
			return true
		}
	}
	return false
}
