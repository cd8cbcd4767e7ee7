package selfcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/sim/cluster"
)

// alters is how many schedules of a run are altered, so that a replay must object.
const alters = 40

// altered judges, where a turn ends an execution, whether a replay notices that one of its schedules says something else
// (docs/contract/runtime.md#r7.3). No run has such a history, for no campaign changes code in place.
func (k *turns) altered(r *cluster.Record, t *machine.TurnNote, item *engine.OrchestrationItem, build *engine.Build) {
	registry := k.run.world.Node(r.Node).Registry
	if t.Result == "Continue" || t.Ack.ExecutionID != item.ExecutionID || registry == nil || k.alters >= alters {
		return
	}
	name, version, _ := strings.Cut(t.Handler, "@")
	code, found := registry.ResolveStarted(name, version)
	if !found {
		return
	}
	in := replay.Input{Build: build, Instance: item.Instance, ExecutionID: item.ExecutionID, Parent: item.Parent, KVSnapshot: item.KVSnapshot, Handler: code.Handler}
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
		for _, data := range alterations(whole[i].Data) {
			k.alters++
			other := slices.Clone(whole)
			other[i].Data = data
			if says := verify(other); !strings.HasPrefix(says, "nondeterministic: ") {
				k.run.violate(TurnAllowed, cluster.ClassSafety, r.Node, item.Instance, fmt.Sprintf(
					"a replay of execution %d of %s by %s, in which event %d is %+v in place of %+v, says %q: expected that it is nondeterministic",
					item.ExecutionID, item.Instance, t.Handler, whole[i].EventID, data, whole[i].Data, says))
			}
		}
		if k.alters >= alters {
			return
		}
	}
}

// alterations returns what the data of a schedule could say otherwise, one field at a time. It is empty for other events.
func alterations(data engine.EventData) (list []engine.EventData) {
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		for _, field := range []*string{&d.Name, &d.Input, &d.SessionID, &d.Tag} {
			list = with(list, &d, field)
		}
	case eventdata.ExternalSubscribed:
		list = with(list, &d, &d.Name)
	case eventdata.QueueSubscribed:
		list = with(list, &d, &d.Name)
	case eventdata.SubOrchestrationScheduled:
		list = with(with(list, &d, &d.Name), &d, &d.Input)
	case eventdata.OrchestrationChained:
		list = with(with(with(list, &d, &d.Name), &d, &d.Instance), &d, &d.Input)
	case eventdata.TimerCreated:
		list = append(list, eventdata.ExternalSubscribed{Name: "altered"})
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
