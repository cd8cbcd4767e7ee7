package outcome

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// ID is the property id for reporting unexpected ends.
const ID = "outcome"

// Checker compares how instances ended with what the plan expects.
type Checker struct {
	check.Base
	track.NopListener
	state *track.State
	works *arena.Of[work]
	work  []work     // indexed by instance number
	nodes []nodeStep // indexed by node number - 1
	last  step       // the schedule's most recent step
	told  cluster.Told
	// upThen is upText when an instance was poisoned, or ended only in rescue; never iterated over.
	upThen map[observe.InstanceNo]string
	// breaches are what the plan does not expect, in its order.
	breaches []check.Breach
	// awaited are the events and queues for which code of the run is known to have waited.
	awaited []target
	waiting *cluster.Remark  // of the last activation that waits for a node, or nil
	barred  []cluster.Remark // about nodes that did not start
}

// New returns the checker for a run.
func New(m *check.Run, s *track.State) *Checker {
	base := check.Base{ // the tracker reports everything else
		Run: m, OnObserve: check.SetOf(observe.Damaged, observe.InstanceRemoved),
		OnRecord: check.SetOf(record.Scheduled, record.ClientSent, record.Fault, record.NodeStarted, record.NodeResumed, record.Activated, record.ActivationWaits, record.StartRefused),
	}
	if p := m.World.Plan(); p != nil && p.Strategy == plan.StrategyStall {
		base.OnEnd = check.Ends{OK: check.SetOf(observe.CallAbandonOrchestrationItem)}
	}
	c := &Checker{Base: base, state: s, works: arena.From[work](m.Arena), nodes: make([]nodeStep, len(m.World.Nodes()))}
	s.Subscribe(c)
	return c
}

// work is an instance's state beyond the model.
type work struct {
	end      end
	refusals []refusal
	recovery []string // what recovery sent to the instance, in order
	damaged  bool     // whether an injected fault has damaged what the store keeps of the instance
	hit      bool     // whether an injected fault has made one of its activities panic
	waits    int      // index of its last wait in Checker.told.Waits + 1, or 0 if it has never waited
	deleted  bool
	// withParent means that recovery has cancelled an ancestor, and the instance with it.
	withParent bool
	stuck      string             // what it waited for, and nothing can bring it, when recovery cancelled it, or ""
	early      bool               // whether a message came before it had begun
	starter    observe.InstanceNo // whose code has started it as an independent instance, or 0
	panicked   string             // where its code panicked last, or "" if it did not panic or the place is unknown
}

// end describes the ack that ended an instance.
type end struct {
	atMs   int64 // 0 while it has not ended
	step   uint64
	phase  cluster.Phase
	node   uint32
	build  string
	after  step // the last step that changed the node before that
	poison bool // whether the ack poisoned the instance
	cause  string
}

// refusal is a reason why a node gave back an instance's work, and how often it did so.
type refusal struct {
	node     uint32
	build    string
	after    step
	decision machine.Decision
	cause    string
	unpinned bool
	had      bool   // whether a build of the node has had the handler so far
	undone   step   // the rollback that took that from the node while the instance was there, if one did
	policy   string // the version that the node's policy names for such a start, if it does not have that
	times    int
	spared   int // how many of these deliveries do not count, since the call that gave them back says so and was not lost
}

// step is a schedule step and its time. What the rescue does has no verb.
type step struct {
	verb plan.Verb
	text string
	atMs int64
}

// nodeStep records the last step that changed a node, the steps that removed handlers from the node, and what handlers
// its builds have had so far.
type nodeStep struct {
	step
	frozen step // the pause that it is in, if a step began that
	fell   step // the last step that took it down since it started
	taken  []taken
	had    []handlers
	backs  []back
}

// built reports whether the step gave the node the build or the range that it has.
func (n *nodeStep) built() bool {
	switch n.verb {
	case plan.VerbUpgrade, plan.VerbRollback, plan.VerbWiden, plan.VerbNarrow:
		return true
	}
	return false
}

// back is a rollback of a node: how many elements of had come before it, and the instances that were there by then.
type back struct {
	step
	had, instances int
}

// since returns what the node has had since its last rollback.
func (n *nodeStep) since() []handlers {
	if len(n.backs) == 0 {
		return n.had
	}
	return n.had[n.backs[len(n.backs)-1].had:]
}

// undid returns the last rollback that took what a cause says is missing from the node, if the instance was there by then.
func (n *nodeStep) undid(cause string, no observe.InstanceNo) (by step) {
	from := 0
	for _, b := range n.backs {
		if among(n.had[from:b.had], cause) {
			if by = b.step; int(no) >= b.instances {
				by = step{}
			}
		}
		from = b.had
	}
	return by
}

// handlers is what a node has registered; nil is that of a released runtime, which does not show it.
type handlers interface {
	Orchestrations() []string
	Activities() []string
}

// everHad reports whether one of the node's builds, since the last rollback, may have had the handler or activity that
// a cause says is missing.
func (n *nodeStep) everHad(cause string) bool {
	return cause == "" || slices.ContainsFunc(n.taken, func(t taken) bool { return misses(cause, t.handler) }) || among(n.since(), cause)
}

// among reports whether one of a list may have the handler or activity that a cause says is missing.
func among(list []handlers, cause string) bool {
	named := func(code string) bool { return misses(cause, code) }
	return slices.ContainsFunc(list, func(h handlers) bool {
		return h == nil || slices.ContainsFunc(h.Orchestrations(), named) || slices.ContainsFunc(h.Activities(), named)
	})
}

// misses reports whether a cause says that a handler or an activity is missing. A start may ask for the latest version.
func misses(cause, code string) bool {
	name, _, _ := strings.Cut(code, "@")
	words := strings.Fields(cause)
	return slices.Contains(words, code) || slices.Contains(words, name+"@latest")
}

type taken struct {
	handler string
	step    step
}

// lost returns the step that removed the missing handler or range from the node. If there is none, it returns the last
// step that changed the node.
func (n *nodeStep) lost(cause string) step {
	for _, t := range slices.Backward(n.taken) {
		if misses(cause, t.handler) {
			return t.step
		}
	}
	return n.step
}

func (c *Checker) of(no observe.InstanceNo) *work {
	for len(c.work) <= int(no) {
		c.work = c.works.Append(c.work, work{})
	}
	return &c.work[no]
}

// Observe records damage and deletions.
func (c *Checker) Observe(o *observe.Observation) {
	if o.Kind == observe.Damaged {
		if c.Run.World.Step() == 0 {
			return // the plan begins with it, and says how it is to end
		}
		c.of(o.Instance).damaged = true
		if o.Message == 0 {
			return
		}
		// A node that cannot read a start does not know the parent. So it cannot report to the parent that the id is
		// taken.
		if start, ok := c.Run.Model.Row(o.Message).Item.(engine.StartItem); ok {
			if parent := c.Run.Model.Number(start.ParentInstance); parent != 0 {
				c.of(parent).damaged = true
			}
		}
	} else if !o.Undo {
		*c.of(o.Instance) = work{deleted: true}
	}
}

// Record tracks the schedule's steps, the events that recovery sends, and the faults that decide how work ends.
func (c *Checker) Record(r *cluster.Record) {
	switch r.Kind {
	case record.NodeResumed:
		c.nodes[r.Node-1].frozen = step{}
	case record.NodeStarted:
		c.nodes[r.Node-1].frozen, c.nodes[r.Node-1].fell = step{}, step{}
		if c.Run.World.Phase() == cluster.PhaseRescue {
			c.nodes[r.Node-1].step = step{text: "rescue", atMs: r.AtMs}
		}
		var had handlers
		if has := c.Run.World.Node(r.Node).Registry; has != nil {
			had = has
		}
		if n := &c.nodes[r.Node-1]; !slices.Contains(n.since(), had) {
			n.had = append(n.had, had)
		}
	case record.Scheduled:
		s := step{r.Schedule.Verb, r.Schedule.String(), r.AtMs}
		if r.Schedule.Verb == plan.VerbMark {
			return
		}
		c.last = s
		if r.Node == 0 {
			return
		}
		n := &c.nodes[r.Node-1]
		if verb := r.Schedule.Verb; verb == plan.VerbStop || verb == plan.VerbRemove || verb == plan.VerbCrash || verb.Starts() && c.Run.World.Node(r.Node).Up {
			n.fell = s
		}
		switch r.Schedule.Verb {
		case plan.VerbDeregister:
			n.taken = append(n.taken, taken{r.Schedule.Handler, s})
		case plan.VerbRollback:
			n.step, n.backs = s, append(n.backs, back{s, len(n.had), len(c.Run.Model.Instances)}) // what it had it cannot keep
		case plan.VerbPause:
			n.frozen = s
		case plan.VerbRegister:
		case plan.VerbStart, plan.VerbStop, plan.VerbCrash:
			if !n.built() {
				n.step = s
			}
		default:
			n.step = s
		}
	case record.ActivationWaits:
		c.waiting = &cluster.Remark{
			Kind: cluster.RemarkActivation, About: fmt.Sprintf("%s: %s runs %s", r.Text, c.Run.NodeName(r.Node), c.Run.World.Node(r.Node).Build.Name()),
			Detail: ", asked for at " + c.Run.At(r.AtMs),
		}
	case record.Activated:
		c.waiting = nil
	case record.StartRefused:
		about := fmt.Sprintf("%s as %s: %s", c.Run.NodeName(r.Node), r.Text, c.Run.World.Node(r.Node).Refusal)
		if !slices.ContainsFunc(c.barred, func(m cluster.Remark) bool { return m.About == about }) {
			c.barred = append(c.barred, cluster.Remark{Kind: cluster.RemarkRefused, About: about, Detail: ", at " + c.Run.At(r.AtMs)})
		}
	case record.ClientSent:
		no := c.Run.Model.Number(r.Instance)
		if sent := sentByRecovery(r.Item); sent != "" && c.Run.World.Phase() != cluster.PhaseFaults && no != 0 {
			w := c.of(no)
			if w.end.atMs == 0 && !slices.Contains(w.recovery, sent) {
				w.recovery = append(w.recovery, sent)
			}
			if sent == cancelledIt {
				w.stuck = c.stuckOn(c.Run.Model.Instance(no))
			}
		}
	case record.Fault:
		if no := c.Run.Model.Number(r.Instance); r.Fault == faults.ActivityPanic && no != 0 {
			c.of(no).hit = true
		}
	}
}

// sentByRecovery describes an event that recovery sent. It returns "" for an event that the plan sent.
func sentByRecovery(item engine.WorkItem) string {
	how, name, data := "raised", "", ""
	switch w := item.(type) {
	case engine.ExternalRaisedItem:
		name, data = w.Name, w.Data
	case engine.ExternalRaised2Item:
		name, data = w.Name, w.Data
	case engine.QueueMessageItem:
		how, name, data = "sent", w.Name, w.Data
	case engine.CancelInstanceItem:
		if w.Reason == plan.RecoveryData {
			return cancelledIt
		}
	}
	if data != plan.RecoveryData {
		return ""
	}
	return fmt.Sprintf("%s %q", how, name)
}

const cancelledIt = "cancelled it"

// stuckOn returns the activity of an instance that no node of recovery can run, or "".
func (c *Checker) stuckOn(in *model.Instance) string {
	var nodes []*cluster.NodeInfo
	for i := range c.Run.World.Nodes() {
		if n := c.Run.World.Node(uint32(i + 1)); n.Core && n.Options.WorkerConcurrency > 0 {
			nodes = append(nodes, n)
		}
	}
	for _, r := range in.Work {
		a, ok := engine.Known(r.Item).(engine.ActivityExecuteItem)
		has := func(n *cluster.NodeInfo) bool { return n.HasActivity(a.Name) }
		if lacks := cluster.Unserved(a.Tag, nodes); ok && lacks != "" {
			return fmt.Sprintf("activity %s (event %d)%s", a.Name, a.ID, lacks)
		} else if ok && len(nodes) > 0 && !slices.ContainsFunc(nodes, has) {
			return fmt.Sprintf("activity %s, for which no node that is left has a handler", a.Name)
		}
	}
	return ""
}

// OnNoted records poison, and the reasons why nodes give work back.
func (c *Checker) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	w := c.of(d.Instance)
	switch note.Decision {
	case machine.DecideTurn:
		if note.Turn.PanickedAt != "" {
			w.panicked = note.Turn.PanickedAt
		}
	case machine.DecideDropUnstarted:
		w.early = true
	case machine.DecidePoison, machine.DecideWorkPoison, machine.DecideSwept:
		w.end.poison = w.end.poison || note.Decision != machine.DecideWorkPoison
		if note.Cause != "" {
			w.end.cause = note.Cause
		}
	case machine.DecideHistoryError, machine.DecideIncompatible, machine.DecideNoHandler, machine.DecideWorkNoHandler:
		c.refused(w, n, d, note)
	}
}

func (c *Checker) refused(w *work, n *track.Node, d *track.Delivery, note *machine.Note) {
	for i := range w.refusals {
		if r := &w.refusals[i]; r.node == n.Number && r.decision == note.Decision && r.build == n.Build.Name() {
			r.times++
			return
		}
	}
	by := &c.nodes[n.Number-1]
	w.refusals = append(w.refusals, refusal{
		had: by.everHad(note.Cause), undone: by.undid(note.Cause, d.Instance), policy: c.policy(n.Number, note), node: n.Number, build: n.Build.Name(), after: by.lost(note.Cause), decision: note.Decision, cause: note.Cause, unpinned: d.Pin == nil, times: 1,
	})
}

// Ended counts the deliveries that do not count.
func (c *Checker) Ended(call *model.Call, o *observe.Observation) {
	d := c.state.Find(o.Caller.Node, call.Request.Token)
	if d == nil || !call.Request.IgnoreAttempt {
		return
	}
	w := c.of(d.Instance)
	for i := range w.refusals {
		if r := &w.refusals[i]; r.node == o.Caller.Node && r.decision == d.Decision && r.build == c.state.Node(r.node).Build.Name() {
			r.spared++
		}
	}
}

// policy returns the version that a node's policy names for a start without one, if that is why it misses a handler.
func (c *Checker) policy(number uint32, note *machine.Note) string {
	name, latest := strings.CutSuffix(strings.TrimPrefix(note.Cause, "handler missing: "), "@latest")
	registry := c.Run.World.Node(number).Registry
	if note.Decision != machine.DecideNoHandler || !latest || registry == nil {
		return ""
	}
	v, exact := registry.Policy(name).Version()
	if !exact {
		return ""
	}
	return v.String()
}

// starts records an independent start. One whose id is taken is dropped, without a word to the code.
func (c *Checker) starts(no, by observe.InstanceNo, orchestration string) {
	m := c.Run.Model
	if w := c.of(no); m.Instance(no).Created || w.starter != 0 && !w.deleted {
		c.told.Remarks = append(c.told.Remarks, cluster.Remark{
			Kind: cluster.RemarkStart, About: orchestration + ", started by " + c.handler(m.Instance(by).Latest()), Instance: m.Name(no),
		})
		return
	}
	c.of(no).starter = by
}

// OnCommitted records the ack that ends an instance, and the independent ones that a turn starts.
func (c *Checker) OnCommitted(number uint32, d *track.Delivery, no observe.InstanceNo, call *model.Call) {
	for _, item := range call.Request.Ack.OrchestratorItems {
		if start, ok := engine.Known(item).(engine.StartItem); ok && start.ParentInstance == "" {
			c.starts(c.Run.Model.Number(start.Instance), no, start.Orchestration)
		}
	}
	if status := c.Run.Model.Instance(no).Status(); status != engine.StatusCompleted && status != engine.StatusFailed {
		return
	}
	e := &c.of(no).end
	if e.atMs != 0 {
		return
	}
	e.atMs, e.step, e.phase, e.node = c.Run.World.NowMs(), c.Run.World.Step(), c.Run.World.Phase(), number
	if n := c.state.Node(number); n != nil && n.Build != nil {
		e.build, e.after = n.Build.Name(), c.nodes[number-1].step
	}
	if number == 0 || e.poison || e.phase == cluster.PhaseRescue {
		if c.upThen == nil {
			c.upThen = map[observe.InstanceNo]string{}
		}
		c.upThen[no] = c.upText()
	}
}

// OnWaits records that a wait for a build begins.
func (c *Checker) OnWaits(in *model.Instance, sinceMs int64) {
	w := c.of(in.No)
	c.told.Waits = append(c.told.Waits, cluster.Wait{
		Instance: in.Name, Pin: model.PinText(in.Pin()), FromMs: sinceMs - c.Run.World.StartMs(), After: c.last.text, Open: true,
	})
	w.waits = len(c.told.Waits)
}

// OnWaited records that a wait is over.
func (c *Checker) OnWaited(in *model.Instance) {
	if w := c.of(in.No); w.waits != 0 {
		wait := &c.told.Waits[w.waits-1]
		wait.Rescue = c.Run.World.Phase() == cluster.PhaseRescue
		c.ended(wait, wait.Rescue)
	}
}

func (c *Checker) ended(w *cluster.Wait, open bool) {
	w.ForMs, w.Open = c.Run.World.NowMs()-c.Run.World.StartMs()-w.FromMs, open
}

// sessionMs is how long after the start of recovery the checker waits for a session activity. Liveness has no bound for
// it, because the node that may take it changes with the session's owner.
const sessionMs = 5 * 60 * 1000

// Open reports whether one of the plan's instances has a pending session activity. Everything else that may still end
// an instance is covered by liveness.
func (c *Checker) Open(nowMs int64) (bool, int64) {
	until := c.state.RecoveryMs + sessionMs
	if c.Run.Model.SessionWork == 0 || c.state.RecoveryMs == 0 || nowMs > until {
		return false, 0
	}
	return true, until
}

// Finish judges every instance in the plan.
func (c *Checker) Finish() {
	for i := range c.told.Waits {
		if c.told.Waits[i].Open {
			c.ended(&c.told.Waits[i], true)
		}
	}
	p := c.Run.World.Plan()
	if p == nil {
		return
	}
	c.spread()
	c.spreadRecovery()
	for i := range p.Instances {
		c.judge(&p.Instances[i])
	}
	c.detached(p)
	for i := range p.Histories {
		c.stored(&p.Histories[i])
	}
	at := func(b check.Breach) int64 { return cmp.Or(b.AtMs, math.MaxInt64) } // what has not ended comes last
	slices.SortStableFunc(c.breaches, func(a, b check.Breach) int { return cmp.Compare(at(a), at(b)) })
	for _, b := range c.breaches {
		c.Run.Violate(b)
	}
	c.children()
	c.growth()
	c.withdrawn()
	if c.waiting != nil {
		c.told.Remarks = append(c.told.Remarks, *c.waiting)
	}
	c.told.Remarks = append(c.told.Remarks, c.barred...)
}

// ancestors returns an instance's parent, that parent's parent, and so on. Each appears only once.
func (c *Checker) ancestors(no observe.InstanceNo) (list []observe.InstanceNo) {
	for up := c.state.Instance(no).Parent; up != 0 && !slices.Contains(list, up); up = c.state.Instance(up).Parent {
		list = append(list, up)
	}
	return list
}

// spread handles instances whose end a fault may have decided: it may have decided that of their ancestors, too.
func (c *Checker) spread() {
	for _, in := range c.Run.Model.Instances[1:] {
		if w := c.of(in.No); w.damaged || w.hit {
			for _, up := range c.ancestors(in.No) {
				above := c.of(up)
				above.damaged, above.hit = above.damaged || w.damaged, above.hit || w.hit
			}
		}
	}
}

// spreadRecovery records what recovery sent to an instance with the instance's ancestors, and a cancel request with the
// descendants.
func (c *Checker) spreadRecovery() {
	for _, in := range c.Run.Model.Instances[1:] {
		own := slices.DeleteFunc(slices.Clone(c.of(in.No).recovery), func(sent string) bool { return strings.HasSuffix(sent, forChild) })
		for _, up := range c.ancestors(in.No) {
			w := c.of(up)
			c.of(in.No).withParent = c.of(in.No).withParent || slices.Contains(w.recovery, cancelledIt)
			for _, sent := range own {
				if !slices.Contains(w.recovery, sent+forChild) {
					w.recovery = append(w.recovery, sent+forChild)
				}
			}
		}
	}
}

// forChild is appended to texts about what recovery sent to a descendant.
const forChild = " for a child"

// Told returns how work ended. It must be called after Finish.
func (c *Checker) Told() cluster.Told { return c.told }
