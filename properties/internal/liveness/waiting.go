package liveness

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// This file decides what may wait without a violation: work that waits for a build, for a client, or for a worker that
// the plan lacks.

// unserved judges an activity whose tag no live node serves (L11). The activity waits forever, which is a mistake in
// the plan and does not break the contract. Nodes that are still starting may serve the tag later.
func (c *obligations) unserved(in *model.Instance, r *model.Row) {
	mine := c.live.Row(r.No)
	if mine.Reported || c.settling() {
		return
	}
	if text := c.live.Unserved(r); text != "" {
		mine.Reported = true
		sender := c.sender(mine.Sender)
		if mine.Sender == 0 { // clients send no activities
			sender = "in the store, sent by no node of this run"
		}
		c.Run.Violate(check.Breach{Property: "L11", Class: cluster.ClassPlan, Instance: in.No, Item: model.ItemText(r),
			Message: in.Name + " waits for " + text + "; the activity was " + sender + ": expected a worker with that tag (option worker_tag_filter DefaultAnd(TAG) below a node), or another tag"})
	}
}

// atEnded reports whether an instance waits for the answer to a start that is queued for another instance. sinceMs is
// when a live node began to admit that instance, or NeverMs if no live node does. An ended execution keeps its pin, and
// filters apply to its messages, too (docs/contract-decisions.md#ended-pin).
func (c *obligations) atEnded(in *model.Instance) (open bool, sinceMs int64) {
	for _, at := range c.Run.Model.Instances[1:] {
		for _, r := range at.Queue {
			start, ok := r.Item.(engine.StartItem)
			if !ok || start.ParentInstance != in.Name || at == in {
				continue
			}
			open = true
			if ok, since := c.live.Admitted(at); !ok {
				return true, model.NeverMs
			} else if since > sinceMs {
				sinceMs = since
			}
		}
	}
	return open, sinceMs
}

// unaided reports whether, according to the plan, recovery sends nothing to an instance, or to the root of its tree.
func (c *obligations) unaided(in *model.Instance) bool {
	for parent := c.live.Instance(in.No).Parent; parent != 0; parent = c.live.Instance(in.No).Parent {
		in = c.Run.Model.Instance(parent)
	}
	if c.planned == nil {
		c.planned = make(map[string]int, len(c.live.Plan.Instances))
		for i := range c.live.Plan.Instances {
			c.planned[c.live.Plan.Instances[i].ID] = i
		}
	}
	i, ok := c.planned[in.Name]
	return ok && c.live.Plan.Instances[i].Unaided
}

// incomplete reports whether the store had lost what the instance waits for before the run began.
func (c *obligations) incomplete(in *model.Instance) bool {
	stored := c.live.Plan.Contents
	return stored != nil && slices.Contains(stored.Incomplete, in.Name)
}

// raced reports whether a parent of a child, or another child of one, has messages or activities to handle, after which
// the child may be ended. sinceMs is when one of them last moved.
func (c *obligations) raced(mine *track.Instance) (open bool, sinceMs int64) {
	up := mine.Parent
	for range c.Run.Model.Instances { // a store may have parents in a circle
		if up == 0 || c.live.Instance(up).Ended {
			break
		}
		for _, in := range c.Run.Model.Instances[1:] {
			other := c.live.Instance(in.No)
			if in.No != up && other.Parent != up || other == mine || other.Ended {
				continue
			}
			open = open || len(in.Queue) > 0 || len(in.Work) > 0
			sinceMs = max(sinceMs, other.ProgressMs)
		}
		up = c.live.Instance(up).Parent
	}
	return open, sinceMs
}

// leftAlone reports whether a child may go on forever because only its parent could end it. That is the case if the
// parent waits for a node that admits it, if it has ended as a dead letter or with an unreadable history, which does not
// show its children, or if it was deleted before the child began: 1. Nanny starts Eternal. 2. Nanny is deleted by force.
// 3. Eternal begins, and no parent will cancel it.
func (c *obligations) leftAlone(child *model.Instance, mine *track.Instance) bool {
	if mine.Alone && child.CurrentID > engine.InitialExecutionID {
		return true
	}
	parent := mine.Parent
	if parent == 0 {
		return false
	}
	in := c.Run.Model.Instance(parent)
	if !c.live.Instance(parent).Ended {
		admitted, _ := c.live.Admitted(in)
		return !admitted
	}
	ex := in.Latest()
	letter := c.live.Plan.Strategy == plan.StrategyDeadletter && c.live.Instance(parent).Poisoned
	return letter || c.Run.Model.Damaged > 0 || ex != nil && ex.Event(eventdata.CorruptedPoisonEventID) != nil
}
