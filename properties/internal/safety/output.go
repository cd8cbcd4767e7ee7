package safety

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/record"
)

// outputChecker checks rule S20: an instance that runs a program ends in a way that the program allows. It judges the
// executions of the plan's instances, of their children, and of instances that they start detached. It uses the
// program's tree, never what the code did; all it takes from the history is a child's first input.
//
// An instance that has been deleted and begins again is not judged. Poison is judged by L01 and L05. An instance can be
// cancelled if it has a parent, if the plan cancels it, or if the plan expects it to run forever.
type outputChecker struct {
	check.Base
	set  program.Set
	plan *plan.Plan
	// byName maps names to indices of plan instances that run programs. It is never iterated over, so map order does
	// not matter.
	byName map[string]int
	// came holds the queue messages that have arrived, keyed by instance. It is never iterated over, so map order does
	// not matter.
	came map[observe.InstanceNo][]engine.QueueMessageItem
	// removed holds the instances that were deleted; never iterated over.
	removed map[observe.InstanceNo]bool
	// panics is the message with which any activity may fail.
	panics string
	limits []engine.Limits // the distinct limits of the run's builds
	taken  []string        // the ids of the plan's own instances
}

func newOutputChecker(m *check.Run) check.Checker {
	k := &outputChecker{Base: check.Base{Run: m}, plan: m.World.Plan(), byName: map[string]int{}, came: map[observe.InstanceNo][]engine.QueueMessageItem{}, removed: map[observe.InstanceNo]bool{}}
	if len(k.plan.Programs) == 0 {
		return k
	}
	k.set = k.plan.Programs
	k.OnObserve, k.OnEnd.OK = check.SetOf(observe.RowInserted, observe.InstanceRemoved), check.SetOf(observe.CallAckOrchestrationItem)
	for _, b := range m.World.Builds() {
		if most := b.Bounds(); !slices.Contains(k.limits, most) {
			k.limits = append(k.limits, most)
		}
	}
	for i := range k.plan.Instances {
		k.byName[k.plan.Instances[i].ID] = i
		k.taken = append(k.taken, k.plan.Instances[i].ID)
	}
	for i := range k.plan.Histories {
		k.taken = append(k.taken, k.plan.Histories[i].Instance)
	}
	if k.plan.Faults.Has(faults.ActivityPanic) {
		k.panics = record.ActivityPanicText
	}
	return k
}

func (k *outputChecker) Observe(o *observe.Observation) {
	if o.Kind == observe.InstanceRemoved {
		if !o.Undo {
			k.removed[o.Instance] = true
		}
		return
	}
	if m, ok := k.Run.Model.Row(o.Message).Item.(engine.QueueMessageItem); ok {
		k.came[o.Instance] = append(k.came[o.Instance], m)
	}
}

func (k *outputChecker) Ended(c *model.Call, _ *observe.Observation) {
	for _, ex := range c.Executions {
		if ex.Status != ex.Was.Status && ex.Created {
			k.judge(c, ex)
		}
	}
}

// judge checks an execution whose status an ack has changed.
func (k *outputChecker) judge(c *model.Call, ex *model.Execution) {
	in := ex.Instance
	name := in.Orchestration
	// A child that had not begun when its parent was deleted answers whoever has the parent's id then.
	if k.set.Lookup(name) == nil || k.removed[in.No] {
		return
	}
	switch ex.Status {
	case engine.StatusContinuedAsNew:
		if most := k.set.Executions(name); ex.ID >= most {
			k.Run.Safety("S20", c.Caller.Node, in.No, "execution %d of %s continues as new by an ack of %s: expected its program %s to have at most %d executions",
				ex.ID, in.Name, k.Run.Who(c.Caller), name, most)
		}
	case engine.StatusCompleted, engine.StatusFailed:
		circumstances, ok := k.circumstances(in)
		version := ""
		if i, planned := k.byName[in.Name]; planned && in.Parent.Instance == "" {
			version = k.plan.Instances[i].Version
		}
		end := program.Outcome{Completed: ex.Status == engine.StatusCompleted, Text: ex.Output}
		if !ok || k.set.Allows(name, version, circumstances, end) {
			return
		}
		such := "which cannot complete"
		if completes := k.set.Explain(name, version, circumstances); completes != "nothing" {
			such = fmt.Sprintf("such as completed with %q ($input is %q)", completes, circumstances.Input)
		}
		k.Run.Safety("S20", c.Caller.Node, in.No, "execution %d of %s is %s with %q by an ack of %s: expected an end that its program %s allows, %s",
			ex.ID, in.Name, ex.Status, ex.Output, k.Run.Who(c.Caller), name, such)
	}
}

// sent returns the data that the plan sends to an instance under a name.
func sent(in *plan.Instance, verb plan.ActionVerb, name string) (data []string) {
	for _, a := range in.Actions {
		if a.Verb == verb && a.Name == name {
			data = append(data, a.Data)
		}
	}
	return data
}

// circumstances returns what the plan does to an instance. ok is false if the instance's first input cannot be read.
func (k *outputChecker) circumstances(in *model.Instance) (c program.Circumstances, ok bool) {
	c = program.Circumstances{Limits: k.limits, Taken: k.taken, Anyone: []string{plan.RecoveryData}, ActivityPanic: k.panics, Messages: func(queue string) (data []string) {
		for _, m := range k.came[in.No] {
			if m.Name == queue {
				data = append(data, m.Data)
			}
		}
		return data
	}}
	if i, planned := k.byName[in.Name]; planned {
		p := &k.plan.Instances[i]
		c.Input = p.Input
		for _, a := range p.Actions {
			if a.Verb == plan.ActionCancel {
				c.Reasons = append(c.Reasons, a.Data)
			}
		}
		if c.Cancelled = p.Expect == plan.EndEternal || len(c.Reasons) > 0; p.Expect == plan.EndEternal {
			c.Reasons = nil // recovery cancels with its own reason
		}
		c.Events = func(name string) []string { return sent(p, plan.ActionRaise, name) }
		if in.Parent.Instance == "" { // else a parent's child has got the id first
			return c, p.Orchestration == in.Orchestration
		}
	}
	if in.Parent.Instance != "" {
		c.Cancelled, c.Reasons = true, nil
	}
	for _, b := range k.Run.Model.Builds {
		history, err := k.Run.World.Store().PeekHistory(in.Name, engine.InitialExecutionID, b.Codec)
		if err != nil || len(history) == 0 {
			continue
		}
		if started, is := history[0].Data.(eventdata.OrchestrationStarted); is {
			c.Input = started.Input
			return c, true
		}
	}
	return c, false
}
