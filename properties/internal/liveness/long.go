package liveness

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// longRuns tracks activities whose code takes longer than the lock that their node renews for them. How long code takes is
// the user's affair, so no activity is overdue while one of them keeps a worker busy. That the node renews its lock in
// time, and acks when the code has returned, other rules say.
type longRuns struct {
	running []activityRun
	endedMs int64 // when the last of them ended
	untilMs int64 // at the last look: when the last of them ended, or that time if one is running
}

type activityRun struct {
	*machine.RunActivity
	caller  observe.Caller
	sinceMs int64
}

// long reports whether the run took longer than its lock.
func (a *activityRun) long(atMs int64) bool { return atMs-a.sinceMs > a.LockTimeout.Milliseconds() }

func (c *obligations) Record(r *cluster.Record) {
	caller := observe.Caller{Node: r.Node, Incarnation: r.Incarnation}
	l := &c.long
	l.running = slices.DeleteFunc(l.running, func(run activityRun) bool {
		if run.caller.Node != r.Node || run.caller == caller && run.Slot != r.Activity.Slot {
			return false
		}
		if r.Kind == record.ActivityFinished && run.caller == caller && run.long(r.AtMs) {
			l.endedMs = r.AtMs
		}
		return true
	})
	if r.Kind == record.ActivityStarted {
		l.running = append(l.running, activityRun{r.Activity, caller, r.AtMs})
	}
}

// look finds out whether a long run is under way: its code has not returned, and its node still holds the lock. A node
// that has given an activity up renews no more.
func (l *longRuns) look(store *model.Shadow, nowMs int64) {
	l.untilMs = l.endedMs
	for _, run := range l.running {
		if !run.long(nowMs) {
			continue
		}
		for _, r := range store.Instance(store.Number(run.Item.Instance)).Work {
			if r.Item == engine.WorkItem(run.Item) && r.Lock.Holder == run.caller && r.Lock.Live(nowMs) {
				l.untilMs = nowMs
			}
		}
	}
}
