package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// schedule is the turn's record of the schedule event at a position. Other events have the kind notSchedule.
type schedule struct {
	kind      scheduleKind
	closed    bool // a completion is recorded, whatever its outcome
	failed    bool // the recorded completion is a failure
	withdrawn bool // a breadcrumb is recorded
	open      bool // the walk has bound it but has not delivered its completion
	future    orchhost.Token
}

type scheduleKind uint8

const (
	notSchedule scheduleKind = iota
	scheduleActivity
	scheduleTimer
	scheduleChild
	scheduleWait
	scheduleDequeue
)

// String returns the kind's name in nondeterminism messages.
func (k scheduleKind) String() string { return scheduleKindNames[k] }

var scheduleKindNames = [...]string{"none", "activity", "timer", "suborchestration", "external", "queue"}

// index adds event e at position pos to the schedule table. It also updates the schedule that e refers to.
func (t *turn) index(pos int, e *engine.Event) error {
	s := &t.sched[pos]
	switch d := e.Data.(type) {
	case nil:
		return fmt.Errorf("replay: event %d has no data", e.EventID)
	case eventdata.ActivityScheduled:
		s.kind = scheduleActivity
	case eventdata.TimerCreated:
		s.kind = scheduleTimer
	case eventdata.SubOrchestrationScheduled:
		s.kind = scheduleChild
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2:
		s.kind = scheduleWait
	case eventdata.QueueSubscribed:
		s.kind = scheduleDequeue
	case eventdata.KeyValueSet:
		t.stamps = append(t.stamps, d.LastUpdatedAtMs)
	case eventdata.ActivityCompleted, eventdata.TimerFired, eventdata.SubOrchestrationCompleted:
		t.close(t.find(e.SourceEventID), false)
	case eventdata.ActivityFailed, eventdata.SubOrchestrationFailed:
		t.close(t.find(e.SourceEventID), true)
	case eventdata.ActivityCancelRequested:
		t.withdraw(e.SourceEventID, d.Reason)
	case eventdata.SubOrchestrationCancelRequested:
		t.withdraw(e.SourceEventID, d.Reason)
	case eventdata.ExternalSubscribedCancelled:
		t.withdraw(e.SourceEventID, d.Reason)
	case eventdata.QueueSubscriptionCancelled:
		t.withdraw(e.SourceEventID, d.Reason)
	case eventdata.OrchestrationCancelRequested:
		if !t.cancelled {
			t.cancelled, t.reason = true, d.Reason
		}
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
		t.ended = true
	}
	return nil
}

// has reports whether there is a schedule of that kind.
func (t *turn) has(kind scheduleKind) bool {
	return slices.ContainsFunc(t.sched, func(s schedule) bool { return s.kind == kind })
}

func (t *turn) close(pos int, failed bool) {
	if pos >= 0 {
		t.sched[pos].closed, t.sched[pos].failed = true, failed
	}
}

func (t *turn) withdraw(id uint64, reason string) {
	pos := t.find(id)
	if pos < 0 {
		return
	}
	t.sched[pos].withdrawn = true
	if reason == eventdata.ReasonDroppedFuture {
		t.crumbs = append(t.crumbs, pos)
	}
}

// find returns the position of the event with that id, or -1. Ids ascend, mostly without gaps.
func (t *turn) find(id uint64) int {
	base := t.in.History
	if i := id - engine.InitialEventID; i < uint64(len(base)) && base[i].EventID == id {
		return int(i)
	}
	byID := func(e engine.Event, id uint64) int { return cmp.Compare(e.EventID, id) }
	if i, ok := slices.BinarySearchFunc(base, id, byID); ok {
		return i
	}
	if i, ok := slices.BinarySearchFunc(t.delta, id, byID); ok {
		return len(base) + i
	}
	return -1
}
