package selfcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
)

// alters is how many schedules of a run are altered, so that a replay must object.
const alters = 40

// altered judges whether a replay notices that an event says something else, at the end of an execution, and whether a turn
// notices that about its messages and its history (docs/contract/runtime.md#r7.3). No run has such a history, for no
// campaign changes code in place.
func (k *turns) altered(r *cluster.Record, t *machine.TurnNote, item *engine.OrchestrationItem, build *engine.Build) {
	registry := k.run.world.Node(r.Node).Registry
	if t.Ack.ExecutionID != item.ExecutionID || registry == nil || k.alters >= alters {
		return
	}
	name, version, _ := strings.Cut(t.Handler, "@")
	code, found := registry.ResolveStarted(name, version)
	if !found {
		return
	}
	in := replay.Input{Build: build, Instance: item.Instance, ExecutionID: item.ExecutionID, Parent: item.Parent, KVSnapshot: item.KVSnapshot, Handler: code.Handler}
	if k.alteredTurn(r, t, item, in); t.Result == "Continue" {
		return
	}
	verify := func(history []engine.Event) string {
		in.History = slices.Clone(history)
		says, err := replay.Verify(in)
		if err != nil {
			return err.Error()
		}
		return says
	}
	whole := slices.Concat(item.History, t.Ack.HistoryDelta)
	switch whole[len(whole)-1].Data.(type) {
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationContinuedAsNew:
	default:
		return // any code agrees with what the runtime has ended
	}
	if verify(whole) != "" {
		return
	}
	for n := range whole {
		i := (n + k.alters) % len(whole) // not the first of each history
		for _, e := range alterations(whole, i, i < len(item.History)) {
			k.alters++
			other := slices.Clone(whole)
			other[i] = e
			if says := verify(other); !strings.HasPrefix(says, "nondeterministic: ") {
				k.run.violate(TurnAllowed, cluster.ClassSafety, r.Node, item.Instance, fmt.Sprintf(
					"a replay of execution %d of %s by %s, in which event %d is %s with source %d in place of %s with source %d, says %q: expected that it is nondeterministic",
					item.ExecutionID, item.Instance, t.Handler, e.EventID, pretty.Value(e.Data), e.SourceEventID, pretty.Value(whole[i].Data), whole[i].SourceEventID, says))
			}
		}
		if k.alters >= alters {
			return
		}
	}
}

// alteredTurn judges a turn with a completion of no schedule or of one of another kind, without the first event, and with
// a drop on record of what the code has not dropped.
func (k *turns) alteredTurn(r *cluster.Record, t *machine.TurnNote, item *engine.OrchestrationItem, in replay.Input) {
	if in.Build.Release != "" || len(item.History) < 2 || k.alteredTurns >= alters || t.Result == "Failed" || t.Result == "Cancelled" {
		return
	}
	turn := func(what string, history []engine.Event, messages []engine.WorkItem) {
		k.alteredTurns++
		in.History, in.Messages = history, messages
		out, err := replay.Turn(in)
		if err == nil && out.Result == replay.ResultFailed && out.Details.Configuration != nil && out.Nondeterminism != nil {
			return
		}
		k.run.violate(TurnAllowed, cluster.ClassSafety, r.Node, item.Instance, fmt.Sprintf(
			"a turn of execution %d of %s by %s with %s is %s (%v): expected that it is nondeterministic",
			item.ExecutionID, item.Instance, t.Handler, what, out.Result, err))
	}
	for i, m := range item.Messages {
		for _, other := range otherCompletions(m, item.ExecutionID) {
			messages := slices.Clone(item.Messages)
			messages[i] = other
			turn(fmt.Sprintf("%s in place of %s", pretty.Value(other), pretty.Value(m)), item.History, messages)
		}
	}
	turn("a history without its first event", item.History[1:], item.Messages)
	if t.Result == "ContinueAsNew" {
		return // that goes before the drops
	}
	for i, e := range item.History {
		if drop, ok := e.Data.(eventdata.ActivityCancelRequested); ok && drop.Reason == eventdata.ReasonDroppedFuture {
			for _, before := range item.History[:i] {
				// What completed in the turn of the drop can belong to an arm of a Select that is dropped with it.
				if _, completed := before.Data.(eventdata.ActivityCompleted); completed && before.TimestampMs < e.TimestampMs {
					history := slices.Clone(item.History)
					history[i].SourceEventID = before.SourceEventID
					turn(fmt.Sprintf("a drop of %d on record in place of %d", before.SourceEventID, e.SourceEventID), history, item.Messages)
					break
				}
			}
		}
	}
}

// otherCompletions returns what a completion of this execution could be otherwise: of no schedule, or of one of another kind.
func otherCompletions(m engine.WorkItem, execution uint64) []engine.WorkItem {
	const none = 1 << 40
	switch d := m.(type) {
	case engine.ActivityCompletedItem:
		if d.ExecutionID == execution {
			timer := engine.TimerFiredItem{Instance: d.Instance, ExecutionID: execution, ID: d.ID}
			d.ID = none
			return []engine.WorkItem{d, timer}
		}
	case engine.TimerFiredItem:
		if d.ExecutionID == execution {
			activity := engine.ActivityCompletedItem{Instance: d.Instance, ExecutionID: execution, ID: d.ID}
			d.ID = none
			return []engine.WorkItem{d, activity}
		}
	case engine.SubOrchCompletedItem:
		if d.ParentExecutionID == execution {
			timer := engine.TimerFiredItem{Instance: d.ParentInstance, ExecutionID: execution, ID: d.ParentID}
			d.ParentID = none
			return []engine.WorkItem{d, timer}
		}
	}
	return nil
}

// alterations returns what event i could say otherwise, one thing at a time: the fields of a schedule and of a change of
// the state, their kinds, and whose completion a completion is, unless the code may have ended before it, which only an earlier
// turn excludes. It is empty for other events.
func alterations(history []engine.Event, i int, earlier bool) (list []engine.Event) {
	e := history[i]
	for _, data := range otherData(e.Data) {
		list = append(list, e)
		list[len(list)-1].Data = data
	}
	switch e.Data.(type) {
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
		if earlier {
			list = append(list, e)
			list[len(list)-1].SourceEventID = history[len(history)-1].EventID + 1 // of no event
		}
	}
	return list
}

func otherData(data engine.EventData) (list []engine.EventData) {
	const altered = "altered"
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		for _, field := range []*string{&d.Name, &d.Input, &d.SessionID, &d.Tag} {
			list = with(list, &d, field)
		}
		list = append(list, eventdata.SubOrchestrationScheduled{Name: d.Name, Instance: altered, Input: d.Input})
	case eventdata.ExternalSubscribed:
		list = append(with(list, &d, &d.Name), eventdata.QueueSubscribed(d))
	case eventdata.ExternalSubscribed2:
		list = with(with(list, &d, &d.Name), &d, &d.Topic)
	case eventdata.QueueSubscribed:
		list = append(with(list, &d, &d.Name), eventdata.ExternalSubscribed(d))
	case eventdata.SubOrchestrationScheduled:
		list = append(with(with(list, &d, &d.Name), &d, &d.Input), eventdata.OrchestrationChained(d))
	case eventdata.OrchestrationChained:
		list = append(with(with(with(list, &d, &d.Name), &d, &d.Instance), &d, &d.Input), eventdata.KeyValuesCleared{})
	case eventdata.TimerCreated:
		list = append(list, eventdata.ExternalSubscribed{Name: altered}, eventdata.ActivityScheduled{Name: altered})
	case eventdata.CustomStatusUpdated:
		list = append(list, eventdata.KeyValuesCleared{}, eventdata.TimerCreated{})
	case eventdata.KeyValueSet:
		list = append(with(with(list, &d, &d.Key), &d, &d.Value), eventdata.KeyValueCleared{Key: d.Key}, eventdata.CustomStatusUpdated{Status: &d.Value})
	case eventdata.KeyValueCleared:
		list = append(with(list, &d, &d.Key), eventdata.KeyValuesCleared{})
	case eventdata.KeyValuesCleared:
		list = append(list, eventdata.KeyValueCleared{Key: altered}, eventdata.CustomStatusUpdated{})
	}
	return list
}

// with appends a copy of d in which a field says something else, and one in which it says nothing if it said something.
func with[D engine.EventData](list []engine.EventData, d *D, field *string) []engine.EventData {
	was := *field
	*field = was + "altered"
	list = append(list, *d)
	if *field = ""; was != "" {
		list = append(list, *d)
	}
	*field = was
	return list
}
