package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

func (r *reader) snapshot() *Snapshot {
	s := &Snapshot{survey: r.survey, shapes: map[string]*shape{}, own: map[executionKey]*shape{}, first: map[string]uint64{}, loops: map[string]bool{}, ends: map[string]plan.End{}}
	executions := map[string][]uint64{}
	for key := range r.executions { //tidy:ordered the numbers are sorted below
		executions[key.instance] = append(executions[key.instance], key.id)
	}
	running, ends := map[string]bool{}, map[string]engine.EventData{}
	for _, id := range slices.Sorted(maps.Keys(r.instances)) {
		numbers := executions[id]
		slices.Sort(numbers)
		in, ok := r.assemble(id, numbers)
		if !ok {
			continue
		}
		r.learn(s, in)
		if x := Current(in); x.Status == engine.StatusCompleted || x.Status == engine.StatusFailed {
			s.Ended += r.survey.run[id].instances
			running[id] = false
			if events := r.executions[executionKey{id, x.ID}].events; len(events) > 0 && events[len(events)-1].event != nil {
				ends[id] = events[len(events)-1].event.Data
			}
			continue
		}
		if in.Orchestration == "" {
			r.leave(r.executions[executionKey{id, in.Current}].place, id, "running instances of which neither a row nor the history says what they run", id)
			continue
		}
		running[id] = true
		s.Store.Instances = append(s.Store.Instances, *in)
	}
	r.checkOrigins(s)
	s.NoQueues = !r.hasQueues && len(s.Store.Instances) > 0
	if s.NoQueues || len(r.problems) == 0 { // of what a damaged export lacks, nobody knows whether the store has it
		r.rebuild(s, running, ends)
	}
	r.queues(s, running)
	r.expect(s)
	for i := range r.leftOut {
		r.leftOut[i].Instances = s.Alike(r.leftOut[i].Instances)
	}
	var few []string
	for i := range r.survey.all {
		if in := &r.survey.all[i]; r.survey.groups[in.group].run == 0 {
			few = append(few, in.id)
		}
	}
	if n := len(few); n > 0 {
		r.leftOut = append(r.leftOut, LeftOut{"instances, since too few others are like them: they are neither checked nor run", n, Problem{Text: few[n-1]}, few})
	}
	s.LeftOut = r.leftOut
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	s.Problems = r.problems
	return s
}

// assemble builds instance id from its rows. It returns false if the instance has nothing left to run.
func (r *reader) assemble(id string, numbers []uint64) (*memprovider.PreloadedInstance, bool) {
	row := r.instances[id]
	if len(numbers) == 0 {
		r.leave(row.place, id, "instances without any execution or history", id)
		return nil, false
	}
	in := &memprovider.PreloadedInstance{
		Instance: id, Orchestration: row.OrchestrationName, Version: row.OrchestrationVersion, Current: row.CurrentExecutionID,
	}
	if in.Current == 0 {
		in.Current = numbers[len(numbers)-1]
	}
	for i, n := range numbers {
		switch at := r.executions[executionKey{id, n}].place; {
		case n > in.Current:
			r.fail(at, "execution_id", "execution %d of %s is above its current_execution_id, %d: it is left out", n, id, in.Current)
			continue
		case i > 0 && n > numbers[i-1]+1:
			r.fail(at, "execution_id", "execution %d of %s follows execution %d: the executions between them are missing", n, id, numbers[i-1])
		}
		in.Executions = append(in.Executions, r.assembleExecution(id, n))
	}
	x := r.executions[executionKey{id, in.Current}]
	switch {
	case in.Current > math.MaxInt64: // no execution could follow it
		r.fail(row.place, "current_execution_id", "instance %s: no store has an execution %d: it is left out", id, in.Current)
		return nil, false
	case x == nil:
		r.fail(row.place, "current_execution_id", "instance %s: execution %d is not in this export: it is left out", id, in.Current)
		return nil, false
	case len(x.events) == 0 && x.status != engine.StatusCompleted && x.status != engine.StatusFailed:
		r.fail(x.place, "", "execution %d of %s has no history in this export: it is left out", in.Current, id)
		return nil, false
	}
	if len(x.events) > 0 && x.events[0].event != nil {
		began, err := engine.ParseVersion(x.events[0].event.DuroxideVersion)
		if over := x.status == engine.StatusCompleted || x.status == engine.StatusFailed; err == nil && !over && x.pin != nil && began.Triple() != *x.pin {
			r.fail(x.place, "pinned_version", "execution %d of %s has the pin %s, and by its history %s began it: nodes take it by the one, and released ones give it back by the other", in.Current, id, x.pin, began)
		}
		if started, ok := x.events[0].event.Data.(eventdata.OrchestrationStarted); ok {
			in.Orchestration, in.Version = cmp.Or(in.Orchestration, started.Name), cmp.Or(in.Version, started.Version)
			if started.ParentInstance != "" {
				in.Parent = &engine.ParentLink{Instance: started.ParentInstance, ExecutionID: max(started.ParentExecutionID, 1), EventID: started.ParentID}
			}
		}
	}
	if x.status != engine.StatusCompleted && x.status != engine.StatusFailed {
		r.checkHistory(in, x)
	}
	return in, true
}

func (r *reader) assembleExecution(id string, number uint64) memprovider.PreloadedExecution {
	x := r.executions[executionKey{id, number}]
	slices.SortStableFunc(x.events, func(a, b eventRow) int { return cmp.Compare(a.stored.ID, b.stored.ID) })
	out := memprovider.PreloadedExecution{ID: number, Pin: x.pin, Status: x.status, Output: x.output}
	last := uint64(0)
	for i, e := range x.events {
		switch {
		case last == e.stored.ID:
			r.fail(e.place, "event_id", "event %d of execution %d of %s stands at %s:%d, too: the second is left out", last, number, id, x.events[i-1].file, x.events[i-1].line)
			continue
		case last == 0 && e.stored.ID > 1:
			r.fail(e.place, "event_id", "execution %d of %s begins with event %d: the events before it are missing", number, id, e.stored.ID)
		case last+1 < e.stored.ID:
			r.fail(e.place, "event_id", "event %d of execution %d of %s follows event %d: the events between them are missing", e.stored.ID, number, id, last)
		case e.event != nil && e.event.SourceEventID >= e.stored.ID:
			r.fail(e.place, "source_event_id", "event %d of execution %d of %s ends event %d, which is not before it", e.stored.ID, number, id, e.event.SourceEventID)
		}
		last = e.stored.ID
		out.Events = append(out.Events, e.stored)
	}
	if !x.hasRow && len(x.events) > 0 {
		r.infer(&out, x)
	}
	x.status = out.Status
	return out
}

// infer derives an execution's pin and status from its history if the export has no row for the execution.
func (r *reader) infer(out *memprovider.PreloadedExecution, x *executionRow) {
	if first := x.events[0].event; first != nil {
		if v, err := engine.ParseVersion(first.DuroxideVersion); err == nil {
			v = v.Triple()
			out.Pin = &v
		} else if first.DuroxideVersion != "" {
			r.fail(x.events[0].place, "duroxide_version", "%v; without a pin, any node takes %s", err, first.InstanceID)
		}
	}
	for _, e := range x.events {
		switch e.stored.Kind {
		case eventdata.KindOrchestrationCompleted:
			out.Status = engine.StatusCompleted
		case eventdata.KindOrchestrationFailed:
			out.Status = engine.StatusFailed
		case eventdata.KindOrchestrationContinuedAsNew:
			out.Status = engine.StatusContinuedAsNew
		}
	}
}

// expect determines the expected ends of the running instances.
func (r *reader) expect(s *Snapshot) {
	for _, m := range s.Store.Messages {
		switch item := m.Item.(type) {
		case engine.StartItem:
			if s.loops[item.Orchestration] {
				s.ends[item.Instance] = plan.EndEternal
			}
		case engine.CancelInstanceItem:
			s.ends[item.Instance] = EndCancelled
		}
	}
	for i := range s.Store.Instances {
		in := &s.Store.Instances[i]
		for _, e := range r.executions[executionKey{in.Instance, in.Current}].events {
			if e.stored.Kind == eventdata.KindOrchestrationCancelRequested {
				s.ends[in.Instance] = EndCancelled
			}
		}
		if s.loops[in.Orchestration] && s.ends[in.Instance] == "" {
			s.ends[in.Instance] = plan.EndEternal
		}
	}
	for range s.Store.Instances { // a request for an instance is passed on to its children, and theirs
		passed := false
		for i := range s.Store.Instances {
			in := &s.Store.Instances[i]
			if in.Parent != nil && s.ends[in.Parent.Instance] == EndCancelled && s.ends[in.Instance] != EndCancelled {
				s.ends[in.Instance], passed = EndCancelled, true
			}
		}
		if !passed {
			break
		}
	}
}

// queues copies the messages of instances that are running or have not yet started.
func (r *reader) queues(s *Snapshot, running map[string]bool) {
	for _, m := range r.messages {
		if start, ok := m.item.(engine.StartItem); ok && start.Instance != "" && start.Orchestration != "" {
			if _, known := running[start.Instance]; !known { // a second start of an instance that has ended is dropped
				running[start.Instance] = true
			}
		}
	}
	for _, m := range r.messages {
		target := m.item.Target()
		if !running[target] {
			if r.instances[target] == nil {
				r.leave(m.place, target, "messages for instances that the store does not have", fmt.Sprintf("%s for %s", m.item.Kind(), target))
			}
			continue
		}
		delay := time.Duration(0)
		if r.takenMs > 0 {
			delay = milliseconds(m.visibleMs - r.takenMs)
		}
		if m.attempts > 0 {
			d := entry(&s.Delivered, func(d Delivered) bool { return d.Kind == m.item.Kind() }, Delivered{Kind: m.item.Kind()})
			if d.Count += s.Weight(target); m.attempts > d.Attempts {
				d.Instance, d.Attempts = target, m.attempts
			}
		}
		s.Store.Messages = append(s.Store.Messages, plan.Message{Item: m.item, Delay: delay})
	}
}
