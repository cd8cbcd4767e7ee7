package liveness

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// farMs is how long after its beginning a phase does not wait for what an ended instance is still sent, such as the
// firing of a timer that it dropped: to wait costs every renewal of a session until then.
const farMs = 24 * 60 * 60 * 1000

// turnsMax limits how many turns an instance may take during recovery before it ends.
const turnsMax = 1000

// obligations tracks what must happen during recovery and rescue. Messages that a live node admits must leave their
// queue (L01, or L03 and L04 for messages that had to wait), and instances that a live node runs must end (L02). The
// obligations are checked whenever the world asks which of them are open, and at the end of each phase.
//
// Between checks, only the list of instances is kept up to date. A check costs one pass over the instances that have
// not ended.
type obligations struct {
	check.Base
	live *track.State
	open observe.Open // instances that may have a pending obligation
	// The results of the current check.
	openNow bool
	untilMs int64
	now     int64
	ready   int64 // how many instances have queued messages
	working int64 // queued activities
	// When the nodes became those of an upgraded cluster, or 0 if they are not, and the build that they run.
	convergedMs int64
	highest     *engine.Build
	planned     map[string]int // indices of the plan's instances, keyed by name; never iterated over, so map order does not matter
	left        []leaving      // indexed by instance number: the activities that left the worker queue last
	moved       departuresOf   // what has left each queue since the last check
	// pending is an instance with work at the last check, if there were many; phaseMs is when that check's phase began.
	pending observe.InstanceNo
	phaseMs int64
	long    longRuns
}

func newObligations(s *track.State) check.Checker {
	return &obligations{live: s, Base: check.Base{
		Run: s.Run, OnRecord: check.SetOf(record.ActivityStarted, record.ActivityFinished),
		OnObserve: check.SetOf(observe.RowInserted, observe.RowRestored, observe.InstanceCreated, observe.InstanceRemoved, observe.StatusSet, observe.RowRemoved),
	}}
}

func (c *obligations) Open(nowMs int64) (bool, int64) {
	if !c.sure(nowMs) {
		c.look(nowMs)
	}
	return c.openNow, c.untilMs
}

// many is the number of instances and activities from which a check waits until an obligation can be overdue. A check of
// every second of recovery costs each of them a look, which with thousands takes longer than what they do.
const many = 256

// sure reports whether the result of the last check surely holds: no obligation is overdue before untilMs, and
// something that was pending still is. Obligations that have come since are overdue later; bounds that have become
// shorter since are noticed at untilMs.
func (c *obligations) sure(nowMs int64) bool {
	if c.pending == 0 || !c.openNow || nowMs > c.untilMs || c.phaseMs != c.live.PhaseMs {
		return false
	}
	in := c.Run.Model.Instance(c.pending)
	return in.Visible(nowMs) || len(in.Work) > 0
}

func (c *obligations) EndPhase(p cluster.Phase) {
	c.look(c.Run.World.NowMs())
	if p != cluster.PhaseRecovery && p != cluster.PhaseRescue {
		return
	}
	for _, in := range c.Run.Model.Instances[1:] {
		if ok, _ := c.live.Admitted(in); ok {
			continue
		}
		for _, r := range in.Queue {
			c.live.Row(r.No).Stuck = true
		}
	}
}

// look checks every obligation at the given time.
func (c *obligations) look(nowMs int64) {
	c.now, c.openNow, c.untilMs, c.ready, c.working = nowMs, false, 0, 0, 0
	c.pending, c.phaseMs = 0, c.live.PhaseMs
	defer func() { c.moved = departuresOf{} }()
	if c.live.RecoveryMs == 0 {
		c.openNow, c.untilMs = true, model.NeverMs
		return
	}
	store := c.Run.Model
	open := c.open.Upto(observe.InstanceNo(len(store.Instances) - 1))
	unsettled := int64(0)
	for no := range open {
		unsettled++
		in := store.Instance(no)
		if len(in.Queue) > 0 {
			c.ready++
		}
		c.working += int64(len(in.Work))
		c.moves(in)
		if in.Visible(nowMs) || len(in.Work) > 0 {
			c.pending = no
		}
	}
	if unsettled+c.working < many {
		c.pending = 0
	}
	c.converge()
	c.long.look(c.Run.Model, nowMs)
	settling := c.settling()
	for no := range open {
		in := store.Instance(no)
		mine := c.live.Instance(no)
		if len(in.Queue) == 0 && len(in.Work) == 0 && (!mine.Known || mine.Ended) {
			c.open.SetAside(no)
			continue
		}
		if settling && (mine.Known && !mine.Ended || len(in.Queue) > 0) {
			c.until(c.live.PhaseMs + settleMs)
		}
		if len(in.Queue) > 0 {
			c.messages(in)
		}
		for _, r := range in.Work {
			c.activity(in, r)
		}
		// A start may have been deleted before its instance began; a cancel that is sent then waits for another start.
		if mine.Known && !mine.Ended && (in.Created || model.StartQueued(in)) {
			c.end(in, mine)
		}
	}
}

// until records a pending obligation that becomes overdue at ms.
func (c *obligations) until(ms int64) {
	if !c.openNow || ms < c.untilMs {
		c.untilMs = ms
	}
	c.openNow = true
}

// settling reports whether core nodes are still starting, so that it may still change which nodes admit an instance.
func (c *obligations) settling() bool {
	if c.now > c.live.PhaseMs+settleMs {
		return false
	}
	for i := range c.live.Nodes {
		if n := &c.live.Nodes[i]; c.Run.World.Node(n.Number).Core && !n.Live() {
			return true
		}
	}
	return false
}

// turnInput returns the input for bounds on an instance's messages, from the live nodes that admit the instance.
func (c *obligations) turnInput(in *model.Instance) boundInput {
	b := boundInput{others: c.ready - 1, lost: c.live.Instance(in.No).Lost}
	for i := range c.live.Nodes {
		if n := &c.live.Nodes[i]; c.live.Admits(n, in) {
			b.worstOf(&n.Options, n.Options.OrchestratorLockTimeout, n.Options.OrchestrationConcurrency)
		}
	}
	b.cadenceMs += c.lineMs()
	return b
}

// workInput is like turnInput, for an activity, and the nodes that Takes or Serves reports.
func (c *obligations) workInput(r *model.Row, by func(n *track.Node, r *model.Row) (takes, has bool)) (b boundInput, sinceMs int64) {
	sinceMs = model.NeverMs
	b.others, b.backoffMs = c.working-1, c.live.Row(r.No).BackoffMs
	for i := range c.live.Nodes {
		n := &c.live.Nodes[i]
		if takes, _ := by(n, r); takes {
			b.worstOf(&n.Options, n.Options.WorkerLockTimeout, n.Options.WorkerConcurrency)
			sinceMs = min(sinceMs, n.LiveSinceMs)
		}
	}
	if n := c.live.Node(r.Lock.Holder.Node); n != nil && r.Lock.Live(c.now) && b.slots > 0 { // it may be stopping, and hold what it still runs
		b.lockMs = max(b.lockMs, n.Options.WorkerLockTimeout.Milliseconds())
	}
	b.cadenceMs += c.lineMs()
	return b, sinceMs
}

// lineMs returns how much longer a poll may take than its node waits for it: the poll may have to wait behind the polls
// of all other slots, and the node's clock may be slow.
func (c *obligations) lineMs() int64 {
	serial := c.live.Plan.Store.Serial.Milliseconds()
	slots := int64(0)
	for i := range c.live.Nodes {
		if n := &c.live.Nodes[i]; n.Up {
			slots += int64(n.Options.OrchestrationConcurrency + n.Options.WorkerConcurrency)
		}
	}
	return slots*serial + c.Run.SkewMs()
}

func (c *obligations) messages(in *model.Instance) {
	if !in.HasContext(c.Run.Model, c.now) && !model.StartQueued(in) {
		return // the message waits for a start that no client has sent
	}
	if c.incomplete(in) && in.Status() == engine.StatusContinuedAsNew && !model.StartQueued(in) {
		return // it waits for a continue-as-new that the store had lost
	}
	admitted, since := c.live.Admitted(in)
	if !admitted {
		if !c.live.Plan.Strategy.Waits() && !c.settling() {
			c.blocked(in)
		}
		return // rescue must free it, which Finish checks
	}
	input := c.turnInput(in)
	start, startMs, starts := boundInput{}, int64(0), 0
	if int(in.No) < len(c.left) {
		startMs = c.left[in.No].startMs
	}
	for _, r := range in.Queue {
		if model.IsStart(r.Kind) {
			starts++
			longest := max(start.backoffMs, c.live.Row(r.No).BackoffMs)
			start, startMs = input, max(startMs, c.live.Row(r.No).AgainMs)
			start.backoffMs = longest
		}
	}
	for _, r := range in.Queue {
		mine := c.live.Row(r.No)
		input.backoffMs = mine.BackoffMs
		if mine.FirstVisibleMs > c.now {
			far := c.live.Instance(in.No).Ended && mine.FirstVisibleMs > c.live.PhaseMs+farMs
			if !far && !c.live.AnyRuns(in) { // if a node runs it, the instance's own obligation covers this
				c.until(mine.FirstVisibleMs + poisonBound(input).ms)
			}
			continue
		}
		from := max(c.live.RecoveryMs, since, mine.FirstVisibleMs, mine.MovedMs, mine.AgainMs, c.live.Instance(in.No).OutsideMs)
		var b bound
		property := "L01"
		switch {
		case mine.Stuck && c.live.Phase == cluster.PhaseRescue:
			property, b = "L04", drainBound(input)
		default:
			b = poisonBound(input)
		}
		// A further start waits for the one before it, too, and is poison only with it.
		further := false
		for _, d := range [...]machine.Decision{mine.LastDecision, mine.Before} {
			further = further || d == machine.DecideWaitForStart || starts > 1 && d == machine.DecideNoHandler
		}
		if model.WaitsForStart(in, r) || further {
			from = max(from, startMs)
			b.add(1, max(poisonBound(start).ms, b.ms), "for the start before it")
		}
		if !c.overdue(mine, from, b) {
			continue
		}
		if property == "L01" && c.live.AnyRuns(in) {
			property = "L02"
		}
		c.report(property, in, r, from, b)
	}
	c.delivered(in, input)
	c.recovered(in, input, since)
	c.converged(in, input)
}

// delivered checks that work that has been waiting for a node continues soon after such a node is up (L03).
func (c *obligations) delivered(in *model.Instance, input boundInput) {
	mine := c.live.Instance(in.No)
	if mine.ReleasedMs == 0 || mine.WaitReported {
		return
	}
	b := deliveryBound(input)
	from := max(c.eligibleMs(in), mine.ReleasedMs)
	if c.now-b.ms <= from {
		return // a longer obligation is already pending
	}
	mine.WaitReported = true
	c.instance("L03", 0, in,
		"%s waited until a live node admitted it at %s, but has not been delivered since: bound %s, overdue by %s. Live nodes: %s",
		in.Name, c.Run.At(from), b, pretty.Duration(c.now-from-b.ms), c.live.WhyNot(in))
}

func (c *obligations) activity(in *model.Instance, r *model.Row) {
	mine := c.live.Row(r.No)
	input, since := c.workInput(r, c.live.Takes)
	if input.slots == 0 {
		c.unserved(in, r)
		return
	}
	if mine.FirstVisibleMs > c.now {
		return
	}
	b := workBound(input)
	from := max(c.live.RecoveryMs, since, mine.FirstVisibleMs, mine.MovedMs, mine.AgainMs, c.long.untilMs)
	if c.overdue(mine, from, b) {
		c.report("L01", in, r, from, b)
	}
}

// overdue reports, once, whether a message's bound is over.
func (c *obligations) overdue(row *track.Row, from int64, b bound) bool {
	if c.now <= from+b.ms {
		c.until(from + b.ms)
		return false
	}
	first := !row.Reported
	row.Reported = true
	return first
}

// end checks that an instance ends (L02), and that a cancelled instance ends because of its cancel (L10).
func (c *obligations) end(in *model.Instance, mine *track.Instance) {
	admitted, since := c.live.Admitted(in)
	if !admitted || mine.Untold || c.incomplete(in) || mine.Children > 0 && !mine.Cancelled || mine.StallReported || !c.live.AnyRuns(in) {
		return // either no node can continue it, or its children or messages have their own obligations
	}
	alone := c.leftAlone(in, mine)
	if len(in.Queue) == 0 && len(in.Work) == 0 && c.unaided(in) {
		return // it waits for an event that, according to the plan, no client sends
	}
	var work boundInput
	inSession := false
	from, next := max(c.live.RecoveryMs, since, mine.OutsideMs, c.movedMs(in.Queue), c.movedMs(in.Work)), int64(model.NeverMs)
	switch {
	case alone:
	case mine.CancelMs != 0:
		from = max(from, mine.CancelMs)
	default:
		from = max(from, mine.ProgressMs)
	}
	turn := c.turnInput(in)
	for _, r := range in.Queue {
		row := c.live.Row(r.No)
		next = min(next, row.FirstVisibleMs)
		turn.backoffMs = max(turn.backoffMs, row.BackoffMs)
		from = max(from, row.AgainMs)
		if model.IsStart(r.Kind) { // a cancel waits for it
			from = max(from, row.FirstVisibleMs)
		}
	}
	for _, r := range in.Work {
		next = min(next, c.live.Row(r.No).FirstVisibleMs)
		from = max(from, c.live.Row(r.No).AgainMs)
		w, _ := c.workInput(r, c.live.Takes)
		if w.slots == 0 {
			w, _ = c.workInput(r, c.live.Serves)
			inSession = true
		}
		if w.slots == 0 {
			return // it waits for an activity that no live node serves
		}
		work = w
		from = max(from, c.long.untilMs)
	}
	if next != model.NeverMs && mine.CancelMs == 0 {
		from = max(from, next)
	}
	b := stallBound(turn, work, len(in.Work) > 0)
	endless := mine.Turns > turnsMax
	if c.now <= from+b.ms && !endless {
		c.until(from + b.ms)
		return
	}
	if alone || inSession {
		return // its bound has passed, so from now on it may take forever; and a session's owner may keep its work waiting
	}
	if open, ms := c.atEnded(in); open {
		if ms == model.NeverMs {
			return // it waits for a build, because the ended instance keeps its pin
		}
		if from = max(from, ms); c.now <= from+b.ms {
			c.until(from + b.ms)
			return
		}
	}
	if mine.CancelMs == 0 && !endless && (c.asks(in) || c.wantsMore(in, mine)) {
		return
	}
	if endless && c.now <= from+b.ms || len(in.Queue) == 0 && len(in.Work) == 0 {
		open, ms := c.raced(mine)
		if open {
			return // its parent may end it, and clients decide no race
		}
		if from = max(from, ms); c.now <= from+b.ms && !endless {
			c.until(from + b.ms)
			return
		}
	}
	mine.StallReported = true
	if endless && c.goesOn(in, mine) {
		return
	}
	property := "L02"
	if mine.CancelMs != 0 {
		property = "L10"
	}
	if endless {
		hint := ""
		if in.CurrentID > 1 && mine.CancelMs == 0 && !c.Run.Broken() && !c.Run.Planted() {
			hint = `. It continues as new: if it should run until it is cancelled, write "expect eternal" after it`
		}
		c.instance(property, 0, in, "%s (%s@%s, pin %s) has taken %d turns since recovery began at %s without ending; the bound is %d turns. Nodes that run it: %s%s",
			in.Name, in.Orchestration, in.Version, model.PinText(in.Pin()), mine.Turns, c.Run.At(c.live.RecoveryMs), turnsMax, c.live.WhyNot(in), hint)
		return
	}
	c.instance(property, 0, in,
		"%s has not ended: recovery since %s, last progress %s, counted from %s, bound %s, overdue by %s%s. Queued: %s%s. Live nodes: %s",
		current(in), c.Run.At(c.live.RecoveryMs), c.at(mine.ProgressMs), c.Run.At(from), b,
		pretty.Duration(c.now-from-b.ms), c.waits(in), c.queued(in), c.lastLeft(in), c.live.WhyNot(in))
}

// goesOn reports whether an instance of the plan goes on by continuing as new, at least once in a hundred turns. It may be
// a loop that runs until it is cancelled, of which the plan does not say that: outcome judges it. Programs are no such loops.
func (c *obligations) goesOn(in *model.Instance, mine *track.Instance) bool {
	planned := slices.ContainsFunc(c.live.Plan.Instances, func(p plan.Instance) bool { return p.ID == in.Name })
	return planned && mine.CancelMs == 0 && c.live.Plan.Programs.Lookup(in.Orchestration) == nil && in.CurrentID >= uint64(mine.RecoveryID)+turnsMax/100
}

// asks reports whether a start that an instance has asked for is queued for an id that another child has, or a child
// that took that id over is still running. Their own obligations cover that.
func (c *obligations) asks(parent *model.Instance) bool {
	for _, in := range c.Run.Model.Instances[1:] {
		if in.Created && in.Parent.Instance == parent.Name && !in.Status().Terminal() {
			return true
		}
		for _, r := range in.Queue {
			if start, ok := r.Item.(engine.StartItem); ok && start.ParentInstance == parent.Name {
				return true
			}
		}
	}
	return false
}

// wantsMore reports whether an instance that waits for nothing but clients has taken all the events that these raise in
// recovery. What it lacks is the plan's affair, which outcome judges.
func (c *obligations) wantsMore(in *model.Instance, mine *track.Instance) bool {
	if len(in.Queue) > 0 || len(in.Work) > 0 || mine.Turns < cluster.MaxRaises {
		return false
	}
	taken := 0
	for _, ex := range in.Executions {
		for i := range ex.Events {
			switch eventdata.Kind(c.Run.Model.Kinds.Name(ex.Events[i].Kind)) {
			case eventdata.KindExternalEvent, eventdata.KindExternalEvent2, eventdata.KindQueueEventDelivered:
				taken++
			}
		}
	}
	return taken >= cluster.MaxRaises
}

// Finish looks for work that rescue has not freed (L04). It also looks for instances of the plan that failed although
// their code did not fail, and nothing cancelled, poisoned or damaged them (L02). It does not check whether instances
// ended as the plan expects.
func (c *obligations) Finish() {
	c.look(c.Run.World.NowMs())
	for _, in := range c.Run.Model.Instances[1:] {
		c.notFreed(in)
	}
	for i := range c.live.Plan.Instances {
		no := c.Run.Model.Number(c.live.Plan.Instances[i].ID)
		if no == 0 {
			continue
		}
		in, mine := c.Run.Model.Instance(no), c.live.Instance(no)
		ex := in.Latest()
		if !mine.Ended || mine.Deleted || ex == nil || ex.Status != engine.StatusFailed || c.excused(mine) {
			continue
		}
		d, ok := c.Run.Model.Failure(ex)
		if ok && (d.Application != nil || d.Poison != nil || d.Infrastructure != nil && d.Infrastructure.Operation == "quiescence_loop") {
			continue // poison is L05's, that of a child whose id another parent has, too; code that asks for ever is to blame itself
		}
		c.Run.Violate(check.Breach{Property: "L02", Class: cluster.ClassLiveness, Instance: no, Cause: "failed with " + check.Alike(in.Name, ex.Output),
			Message: fmt.Sprintf("%s failed with %q, although neither its own code failed nor did anything cancel, poison or damage it", in.Name, ex.Output)})
	}
}

// excused reports whether the plan may be the reason why an instance failed: a cancel, poison that L05 judges, damage,
// or an activity that was made to panic.
func (c *obligations) excused(mine *track.Instance) bool {
	f := &c.live.Plan.Faults
	return mine.Cancelled || mine.Poisoned || c.Run.Model.Damaged > 0 || f.Has(faults.ActivityPanic) || f.Has(faults.CorruptEvent) || f.Has(faults.CorruptMessage)
}
