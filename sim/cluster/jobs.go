package cluster

import (
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
)

// timerRef remembers the kernel's handle of a timer or job, so that it can be cancelled. Lists are short: a node has a
// few slots.
type timerRef struct {
	id     uint64
	handle sim.Handle
}

type jobState struct {
	id       uint64
	activity *node.RunActivity
}

func (w *World) cancelRef(refs *[]timerRef, id uint64) {
	for i, r := range *refs {
		if r.id == id {
			w.kernel.Cancel(r.handle)
			*refs = append((*refs)[:i], (*refs)[i+1:]...)
			return
		}
	}
}

// onNodeEvent hands a due timer or a finished job to its node, if the incarnation is still there.
func (w *World) onNodeEvent(e event) {
	n := w.nodes[e.node-1]
	if n.machine == nil || n.inc != e.inc {
		return
	}
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	if e.kind == evTimer {
		if !dropRef(&n.timers, e.a) {
			return
		}
		w.step(n, node.Wake{NowMs: w.NowMs(), Timer: node.TimerID(e.a)})
		return
	}
	if !dropRef(&n.jobs, e.a) {
		return
	}
	in := node.Finished{NowMs: w.NowMs(), Job: node.JobID(e.a)}
	if e.b != 0 {
		in.Panic = "activity panicked by a fault"
	}
	for i := range n.busy {
		if n.busy[i].id == e.a {
			w.record(Record{Kind: RecActivityFinished, Node: n.number, Incarnation: n.inc, Activity: n.busy[i].activity, Text: in.Panic})
			n.busy = append(n.busy[:i], n.busy[i+1:]...)
			break
		}
	}
	w.step(n, in)
}

func dropRef(refs *[]timerRef, id uint64) bool {
	for i, r := range *refs {
		if r.id == id {
			*refs = append((*refs)[:i], (*refs)[i+1:]...)
			return true
		}
	}
	return false
}

func (w *World) runTurn(n *nodeState, c node.RunTurn) {
	key := n.incKey.Num(labelJob, uint64(c.Job))
	d := 500 * time.Microsecond
	switch {
	case w.draws(faults.SlowTurn, n.plan.Name, key):
		d = w.around(key, c.LockTimeout)
		w.recordJobFault(n, faults.SlowTurn, c.Instance, d)
	case sim.Pick(w.chooser, key, []uint32{1, 3}) == 1:
		d = sim.Between(w.chooser, key.At(labelAmount), d, 15*time.Millisecond)
	}
	w.addJob(n, uint64(c.Job), key, d, 0)
	if w.draws(faults.PauseNode, n.plan.Name, key) {
		w.record(Record{Kind: RecFault, Fault: faults.PauseNode, Node: n.number, Incarnation: n.inc})
		w.pause(n, w.around(key.At(labelPause), c.LockTimeout))
	}
}

func (w *World) runActivity(n *nodeState, c node.RunActivity) {
	key := n.incKey.Num(labelJob, uint64(c.Job))
	d := time.Millisecond
	switch {
	case w.draws(faults.LateActivity, n.plan.Name, key):
		d = w.around(key, c.LockTimeout)
		w.recordJobFault(n, faults.LateActivity, c.Item.Instance, d)
	case sim.Pick(w.chooser, key, []uint32{1, 3}) == 1:
		d = sim.Between(w.chooser, key.At(labelAmount), d, 400*time.Millisecond)
	}
	panics := uint64(0)
	if w.draws(faults.ActivityPanic, n.plan.Name, key) {
		panics = 1
		w.recordJobFault(n, faults.ActivityPanic, c.Item.Instance, 0)
	}
	a := c
	n.busy = append(n.busy, jobState{uint64(c.Job), &a})
	w.record(Record{Kind: RecActivityStarted, Node: n.number, Incarnation: n.inc, Activity: &a, Slot: c.Slot})
	w.addJob(n, uint64(c.Job), key, d, panics)
}

func (w *World) recordJobFault(n *nodeState, kind faults.Kind, instance string, d time.Duration) {
	w.record(Record{Kind: RecFault, Fault: kind, Node: n.number, Incarnation: n.inc, Instance: instance, For: d})
}

func (w *World) addJob(n *nodeState, id uint64, key sim.Key, d time.Duration, b uint64) {
	h := w.kernel.After(d, key, event{kind: evJob, node: n.number, inc: n.inc, a: id, b: b})
	n.jobs = append(n.jobs, timerRef{id, h})
}
