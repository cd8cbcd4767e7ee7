package compare

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// tally is a monitor that measures the cost of a strategy. It forwards everything to another monitor.
type tally struct {
	cluster.Monitor
	w   *cluster.World
	row *Row // to which it adds what it counts

	handed, committed uint64
	locks             []lock // indexed by instance number
	ends              map[string]int64
	poisoned, stuck   map[string]bool // never iterated over
	damaged           map[string]bool // likewise
}

// lock is an instance's lock. fromMs is 0 if the lock is free.
type lock struct{ fromMs, untilMs int64 }

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (t *tally) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(t.Monitor, p, codec)
}

func (t *tally) Observe(o *observe.Observation) {
	t.Monitor.Observe(o)
	if o.Undo {
		return
	}
	turn := o.Queue == observe.QueueOrchestrator
	switch o.Kind {
	case observe.LockTaken:
		if turn {
			t.release(o.Instance, o.AtMs)
			*t.lock(o.Instance) = lock{o.AtMs, o.UntilMs}
		}
	case observe.LockExtended:
		if turn {
			t.lock(o.Instance).untilMs = o.UntilMs
		}
	case observe.LockReleased:
		if turn {
			t.release(o.Instance, o.AtMs)
		}
	case observe.StatusSet:
		if o.Status == engine.StatusCompleted || o.Status == engine.StatusFailed {
			t.ends[t.w.Store().InstanceName(o.Instance)] = o.AtMs - t.w.StartMs()
		}
	case observe.Damaged:
		t.damaged[t.w.Store().InstanceName(o.Instance)] = true
	case observe.CallEnd:
		t.called(o)
	}
}

func (t *tally) called(o *observe.Observation) {
	ok := o.Outcome == observe.OutcomeOK
	switch {
	case o.CallKind == observe.CallFetchOrchestrationItem:
		t.row.Fetches++
		if ok && len(o.Messages) > 0 {
			t.handed++
		}
	case o.CallKind == observe.CallAckOrchestrationItem && ok:
		t.committed++
	case o.CallKind == observe.CallAbandonOrchestrationItem && ok:
		t.row.Abandons++
	}
}

func (t *tally) Record(r *cluster.Record) {
	t.Monitor.Record(r)
	switch r.Kind {
	case record.Note:
		if d := r.Note.Decision; d == machine.DecidePoison || d == machine.DecideSwept {
			t.poisoned[r.Note.Instance] = true
		}
	case record.DeadLetter:
		t.poisoned[r.Instance] = true
	case record.PhaseEnded:
		if r.Phase == cluster.PhaseRecovery || r.Phase == cluster.PhaseUnaided {
			t.lookForStuck()
		}
	}
}

// lookForStuck records the unfinished instances that have queued messages but are not admitted by any live node's
// filter.
func (t *tally) lookForStuck() {
	store := t.w.Store()
	for no := observe.InstanceNo(1); store.InstanceName(no) != ""; no++ {
		name := store.InstanceName(no)
		p, ok := store.Peek(name)
		admitted := func(n cluster.NodeInfo) bool { return n.Up && n.Filter.Admits(p.Pin) }
		if !ok || p.Messages == 0 || p.Status == engine.StatusCompleted || p.Status == engine.StatusFailed || slices.ContainsFunc(t.w.Nodes(), admitted) {
			continue
		}
		t.stuck[name] = true
	}
}

func (t *tally) lock(no observe.InstanceNo) *lock {
	for len(t.locks) <= int(no) {
		t.locks = append(t.locks, lock{})
	}
	return &t.locks[no]
}

// release ends instance no's lock at nowMs, or at its expiry if that is earlier.
func (t *tally) release(no observe.InstanceNo, nowMs int64) {
	l := t.lock(no)
	if l.fromMs > 0 {
		t.row.LockMs += max(min(nowMs, l.untilMs)-l.fromMs, 0)
	}
	*l = lock{}
}
