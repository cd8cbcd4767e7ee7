package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/orchhost"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/memprovider"
)

// shape is the sequence of calls recorded in an execution's history.
type shape struct {
	handler string // name@version
	calls   []call
	// loops is set if the execution continued as new. next is then the next execution's input, or nil if the execution
	// has not ended.
	loops bool
	next  *string
}

// call is one call made by orchestration code. If it is a timer, Pause is the timer's duration.
type call struct {
	data      engine.EventData
	pause     time.Duration
	cancelled bool
}

// longestTimer caps the timers of stand-ins. Without the cap, an instance that sleeps for a month would not wake up
// during the run.
const longestTimer = time.Minute

// goOn is the maximum number of times that a stand-in continues as new.
const goOn = 8

// learn records the calls made by an instance's executions.
func (r *reader) learn(s *Snapshot, in *memprovider.PreloadedInstance) {
	for _, x := range in.Executions {
		var events []engine.Event
		for _, row := range r.executions[executionKey{in.Instance, x.ID}].events {
			if row.event == nil {
				events = nil
				break
			}
			events = append(events, *row.event)
		}
		if len(events) == 0 {
			continue
		}
		started, ok := events[0].Data.(eventdata.OrchestrationStarted)
		if !ok {
			continue
		}
		sh := shapeOf(started.Name+"@"+started.Version, events)
		sh.loops = sh.loops || x.ID > 1
		s.own[executionName(in.Instance, x.ID)] = sh
		if best := s.shapes[sh.handler]; best == nil || len(sh.calls) > len(best.calls) || sh.loops && !best.loops {
			s.shapes[sh.handler] = sh
		}
	}
}

func executionName(instance string, id uint64) string { return fmt.Sprintf("%s/%d", instance, id) }

// shapeOf returns the shape of an execution whose history is events.
func shapeOf(handler string, events []engine.Event) *shape {
	sh := &shape{handler: handler}
	at := map[uint64]int{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case eventdata.ActivityScheduled, eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed,
			eventdata.SubOrchestrationScheduled, eventdata.OrchestrationChained, eventdata.CustomStatusUpdated, eventdata.KeyValueSet,
			eventdata.KeyValueCleared, eventdata.KeyValuesCleared:
			at[e.EventID] = len(sh.calls)
			sh.calls = append(sh.calls, call{data: d})
		case eventdata.TimerCreated:
			at[e.EventID] = len(sh.calls)
			sh.calls = append(sh.calls, call{data: d, pause: time.Duration(max(int64(d.FireAtMs)-int64(e.TimestampMs), 0)) * time.Millisecond})
		case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
			if i, ok := at[e.SourceEventID]; ok {
				sh.calls[i].cancelled = true
			}
		case eventdata.OrchestrationContinuedAsNew:
			sh.loops, sh.next = true, &d.Input
		}
	}
	return sh
}

// StandIns registers a stand-in for each orchestration that has instances in the export, and for each activity that
// these instances call. If keep is set, StandIns keeps the handlers that r already has, because they are the code that
// ran on the node; if not, stand-ins replace them.
func (s *Snapshot) StandIns(r *node.Registry, keep bool) error {
	handlers := slices.SortedFunc(maps.Keys(s.handlers()), compareHandlers)
	for _, handler := range handlers {
		name, v, err := planterm.ParseHandler(handler)
		if err != nil {
			return fmt.Errorf("stand-in: %w", err)
		}
		if slices.Contains(r.Orchestrations(), name+"@"+v.String()) {
			if keep {
				continue
			}
			r.Deregister(name, v)
		}
		if err := r.Register(name, v, s.standIn(handler)); err != nil {
			return err
		}
	}
	for _, name := range s.activities() {
		if slices.Contains(r.Activities(), name) || strings.HasPrefix(name, orchhost.SystemActivityPrefix) {
			continue
		}
		answer := func(_ node.ActivityContext, input string) (string, error) { return name + "(" + input + ")", nil }
		if err := r.RegisterActivity(name, answer); err != nil {
			return err
		}
	}
	return nil
}

// compareHandlers orders handlers by name and then numerically by version.
func compareHandlers(a, b string) int {
	nameA, versionA, _ := planterm.ParseHandler(a)
	nameB, versionB, _ := planterm.ParseHandler(b)
	return cmp.Or(strings.Compare(nameA, nameB), versionA.Compare(versionB), strings.Compare(a, b))
}

// handlers returns the names of all orchestrations in the export, as name@version.
func (s *Snapshot) handlers() map[string]bool {
	all := map[string]bool{}
	for h := range s.shapes { //tidy:ordered it fills a set
		all[h] = true
	}
	add := func(name, version string) {
		if version == "" {
			version = "1.0.0"
		}
		all[name+"@"+version] = true
	}
	for i := range s.Store.Instances {
		add(s.Store.Instances[i].Orchestration, s.Store.Instances[i].Version)
	}
	for _, m := range s.Store.Messages {
		if start, ok := m.Item.(engine.StartItem); ok {
			add(start.Orchestration, start.Version)
		}
	}
	return all
}

func (s *Snapshot) activities() []string {
	names := map[string]bool{}
	for _, sh := range s.own { //tidy:ordered it fills a set
		for _, c := range sh.calls {
			if d, ok := c.data.(eventdata.ActivityScheduled); ok {
				names[d.Name] = true
			}
		}
	}
	for _, m := range s.Store.Messages {
		if d, ok := m.Item.(engine.ActivityExecuteItem); ok {
			names[d.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// standIn returns the stand-in for the orchestration called handler.
func (s *Snapshot) standIn(handler string) orch.Handler {
	return func(ctx *orch.Context, input string) (string, error) {
		sh := s.own[executionName(ctx.InstanceID(), ctx.ExecutionID())]
		first := s.firstNew(ctx.InstanceID())
		if sh != nil {
			repeat(ctx, sh)
		} else if sh = s.shapes[handler]; sh != nil {
			perform(ctx, sh)
		}
		switch {
		case sh == nil || !sh.loops || ctx.ExecutionID() >= first+goOn:
		case sh.next != nil && ctx.ExecutionID() < first:
			ctx.ContinueAsNew(*sh.next)
		default:
			ctx.ContinueAsNew(input)
		}
		return "a stand-in has ended", nil
	}
}

// firstNew returns the number of the instance's first execution that is not in the export.
func (s *Snapshot) firstNew(instance string) uint64 {
	n := uint64(1)
	for s.own[executionName(instance, n)] != nil {
		n++
	}
	return n
}

// repeat makes all calls in the history, in order, and then waits for the calls that are still open.
func repeat(ctx *orch.Context, sh *shape) {
	var open []*orch.Future
	for i := range sh.calls {
		if f := ask(ctx, &sh.calls[i]); f != nil && !sh.calls[i].cancelled {
			open = append(open, f)
		}
	}
	orch.Join(open...)
}

// perform makes the calls in sh, in order, for an execution that is not in the export.
func perform(ctx *orch.Context, sh *shape) {
	for i := range sh.calls {
		if f := ask(ctx, &sh.calls[i]); f != nil && !sh.calls[i].cancelled {
			_, _ = f.Await()
		}
	}
}

// ask makes one call. It returns nil if the call has no result to wait for.
func ask(ctx *orch.Context, c *call) *orch.Future {
	switch d := c.data.(type) {
	case eventdata.ActivityScheduled:
		var options []orch.ActivityOption
		if d.SessionID != "" {
			options = append(options, orch.OnSession(d.SessionID))
		}
		if d.Tag != "" {
			options = append(options, orch.WithTag(d.Tag))
		}
		return ctx.ScheduleActivity(d.Name, d.Input, options...)
	case eventdata.TimerCreated:
		return ctx.ScheduleTimer(min(c.pause, longestTimer))
	case eventdata.ExternalSubscribed:
		return ctx.ScheduleWait(d.Name)
	case eventdata.ExternalSubscribed2:
		return ctx.ScheduleWait2(d.Name, d.Topic)
	case eventdata.QueueSubscribed:
		return ctx.DequeueEvent(d.Name)
	case eventdata.SubOrchestrationScheduled:
		if strings.HasPrefix(d.Instance, "sub::") {
			return ctx.ScheduleSubOrchestration(d.Name, d.Input)
		}
		return ctx.ScheduleSubOrchestrationWithID(d.Name, d.Instance, d.Input)
	case eventdata.OrchestrationChained:
		ctx.StartOrchestration(d.Name, d.Instance, d.Input)
	case eventdata.CustomStatusUpdated:
		if d.Status == nil {
			ctx.ResetCustomStatus()
		} else {
			ctx.SetCustomStatus(*d.Status)
		}
	case eventdata.KeyValueSet:
		ctx.SetKVValue(d.Key, d.Value)
	case eventdata.KeyValueCleared:
		ctx.ClearKVValue(d.Key)
	case eventdata.KeyValuesCleared:
		ctx.ClearAllKVValues()
	}
	return nil
}
