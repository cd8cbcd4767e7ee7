package upgrade

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// shape is the sequence of calls recorded in an execution's history.
type shape struct {
	handler string // name@version
	calls   []call
	// next is the input of the next execution, if this one continued as new.
	next *string
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

// A stand-in for an instance of the export that continues as new goes on until it is cancelled, which is when the plan is
// over. All of them together do so at most mostLoops times in a run, and each at most once a second. Nothing cancels an
// instance that a stand-in has started: it continues as new goOn times.
const (
	goOn      = 8
	mostLoops = 4000
)

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
		s.own[executionKey{in.Instance, x.ID}] = sh
		if sh.next != nil || x.ID > engine.InitialExecutionID {
			s.loops[started.Name] = true
		}
		if best := s.shapes[sh.handler]; best == nil || len(sh.calls) > len(best.calls) {
			s.shapes[sh.handler] = sh
		}
	}
	s.first[in.Instance] = in.Executions[len(in.Executions)-1].ID + 1
}

// milliseconds returns a duration of ms, which is at least 0 and at most 34 years.
func milliseconds(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), 1<<40)) * time.Millisecond
}

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
			sh.calls = append(sh.calls, call{data: d, pause: milliseconds(int64(d.FireAtMs) - int64(e.TimestampMs))})
		case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
			if i, ok := at[e.SourceEventID]; ok {
				sh.calls[i].cancelled = true
			}
		case eventdata.OrchestrationContinuedAsNew:
			sh.next = &d.Input
		}
	}
	return sh
}

// StandIns registers a stand-in for each orchestration that has instances in the export, and for each activity that
// these instances call. If keep is set, StandIns leaves alone the orchestrations that r already has in some version,
// because they are the code that runs on the node; if not, stand-ins replace them. lasts is how long the plan lasts.
func (s *Snapshot) StandIns(r *node.Registry, keep bool, lasts time.Duration) error {
	loops := 0
	for _, end := range s.ends { //tidy:ordered it counts
		if end == plan.EndEternal {
			loops++
		}
	}
	every := max(time.Second, lasts/mostLoops*time.Duration(loops))
	handlers, taken := s.Orchestrations(), map[string]bool{}
	for _, has := range r.Orchestrations() {
		name, v, _ := parse(has)
		if keep {
			taken[name] = true
		} else if slices.ContainsFunc(handlers, func(h string) bool { return strings.HasPrefix(h, name+"@") }) {
			r.Deregister(name, v)
		}
	}
	for _, handler := range handlers {
		name, v, ok := parse(handler)
		if !ok || taken[name] {
			continue // without a handler, nodes give its instances back
		}
		if err := r.Register(name, v, s.standIn(name, handler, every)); err != nil {
			return err
		}
	}
	for _, name := range s.activities() {
		if name == "" || slices.Contains(r.Activities(), name) || strings.HasPrefix(name, orchhost.SystemActivityPrefix) {
			continue
		}
		answer := func(_ node.ActivityContext, input string) (string, error) { return name + "(" + input + ")", nil }
		if err := r.RegisterActivity(name, answer); err != nil {
			return err
		}
	}
	return nil
}

// parse splits name@version. ok is false if no handler can have that name and version: duroxide writes the version
// "unknown" when it gives up on a start that no node has a handler for.
func parse(handler string) (name string, v engine.Version, ok bool) {
	at := strings.LastIndex(handler, "@")
	v, err := engine.ParseVersion(handler[at+1:])
	return handler[:max(at, 0)], v, at > 0 && err == nil
}

// compareHandlers orders handlers by name and then numerically by version.
func compareHandlers(a, b string) int {
	nameA, versionA, _ := parse(a)
	nameB, versionB, _ := parse(b)
	return cmp.Or(strings.Compare(nameA, nameB), versionA.Compare(versionB), strings.Compare(a, b))
}

// Orchestrations returns all orchestrations in the export, as name@version.
func (s *Snapshot) Orchestrations() []string {
	all := map[string]bool{}
	for h := range s.shapes { //tidy:ordered it fills a set
		all[h] = true
	}
	add := func(name, version string) { all[name+"@"+cmp.Or(version, "1.0.0")] = true }
	for i := range s.Store.Instances {
		add(s.Store.Instances[i].Orchestration, s.Store.Instances[i].Version)
	}
	for _, m := range s.Store.Messages {
		if start, ok := m.Item.(engine.StartItem); ok {
			add(start.Orchestration, start.Version)
		}
	}
	return slices.SortedFunc(maps.Keys(all), compareHandlers)
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

// standIn returns the stand-in for the orchestration called handler, which is name at some version. If it continues as
// new, each execution takes at least every.
func (s *Snapshot) standIn(name, handler string, every time.Duration) orch.Handler {
	return func(ctx *orch.Context, input string) (string, error) {
		sh, first := s.own[executionKey{ctx.InstanceID(), ctx.ExecutionID()}], max(s.first[ctx.InstanceID()], engine.InitialExecutionID)
		if sh != nil {
			sh.perform(ctx, false)
		} else if sh = s.shapes[handler]; sh != nil {
			sh.perform(ctx, true)
		}
		switch {
		case sh != nil && sh.next != nil && ctx.ExecutionID() < first:
			ctx.ContinueAsNew(*sh.next)
		case s.loops[name] && (s.ends[ctx.InstanceID()] == plan.EndEternal || ctx.ExecutionID() < first+goOn):
			if rest := every - sh.pauses(); rest > 0 {
				_, _ = ctx.ScheduleTimer(rest).Await()
			}
			ctx.ContinueAsNew(input)
		}
		return "a stand-in has ended", nil
	}
}

// pauses returns how long an execution with these calls takes at least.
func (sh *shape) pauses() (sum time.Duration) {
	for i := 0; sh != nil && i < len(sh.calls); i++ {
		if c := &sh.calls[i]; !c.cancelled {
			sum += min(c.pause, longestTimer)
		}
	}
	return sum
}

// perform makes all calls, in order. If they are those in the history of the execution, it waits at the end for those that
// are still open, unless it continued as new without them; if not, for each in turn.
func (sh *shape) perform(ctx *orch.Context, inTurn bool) {
	var open []*orch.Future
	for i := range sh.calls {
		switch f := ask(ctx, &sh.calls[i]); {
		case f == nil || sh.calls[i].cancelled:
		case inTurn:
			_, _ = f.Await()
		default:
			open = append(open, f)
		}
	}
	if !inTurn && sh.next == nil {
		orch.Join(open...)
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
		if strings.HasPrefix(d.Instance, eventdata.ChildPrefix) {
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
