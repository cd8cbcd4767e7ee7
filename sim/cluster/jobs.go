package cluster

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/record"
)

var (
	drawsSlowTurn      = drawnKindOf(faults.SlowTurn)
	drawsPauseNode     = drawnKindOf(faults.PauseNode)
	drawsLateActivity  = drawnKindOf(faults.LateActivity)
	drawsActivityPanic = drawnKindOf(faults.ActivityPanic)
	drawsForgets       = drawnKindOf(faults.ExecutionForgotten)
)

// timer is a timer set by a node. The lists of timers and jobs are short, because a node has only a few slots.
type timer struct {
	id     machine.TimerID
	handle kernel.Handle
}

// job is a turn or an activity that is running on a node.
type job struct {
	id       machine.JobID
	handle   kernel.Handle
	activity *machine.RunActivity // nil for a turn
}

// take removes the element that is wanted from a list. ok is false if there is none.
func take[T any](list *[]T, wanted func(T) bool) (t T, ok bool) {
	i := slices.IndexFunc(*list, wanted)
	if i < 0 {
		return t, false
	}
	t = (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return t, true
}

// takeTimer removes a timer from the list, unless it is not set.
func (n *nodeState) takeTimer(id machine.TimerID) (timer, bool) {
	return take(&n.timers, func(t timer) bool { return t.id == id })
}

// takeJob removes a job from the list, unless it is not running.
func (n *nodeState) takeJob(id machine.JobID) (job, bool) {
	return take(&n.jobs, func(j job) bool { return j.id == id })
}

// performer is a machine that runs an activity's code before its job is finished, so that the code can sleep.
type performer interface {
	Perform(job machine.JobID, nowMs int64) time.Duration
}

// onNodeEvent passes a due timer or a finished job to its node if the incarnation is still up.
func (f *fleet) onNodeEvent(e event) {
	n := f.list[e.node-1]
	if n.machine == nil || n.inc != e.inc {
		return
	}
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	if e.kind == evTimer {
		if t, ok := n.takeTimer(machine.TimerID(e.a)); ok {
			f.wake = machine.Wake{NowMs: f.clockMs(n), Timer: t.id}
			f.step(n, &f.wake)
		}
		return
	}
	j, ok := n.takeJob(machine.JobID(e.a))
	if !ok {
		return
	}
	if m, ok := n.machine.(performer); ok && j.activity != nil && e.b == 0 {
		if d := m.Perform(j.id, f.clockMs(n)); d > 0 {
			f.addJob(n, j, n.incKey.Num(labelJob, e.a).At(labelSlept), d, false)
			return
		}
	}
	in := &f.finished
	*in = machine.Finished{NowMs: f.clockMs(n), Job: j.id}
	if e.b != 0 {
		in.Panic = record.ActivityPanicText
	}
	if j.activity != nil {
		r := f.newRecord(record.ActivityFinished, n.number, n.inc)
		r.Activity, r.Text = j.activity, in.Panic
		f.emit()
	}
	f.step(n, in)
}

// jobTime draws how long a job takes: the least or up to the most, or, if the fault happens, about as long as its lock.
func (f *fleet) jobTime(n *nodeState, key sim.Key, fault drawnKind, instance string, lock, least, most time.Duration) time.Duration {
	switch {
	case f.draws(fault, n.plan.Name, key):
		d := f.around(key, lock)
		f.recordJobFault(n, fault.kind(), instance, d)
		return d
	case sim.Pick(f.chooser, key, leastOrTypical) == 1:
		return sim.Between(f.chooser, key.At(labelAmount), least, most)
	}
	return least
}

// runTurn draws how long a turn takes, although it has already been computed. It may freeze the node in the meantime.
func (f *fleet) runTurn(n *nodeState, c *machine.RunTurn) {
	key := n.incKey.Num(labelJob, uint64(c.Job))
	d := f.jobTime(n, key, drawsSlowTurn, c.Instance, c.LockTimeout, 500*time.Microsecond, 15*time.Millisecond)
	f.addJob(n, job{id: c.Job}, key, d, false)
	if k, ok := n.machine.(keeper); ok && k.Keeps(c.Instance) && f.draws(drawsForgets, n.plan.Name, key) {
		f.recordJobFault(n, faults.ExecutionForgotten, c.Instance, 0)
		k.Forget(c.Instance)
	}
	if f.draws(drawsPauseNode, n.plan.Name, key) {
		f.record(&Record{Kind: record.Fault, Fault: faults.PauseNode, Node: n.number, Incarnation: n.inc})
		f.pause(n, f.around(key.At(labelPause), c.LockTimeout))
	}
}

// runActivity draws how long an activity takes and whether a fault makes it panic.
func (f *fleet) runActivity(n *nodeState, asked *machine.RunActivity) {
	c := f.arena.activities.New()
	*c = *asked
	key := n.incKey.Num(labelJob, uint64(c.Job))
	d := f.jobTime(n, key, drawsLateActivity, c.Item.Instance, c.LockTimeout, time.Millisecond, 400*time.Millisecond)
	panics := f.draws(drawsActivityPanic, n.plan.Name, key)
	if panics {
		f.recordJobFault(n, faults.ActivityPanic, c.Item.Instance, 0)
	}
	r := f.newRecord(record.ActivityStarted, n.number, n.inc)
	r.Activity, r.Slot = c, c.Slot
	f.emit()
	f.addJob(n, job{id: c.Job, activity: c}, key, d, panics)
}

func (f *fleet) recordJobFault(n *nodeState, kind faults.Kind, instance string, d time.Duration) {
	f.record(&Record{Kind: record.Fault, Fault: kind, Node: n.number, Incarnation: n.inc, Instance: instance, For: d})
}

func (f *fleet) addJob(n *nodeState, j job, key sim.Key, d time.Duration, panics bool) {
	e := event{kind: evJob, node: n.number, inc: n.inc, a: uint64(j.id)}
	if panics {
		e.b = 1
	}
	j.handle = f.kernel.After(d, key, e)
	n.jobs = append(n.jobs, j)
}
