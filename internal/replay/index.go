package replay

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/orchhost"
)

// schedule is the turn's record of a schedule event, by position. Its kind is notSchedule for other events.
type schedule struct {
	kind      scheduleKind
	closed    bool // a completion is recorded, of any outcome
	failed    bool // the completion is a failure
	withdrawn bool // a breadcrumb is recorded
	open      bool // the walk has bound it and not delivered its completion
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

// String returns the kind's name in nondeterminism texts.
func (k scheduleKind) String() string { return scheduleKindNames[k] }

var scheduleKindNames = [...]string{"none", "activity", "timer", "suborchestration", "external", "queue"}

// index records the event at a position in the table of schedules, together with its effect on the schedule that it
// names.
func (t *turn) index(pos int, e *engine.Event) error {
	s := &t.sched[pos]
	switch d := e.Data.(type) {
	case nil:
		return fmt.Errorf("replay: event %d of %s/%d has no data", e.EventID, t.in.Instance, t.in.ExecutionID)
	case engine.ActivityScheduled:
		s.kind = scheduleActivity
		t.schedules++
	case engine.TimerCreated:
		s.kind = scheduleTimer
		t.schedules++
	case engine.SubOrchestrationScheduled:
		s.kind = scheduleChild
		t.schedules++
	case engine.ExternalSubscribed, engine.ExternalSubscribed2:
		s.kind = scheduleWait
		t.schedules++
		t.hasWaits = true
	case engine.QueueSubscribed:
		s.kind = scheduleDequeue
		t.schedules++
		t.hasQueues = true
	case engine.QueueEventDelivered:
		t.hasQueues = true
	case engine.KeyValueSet:
		t.stamps = append(t.stamps, d.LastUpdatedAtMs)
	case engine.ActivityCompleted, engine.TimerFired, engine.SubOrchestrationCompleted:
		t.close(t.find(e.SourceEventID), false)
	case engine.ActivityFailed, engine.SubOrchestrationFailed:
		t.close(t.find(e.SourceEventID), true)
	case engine.ActivityCancelRequested:
		t.withdraw(e.SourceEventID, d.Reason)
	case engine.SubOrchestrationCancelRequested:
		t.withdraw(e.SourceEventID, d.Reason)
	case engine.ExternalSubscribedCancelled:
		t.withdraw(e.SourceEventID, d.Reason)
	case engine.QueueSubscriptionCancelled:
		t.withdraw(e.SourceEventID, d.Reason)
	case engine.OrchestrationCancelRequested:
		if !t.cancelled {
			t.cancelled, t.reason = true, d.Reason
		}
	case engine.OrchestrationCompleted, engine.OrchestrationFailed, engine.OrchestrationContinuedAsNew:
		t.ended = true
	}
	return nil
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
	if reason == engine.ReasonDroppedFuture && pos < len(t.in.History) {
		t.crumbs = append(t.crumbs, pos)
	}
}

// find returns the position of an event id, -1 if there is none. Ids ascend, mostly without gaps.
func (t *turn) find(id uint64) int {
	base := t.in.History
	if i := id - engine.InitialEventID; i < uint64(len(base)) && base[i].EventID == id {
		return int(i)
	}
	byID := func(e engine.Event, id uint64) int {
		switch {
		case e.EventID < id:
			return -1
		case e.EventID > id:
			return 1
		}
		return 0
	}
	if i, ok := slices.BinarySearchFunc(base, id, byID); ok {
		return i
	}
	if i, ok := slices.BinarySearchFunc(t.delta, id, byID); ok {
		return len(base) + i
	}
	return -1
}
