package deadletter

import (
	"cmp"
	"math"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/replay"
)

// Caller is the incarnation under which the policy calls the store. It belongs to no node: its node number is 0.
const Caller = 1 << 30

// fail turns an ack into one that ends the execution as Failed.
func (b *Queue) fail(ack *engine.OrchestrationAck, f *engine.FetchedOrchestration, cause string) {
	item := &f.Item
	details := engine.ErrorDetails{Poison: &eventdata.PoisonError{
		AttemptCount: f.AttemptCount, Message: cause,
		MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: item.Instance, ExecutionID: ack.ExecutionID, Cause: cause},
	}}
	id := uint64(engine.InitialEventID)
	switch {
	case len(ack.HistoryDelta) > 0:
		id = ack.HistoryDelta[0].EventID + 1
	case item.HistoryError != "":
		id = eventdata.CorruptedPoisonEventID
	default:
		for i := range item.History {
			id = max(id, item.History[i].EventID+1)
		}
	}
	ack.HistoryDelta = append(ack.HistoryDelta, b.event(item.Instance, ack.ExecutionID, id, eventdata.OrchestrationFailed{Details: details}))
	output := details.Display()
	ack.Metadata.Status, ack.Metadata.Output = engine.StatusFailed, &output
	if parent := item.Parent; parent != nil && b.options.Rules.TellsParent {
		ack.OrchestratorItems = []engine.WorkItem{engine.SubOrchFailedItem{
			ParentInstance: parent.Instance, ParentExecutionID: parent.ExecutionID, ParentID: parent.EventID, Details: details,
		}}
	}
}

// refuseStarts adds to an ack the answers to the delivery's starts of other parents or other schedules.
func (b *Queue) refuseStarts(ack *engine.OrchestrationAck, item *engine.OrchestrationItem) {
	for _, m := range item.Messages {
		if s, ok := m.(engine.StartItem); ok && b.options.Rules.TellsParent {
			if answer, ok := replay.RefuseStart(s, item.Parent); ok {
				ack.OrchestratorItems = append(ack.OrchestratorItems, answer)
			}
		}
	}
}

// beginNext turns an ack into one that begins the next execution. It reports whether it did: false means that no start
// is queued yet.
func (b *Queue) beginNext(ack *engine.OrchestrationAck, item *engine.OrchestrationItem) bool {
	started, ok := nextStart(item)
	if !ok {
		return false
	}
	if p := item.Parent; p != nil {
		started.ParentInstance, started.ParentExecutionID, started.ParentID = p.Instance, p.ExecutionID, p.EventID
	}
	ack.ExecutionID++
	ack.HistoryDelta = []engine.Event{b.event(item.Instance, ack.ExecutionID, engine.InitialEventID, started)}
	pin, m := b.options.Version, &ack.Metadata
	m.OrchestrationName, m.OrchestrationVersion, m.PinnedVersion = started.Name, started.Version, &pin
	m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID = started.ParentInstance, started.ParentExecutionID, started.ParentID
	return true
}

// nextStart returns the first event of the execution that a queued start asks for. If something in the delivery cannot
// be read, it may be the start, which then nobody will ever read: the execution gets the name and version of the one
// before.
func nextStart(item *engine.OrchestrationItem) (eventdata.OrchestrationStarted, bool) {
	for _, m := range item.Messages {
		if next, ok := m.(engine.ContinueAsNewItem); ok {
			return eventdata.OrchestrationStarted{
				Name: next.Orchestration, Version: cmp.Or(next.Version, item.Version), Input: next.Input,
				CarryForwardEvents: next.CarryForwardEvents, InitialCustomStatus: next.InitialCustomStatus,
			}, true
		}
	}
	return eventdata.OrchestrationStarted{Name: item.OrchestrationName, Version: item.Version}, item.HistoryError != ""
}

func (b *Queue) event(instance string, execution, id uint64, data engine.EventData) engine.Event {
	return engine.Event{
		EventID: id, InstanceID: instance, ExecutionID: execution, TimestampMs: uint64(b.options.Now()),
		DuroxideVersion: b.options.Version.String(), Data: data,
	}
}

// last is the maximum possible pin.
var last = engine.V(math.MaxUint32, math.MaxUint32, math.MaxUint32)

// gaps returns, in order, the ranges of pins that none of ranges covers.
func gaps(ranges []engine.VersionRange) (out []engine.VersionRange) {
	slices.SortFunc(ranges, func(a, b engine.VersionRange) int { return a.Min.Compare(b.Min) })
	at := engine.V(0, 0, 0)
	for _, r := range ranges {
		if r.IsEmpty() {
			continue
		}
		if at.Compare(r.Min) < 0 {
			out = append(out, engine.VersionRange{Min: at, Max: before(r.Min)})
		}
		if r.Max.Compare(last) >= 0 {
			return out
		}
		if next := behind(r.Max); next.Compare(at) > 0 {
			at = next
		}
	}
	return append(out, engine.VersionRange{Min: at, Max: last})
}

// before and behind return v's neighbours, considering only major, minor and patch.
func before(v engine.Version) engine.Version {
	switch {
	case v.Patch > 0:
		return engine.V(v.Major, v.Minor, v.Patch-1)
	case v.Minor > 0:
		return engine.V(v.Major, v.Minor-1, math.MaxUint32)
	}
	return engine.V(v.Major-1, math.MaxUint32, math.MaxUint32)
}

func behind(v engine.Version) engine.Version {
	switch {
	case v.Patch < math.MaxUint32:
		return engine.V(v.Major, v.Minor, v.Patch+1)
	case v.Minor < math.MaxUint32:
		return engine.V(v.Major, v.Minor+1, 0)
	}
	return engine.V(v.Major+1, 0, 0)
}
